/* SPDX-License-Identifier: MIT */
#include "log/refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"

#define NAME "refused"

void rp_refusal_write(const char *directory, const char *rank, const char *function)
{
    struct rp_problem ignored;
    char line[256], *path = rp_path_join(directory, NAME);
    int length = snprintf(line, sizeof line, "%s %.79s\n", rank, function);

    if (path)
        rp_write_new_file(path, line, (size_t)length, &ignored);
    free(path);
}

bool rp_refusal_read(const char *directory, struct rp_refusal *out)
{
    struct rp_problem ignored;
    struct rp_buffer text = {0};
    char *path = rp_path_join(directory, NAME);
    bool found = path && rp_read_file(path, 256, &text, &ignored) == RP_OK;

    rp_buffer_byte(&text, 0);
    found = found && !text.failed &&
            sscanf((char *)text.bytes, "%111[0-9.] %79[A-Za-z0-9_]", out->rank, out->function) == 2;
    rp_buffer_free(&text);
    free(path);
    return found;
}

/* The function that this replay was refused behind its record; empty: none. */
static void find_refused(const struct rp_replay_state *state, char function[RP_STATE_WHAT])
{
    uint32_t rank = atomic_load(&state->refused) - 1;

    function[0] = 0;
    if (rank < state->ranks)
        rp_state_get_text(&state->rank[rank].what, function);
}

bool rp_refusal_describe(const char *directory, const struct rp_replay_state *state,
                         struct rp_buffer *out)
{
    struct rp_refusal recorded;
    char function[RP_STATE_WHAT], ranks[RP_RANKS_WORDS];
    uint64_t done, total;
    bool was_refused = rp_refusal_read(directory, &recorded);

    find_refused(state, function);
    rp_state_sum(state, &done, &total);
    if (was_refused)
        rp_buffer_printf(out, "the recording was refused at %s on rank %s%s", recorded.function,
                         recorded.rank,
                         strcmp(recorded.function, function) == 0 ? ", and so is this replay" : "");
    else if (function[0])
        rp_buffer_printf(out, "this replay is refused at %s, behind the end of the record",
                         function);
    else
        return false;
    rp_buffer_printf(
        out, ": %llu of %llu events on %s were replayed, and none is recorded behind that call",
        (unsigned long long)done, (unsigned long long)total, rp_state_ranks(state, ranks));
    rp_buffer_byte(out, 0);
    return true;
}
