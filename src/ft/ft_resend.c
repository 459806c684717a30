/* SPDX-License-Identifier: MIT */
/*
 * What is to be sent again after a failure, and whether the logs have it. Processes tell each other
 * how many messages of each channel arrived, instead of the paper's current iteration.
 */
#include "ft/ft_resend.h"

#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_match.h"
#include "ft/ft_state.h"
#include "ft/ft_transmit.h"
#include "ft/ft_transport.h"

static void count(struct rp_ft_attempt *a, size_t p, uint64_t **list)
{
    struct rp_ft_counts *ours = &a->ours[p];
    int rank = a->rank_of[p];
    size_t all = 0;

    *list = NULL;
    memset(ours, 0, sizeof *ours);
    if (rank < 0 || rank == rp_ft.rank || rp_ft.rank < 0)
        return;
    ours->arrived = rp_ft_channels[rank].arrived;
    ours->setup_arrived = rp_ft.repeats_setup ? rp_ft_channels[rank].setup_arrived : UINT64_MAX;
    rp_ft_missing(rank, false, list, &all);
    ours->missing = all;
    uint64_t *second = NULL;
    size_t more = 0;
    rp_ft_missing(rank, true, &second, &more);
    ours->missing_setup = more;
    if (more > 0) {
        *list = realloc(*list, (all + more) * sizeof **list);
        memcpy(*list + all, second, more * sizeof **list);
        free(second);
    }
}

/* Lists of what is missing are short and rare. */
void rp_ft_exchange_front_line(struct rp_ft_attempt *a)
{
    size_t size = (size_t)a->size, out_all = 0, in_all = 0;
    uint64_t **lists = rp_ft_alloc(size * sizeof *lists), *out = NULL, *in = NULL;
    int *out_count = rp_ft_alloc(size * sizeof(int)), *out_at = rp_ft_alloc(size * sizeof(int)),
        *in_count = rp_ft_alloc(size * sizeof(int)), *in_at = rp_ft_alloc(size * sizeof(int));

    for (size_t p = 0; p < size; p++)
        count(a, p, &lists[p]);
    if (rp_ft_try(a, rp_real.Alltoall(a->ours, (int)sizeof *a->ours, MPI_BYTE, a->theirs,
                                      (int)sizeof *a->theirs, MPI_BYTE, a->comm))) {
        for (size_t p = 0; p < size; p++) {
            out_count[p] = (int)(a->ours[p].missing + a->ours[p].missing_setup);
            in_count[p] = (int)(a->theirs[p].missing + a->theirs[p].missing_setup);
            out_at[p] = (int)out_all;
            in_at[p] = (int)in_all;
            out_all += (size_t)out_count[p];
            in_all += (size_t)in_count[p];
        }
        out = rp_ft_alloc((out_all + 1) * sizeof *out);
        in = rp_ft_alloc((in_all + 1) * sizeof *in);
        for (size_t p = 0; p < size; p++)
            if (out_count[p])
                memcpy(out + out_at[p], lists[p], (size_t)out_count[p] * sizeof *out);
        rp_ft_try(a, rp_real.Alltoallv(out, out_count, out_at, MPI_UINT64_T, in, in_count, in_at,
                                       MPI_UINT64_T, a->comm));
        for (size_t p = 0; p < size && a->ok; p++) {
            free(a->missing[p]);
            a->missing[p] = rp_ft_alloc(((size_t)in_count[p] + 1) * sizeof *in);
            memcpy(a->missing[p], in + in_at[p], (size_t)in_count[p] * sizeof *in);
        }
    }
    for (size_t p = 0; p < size; p++)
        free(lists[p]);
    free(lists);
    free(out);
    free(in);
    free(out_count);
    free(out_at);
    free(in_count);
    free(in_at);
}

/* Does our log have all that process p lacks? */
static bool suffices(const struct rp_ft_attempt *a, int p)
{
    int rank = a->rank_of[p];

    if (rank < 0 || rank == rp_ft.rank || rp_ft.rank < 0)
        return true;
    const struct rp_ft_channel *channel = &rp_ft_channels[rank];
    const struct rp_ft_counts *theirs = &a->theirs[p];
    uint64_t from = theirs->arrived;
    bool in_setup_list = from < channel->setup_sent;
    if (from < channel->sent &&
        (in_setup_list ? channel->setup_sent : from) < channel->log.first_seq)
        return false;
    for (uint64_t i = 0; i < theirs->missing; i++) {
        uint64_t seq = a->missing[p][i];
        if (seq >= channel->setup_sent && seq < channel->sent && seq < channel->log.first_seq)
            return false;
    }
    return true;
}

bool rp_ft_logs_suffice(const struct rp_ft_attempt *a)
{
    for (int p = 0; p < a->size; p++)
        if (!suffices(a, p))
            return false;
    return true;
}

static bool is_listed(const uint64_t *list, uint64_t count, uint64_t seq)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i] == seq)
            return true;
    return false;
}

static void replay_log(struct rp_ft_entry *entry, int rank, const struct rp_ft_counts *theirs,
                       const uint64_t *missing)
{
    for (; entry; entry = entry->next) {
        if (entry->envelope.seq >= theirs->arrived)
            rp_ft_transmit(entry, rank, 0, NULL);
        else if (is_listed(missing, theirs->missing, entry->envelope.seq))
            rp_ft_transmit_payload(entry, rank, 0);
        if (entry->envelope.flags & RP_FT_SYNC && !entry->matched &&
            entry->envelope.seq < theirs->arrived)
            rp_ft_control(RP_FT_ASK_MATCHED, rank, entry->envelope.seq, NULL, 0);
    }
}

static void replay_setup_log(struct rp_ft_entry *entry, int rank, const struct rp_ft_counts *theirs,
                             const uint64_t *missing)
{
    for (; entry; entry = entry->next) {
        if (entry->envelope.seq >= theirs->setup_arrived)
            rp_ft_transmit(entry, rank, RP_FT_SETUP, NULL);
        else if (is_listed(missing, theirs->missing_setup, entry->envelope.seq))
            rp_ft_transmit_payload(entry, rank, RP_FT_SETUP);
    }
}

static void keep_list(uint64_t **list, size_t *count, const uint64_t *from, uint64_t length)
{
    free(*list);
    *list = rp_ft_alloc((length + 1) * sizeof **list);
    *count = length;
    memcpy(*list, from, length * sizeof **list);
}

void rp_ft_resume_channel(const struct rp_ft_attempt *a, int p)
{
    int rank = a->rank_of[p];

    if (rank < 0 || rank == rp_ft.rank)
        return;
    struct rp_ft_channel *channel = &rp_ft_channels[rank];
    const struct rp_ft_counts *theirs = &a->theirs[p];
    channel->peer_has = theirs->arrived;
    keep_list(&channel->wanted, &channel->wanted_count, a->missing[p], theirs->missing);
    keep_list(&channel->wanted_setup, &channel->wanted_setup_count, a->missing[p] + theirs->missing,
              theirs->missing_setup);
    channel->setup_wanted = theirs->setup_arrived;
    if (theirs->setup_arrived != UINT64_MAX) {
        struct rp_ft_entry *setup =
            rp_ft.in_setup && !rp_ft.repeats_setup ? channel->log.first : channel->log.setup_first;
        replay_setup_log(setup, rank, theirs, a->missing[p] + theirs->missing);
    }
    replay_log(channel->log.setup_first, rank, theirs, a->missing[p]);
    replay_log(channel->log.first, rank, theirs, a->missing[p]);
}
