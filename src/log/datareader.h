/* SPDX-License-Identifier: MIT */
/* Reading the data log of one rank, entry by entry: whole, or of a process that died. Damaged or
 * hostile bytes give an error that says where. docs/format.md, section 10. */
#ifndef RP_DATAREADER_H
#define RP_DATAREADER_H

#include <stdint.h>

#include "base/status.h"
#include "log/dataformat.h"

struct rp_data_reader;

/* `run` and `ranks` are those of the manifest. RP_USAGE: this rank has no data log. */
enum rp_status rp_data_open(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                            struct rp_data_reader **out, struct rp_problem *why);
/* The log of its loads. */
enum rp_status rp_data_open_loads(const char *directory, uint64_t run, uint32_t rank,
                                  uint32_t ranks, struct rp_data_reader **out,
                                  struct rp_problem *why);
void rp_data_free(struct rp_data_reader *reader);

const struct rp_data_place *rp_data_place(const struct rp_data_reader *reader);
uint64_t rp_data_size(const struct rp_data_reader *reader);   /* bytes on disk */
uint64_t rp_data_length(const struct rp_data_reader *reader); /* of the stream */
/* The rank made windows for one-sided communication. */
bool rp_data_has_windows(const struct rp_data_reader *reader);
/* There must be a log of its loads. */
bool rp_data_is_tracked(const struct rp_data_reader *reader);
/* Loads that a process had made that did not close it. */
uint64_t rp_data_loads_made(const struct rp_data_reader *reader);
bool rp_data_is_ended(const struct rp_data_reader *reader);        /* the process closed it */
uint64_t rp_data_all_entries(const struct rp_data_reader *reader); /* 0: it was not closed */

/* Begins the next entry. `name` is that of its MPI function, or NULL at the end of the stream. What
 * was left of the entry before must have been read. */
enum rp_status rp_data_next(struct rp_data_reader *reader, const char **name,
                            struct rp_problem *why);

/* The name of the next entry, which is yet to begin; NULL: there is none. */
const char *rp_data_peek(struct rp_data_reader *reader);

/* The parts of an entry, in the order in which they were put. After the first that cannot be read
 * all are zero; rp_data_failed tells why. */
void rp_data_get(struct rp_data_reader *reader, void *bytes, size_t count);
uint64_t rp_data_get_number(struct rp_data_reader *reader);
int64_t rp_data_get_signed(struct rp_data_reader *reader);

/* The content's bytes, valid until the next one is read. */
const uint8_t *rp_data_get_content(struct rp_data_reader *reader, size_t *count);

/* RP_OK: nothing failed. RP_BUSY: the stream ends inside the entry, since the process died
 * there. */
enum rp_status rp_data_failed(const struct rp_data_reader *reader, struct rp_problem *why);

uint64_t rp_data_read_entries(const struct rp_data_reader *reader); /* that were begun */

/* Reads and checks everything that can be checked without the program. */
enum rp_status rp_data_verify(struct rp_data_reader *reader, struct rp_problem *why);

#endif
