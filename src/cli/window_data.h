/* SPDX-License-Identifier: MIT */
/* Programs with windows are replayed from the data of all ranks: `record` takes it without being
 * asked. */
#ifndef RP_WINDOW_DATA_H
#define RP_WINDOW_DATA_H

#include "cli/binary.h"

struct rp_window_data {
    char *program,
        *function;   /* the first program that makes windows, and by which function; or NULL */
    bool is_refused; /* recording data would stop one of the programs for another reason */
};

/* Notes what one program of the command imports. */
void rp_window_data_note(struct rp_window_data *seen, const struct rp_binary *binary);

/* A recording without a say about data gets that of all ranks, if a program makes windows and
 * nothing stands against it; one line announces that. `--ranks` is such a say, `--ranks none`
 * too. */
void rp_window_data_choose(const struct rp_window_data *seen);

void rp_window_data_free(struct rp_window_data *seen);

#endif
