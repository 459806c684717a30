/* SPDX-License-Identifier: MIT */
/*
 * Recovery. All processes that live meet in a new world, spares as well, and leave it in agreement:
 *
 * 1. The old world is revoked, which ends every call in it, and shrunk to those who live. They tell
 * each other who they are and which checkpoints they have.
 * 2. Ranks that nobody has go to spares, in order; if these are too few, a new process is started,
 * if the user wants that, and all meet once more with it. Spares get the rank's checkpoints from
 * its keepers; and keepers that are new get those of the ranks whose copies they are to keep.
 * 3. All tell each other how many messages of each channel arrived, and which of their payloads did
 * not. So every sender knows what to send again, what to suppress, and whether its log reaches back
 * so far.
 * 4. They agree whether all that went well and whether all logs reach back. If it did not go well,
 * another process has died meanwhile: again from 1. If logs do not reach back, all go back to the
 * latest checkpoint that everybody has (the paper's algorithm 4), and tell each other once more.
 *
 * Nothing that outlives an attempt is changed before the agreement, but a spare's memory, which
 * begins anew in each.
 *
 * The end of the program is such a meeting, too: if all ranks are in MPI_Finalize, nobody will need
 * a log any more.
 */
#include "ft/ft_recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_checkpoint.h"
#include "ft/ft_copies.h"
#include "ft/ft_coroutines.h"
#include "ft/ft_determinants.h"
#include "ft/ft_events.h"
#include "ft/ft_files.h"
#include "ft/ft_inject.h"
#include "ft/ft_loop.h"
#include "ft/ft_match.h"
#include "ft/ft_respawn.h"
#include "ft/ft_share.h"
#include "ft/ft_snapshot.h"
#include "ft/ft_state.h"
#include "ft/ft_transmit.h"
#include "ft/ft_transport.h"
#include "ft/ft_ulfm.h"
#include "reprise.h"

struct info {
    int32_t rank; /* -1: a spare */
    int32_t finished;
    int32_t replays_setup;
    int32_t spares, respawned; /* that it knows of: who was started later knows of none */
    int32_t knows_hosts;       /* who was started later does not */
    int64_t own[RP_FT_GENERATIONS];
};

typedef int64_t generations[RP_FT_GENERATIONS]; /* -1: none */

/* What one tells another about their channel. */
struct counts {
    uint64_t arrived, setup_arrived;
    uint64_t missing, missing_setup;
};

struct meeting {
    MPI_Comm comm;
    int size, me;
    struct info *info;      /* of each process */
    int *rank_of;           /* of each process, with the new ones; -1: a spare */
    int *process_of;        /* of each rank */
    generations *held;      /* of each rank, by each of its keepers that lives */
    generations *files;     /* of each process that is new: what there is of its rank in files */
    generations *available; /* of each rank: what can be had of it now */
    int64_t restart;        /* the generation that new ranks begin with; -1: the beginning */
    struct counts *ours, *theirs;
    uint64_t **missing; /* per process: both lists of theirs, one behind the other */
    int lacking;        /* spares */
    bool ended, ok;
};

enum { AGREED = 1, REACHES = 2 };

jmp_buf rp_ft_finalize_point;
static bool must_roll_back; /* an attempt to do so was interrupted: what was before is gone */

static bool try(struct meeting *m, int code)
{
    if (code != MPI_SUCCESS && m->ok) {
        m->ok = false;
        rp_ulfm_revoke(m->comm);
    }
    return m->ok;
}

static bool is_new(const struct meeting *m, int process)
{
    return m->rank_of[process] >= 0 && m->info[process].rank < 0;
}

/* 1 */

/* Processes that were started later get to know who keeps whose checkpoints. */
static void tell_hosts(struct meeting *m)
{
    int64_t *hosts = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *hosts);
    int teller = -1;
    bool needed = false;

    for (int p = m->size - 1; p >= 0; p--) {
        teller = m->info[p].knows_hosts ? p : teller;
        needed |= !m->info[p].knows_hosts;
    }
    if (teller == m->me)
        memcpy(hosts, rp_ft_copies_hosts(), (size_t)rp_ft.ranks * sizeof *hosts);
    if (needed && try(m, rp_real.Bcast(hosts, rp_ft.ranks, MPI_INT64_T, teller, m->comm)))
        rp_ft_copies_place(hosts);
    free(hosts);
}

static int64_t *held_by(const struct meeting *m, int rank, int copy)
{
    return m->held[(size_t)rank * (size_t)rp_ft_copies + (size_t)copy];
}

static void tell_copies(struct meeting *m)
{
    size_t all = (size_t)rp_ft.ranks * (size_t)rp_ft_copies;

    m->held = rp_ft_alloc(all * sizeof *m->held);
    memset(m->held, -1, all * sizeof *m->held);
    for (int i = 0; i < rp_ft.ranks; i++)
        for (int k = 0; k < rp_ft_copies; k++)
            for (int g = 0; g < RP_FT_GENERATIONS && rp_ft_keeper(i, k) == rp_ft.rank; g++)
                held_by(m, i, k)[g] = rp_ft_held(i)[g].generation;
    try(m, rp_real.Allreduce(MPI_IN_PLACE, m->held, (int)all * RP_FT_GENERATIONS, MPI_INT64_T,
                             MPI_MAX, m->comm));
}

static void introduce(struct meeting *m)
{
    struct info mine = {.rank = rp_ft.rank,
                        .finished = rp_ft.finished,
                        .replays_setup = rp_ft.repeats_setup,
                        .spares = rp_ft.spares,
                        .respawned = rp_ft.respawned};

    mine.knows_hosts = rp_ft_copies_hosts() != NULL;
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        mine.own[i] = rp_ft_own[i].generation;
    rp_real.Comm_size(m->comm, &m->size);
    rp_real.Comm_rank(m->comm, &m->me);
    m->info = rp_ft_alloc((size_t)m->size * sizeof *m->info);
    m->rank_of = rp_ft_alloc((size_t)m->size * sizeof *m->rank_of);
    m->process_of = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *m->process_of);
    m->ours = rp_ft_alloc((size_t)m->size * sizeof *m->ours);
    m->theirs = rp_ft_alloc((size_t)m->size * sizeof *m->theirs);
    m->missing = rp_ft_alloc((size_t)m->size * sizeof *m->missing);
    if (try(m, rp_real.Allgather(&mine, (int)sizeof mine, MPI_BYTE, m->info, (int)sizeof mine,
                                 MPI_BYTE, m->comm)))
        for (int p = 0; p < m->size; p++) {
            rp_ft.spares = m->info[p].spares > rp_ft.spares ? m->info[p].spares : rp_ft.spares;
            rp_ft.respawned =
                m->info[p].respawned > rp_ft.respawned ? m->info[p].respawned : rp_ft.respawned;
        }
    if (m->ok)
        tell_hosts(m);
    if (m->ok)
        tell_copies(m);
}

/* 2 */

static bool has(const int64_t list[RP_FT_GENERATIONS], int64_t generation)
{
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (list[i] == generation)
            return true;
    return false;
}

static int64_t latest(const int64_t list[RP_FT_GENERATIONS])
{
    int64_t most = -1;

    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        most = list[i] > most ? list[i] : most;
    return most;
}

/* The keeper of the latest of a rank's copies that are left; -1: none is. */
static int best_keeper(const struct meeting *m, int rank)
{
    int64_t most = -1;
    int best = -1;

    for (int k = 0; k < rp_ft_copies; k++)
        if (latest(held_by(m, rank, k)) > most) {
            most = latest(held_by(m, rank, k));
            best = rp_ft_keeper(rank, k);
        }
    return best;
}

/* What is in memory is gone when the job ends: all that is to be in files is there before. */
static void complete_files(struct meeting *m)
{
    if (!rp_ft_files_on())
        return;
    rp_ft_files_wait();
    for (int i = 0; i < rp_ft.ranks && rp_ft.rank >= 0; i++)
        if ((m->process_of[i] < 0 || is_new(m, m->process_of[i])) &&
            best_keeper(m, i) == rp_ft.rank)
            rp_ft_files_write_for(i, rp_ft_held(i));
    rp_real.Barrier(m->comm);
}

static void out_of_spares(struct meeting *m, int rank)
{
    char later[64] = "";

    complete_files(m);
    if (rp_ft.respawned)
        snprintf(later, sizeof later, ", and %d were started later: --respawn", rp_ft.respawned);
    rp_ft_die(REPRISE_EXIT_INTERNAL,
              "rank %d died and no spare is left (there were %d: --spares%s); %s", rank,
              rp_ft.spares, later, rp_ft_files_restart_hint());
}

static void assign(struct meeting *m)
{
    int spare = 0;

    for (int i = 0; i < rp_ft.ranks; i++)
        m->process_of[i] = -1;
    m->ended = true;
    for (int p = 0; p < m->size; p++) {
        m->rank_of[p] = m->info[p].rank;
        if (m->rank_of[p] >= 0)
            m->process_of[m->rank_of[p]] = p;
        m->ended &= m->rank_of[p] < 0 || m->info[p].finished;
    }
    for (int i = 0; i < rp_ft.ranks; i++) {
        if (m->process_of[i] >= 0)
            continue;
        m->ended = false;
        while (spare < m->size && m->rank_of[spare] >= 0)
            spare++;
        if (spare == m->size && rp_ft.respawned + ++m->lacking > rp_ft_respawn_limit())
            out_of_spares(m, i);
        if (spare == m->size)
            continue;
        m->rank_of[spare] = i;
        m->process_of[i] = spare;
    }
}

/* A rank is new, and nobody keeps anything of it. */
static bool needs_files(const struct meeting *m, int rank)
{
    return is_new(m, m->process_of[rank]) && best_keeper(m, rank) < 0;
}

/* If a rank died together with all its keepers there may be files. */
static void look_for_files(struct meeting *m)
{
    generations mine = {-1, -1};
    int rank = m->rank_of[m->me];
    bool needed = false;

    m->files = rp_ft_alloc((size_t)m->size * sizeof *m->files);
    for (int p = 0; p < m->size; p++)
        memcpy(m->files[p], mine, sizeof mine);
    for (int i = 0; i < rp_ft.ranks; i++)
        needed |= needs_files(m, i);
    if (!needed)
        return;
    if (rank >= 0 && needs_files(m, rank))
        rp_ft_files_list(rank, mine);
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (mine[i] >= 0 && !rp_ft_files_read(rank, mine[i], rp_ft_own))
            mine[i] = -1;
    try(m, rp_real.Allgather(mine, (int)sizeof mine, MPI_BYTE, m->files, (int)sizeof mine, MPI_BYTE,
                             m->comm));
}

/* The two latest of all that keepers have. */
static void unite(const struct meeting *m, int rank, generations out)
{
    out[0] = out[1] = -1;
    for (int i = 0; i < rp_ft_copies * RP_FT_GENERATIONS; i++) {
        int64_t one = held_by(m, rank, i / RP_FT_GENERATIONS)[i % RP_FT_GENERATIONS];
        if (one > out[0]) {
            out[1] = out[0];
            out[0] = one;
        } else if (one > out[1] && one < out[0]) {
            out[1] = one;
        }
    }
}

/* Where a rank's checkpoints are now: with itself, with its keepers, or in files. */
static void find_available(struct meeting *m)
{
    m->available = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *m->available);
    for (int i = 0; i < rp_ft.ranks; i++) {
        int process = m->process_of[i];
        if (!is_new(m, process))
            memcpy(m->available[i], m->info[process].own, sizeof *m->available);
        else if (needs_files(m, i))
            memcpy(m->available[i], m->files[process], sizeof *m->available);
        else
            unite(m, i, m->available[i]);
    }
}

/* The latest that everybody has; -1: none. New ranks begin with it, too: before a later one is
 * everybody's, messages from before it may be on their way from a rank whose log is gone. */
static int64_t common(const struct meeting *m)
{
    int64_t target = INT64_MAX;

    for (int i = 0; i < rp_ft.ranks; i++) {
        int64_t one = latest(m->available[i]);
        target = one < target ? one : target;
    }
    for (int i = 0; i < rp_ft.ranks && target >= 0; i++)
        if (!has(m->available[i], target))
            target = -1;
    return target;
}

static void give(struct meeting *m, int to, const struct rp_ft_checkpoint *checkpoint)
{
    uint64_t bytes = checkpoint->bytes;

    try(m, rp_real.Send(&bytes, (int)sizeof bytes, MPI_BYTE, to, 1, m->comm));
    if (m->ok)
        try(m, rp_real.Send(checkpoint->blob, (int)bytes, MPI_BYTE, to, 2, m->comm));
}

static void take(struct meeting *m, int from, struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                 int64_t generation)
{
    uint64_t bytes = 0;
    uint8_t *blob;

    if (!try(m, rp_real.Recv(&bytes, (int)sizeof bytes, MPI_BYTE, from, 1, m->comm,
                             MPI_STATUS_IGNORE)))
        return;
    blob = rp_ft_alloc(bytes);
    if (try(m, rp_real.Recv(blob, (int)bytes, MPI_BYTE, from, 2, m->comm, MPI_STATUS_IGNORE)))
        rp_ft_checkpoint_put(list, generation, blob, bytes);
    free(blob);
}

/* Every process goes through the same list of transfers in the same order, so that none waits in a
 * circle. */

static int source_of(const struct meeting *m, int rank, int64_t generation)
{
    for (int k = 0; k < rp_ft_copies; k++)
        if (has(held_by(m, rank, k), generation))
            return m->process_of[rp_ft_keeper(rank, k)];
    return -1;
}

static void to_new_rank(struct meeting *m, int rank)
{
    int to = m->process_of[rank];

    for (int g = 0; g < RP_FT_GENERATIONS && m->ok; g++) {
        int64_t generation = m->available[rank][g];
        int from = generation < 0 ? -1 : source_of(m, rank, generation);
        if (from >= 0 && m->me == from)
            give(m, to, rp_ft_checkpoint_find(rp_ft_held(rank), generation));
        if (from >= 0 && m->me == to)
            take(m, from, rp_ft_own, generation);
    }
}

static void to_new_keeper(struct meeting *m, int rank, int keeper)
{
    int from = m->process_of[rank], to = m->process_of[keeper];

    for (int g = 0; g < RP_FT_GENERATIONS && m->ok; g++) {
        int64_t generation = m->available[rank][g];
        if (generation >= 0 && m->me == from)
            give(m, to, rp_ft_checkpoint_find(rp_ft_own, generation));
        if (generation >= 0 && m->me == to)
            take(m, from, rp_ft_held(rank), generation);
    }
}

static void transfer(struct meeting *m)
{
    for (int i = 0; i < rp_ft.ranks && m->ok; i++)
        if (is_new(m, m->process_of[i]) && !needs_files(m, i))
            to_new_rank(m, i);
    for (int i = 0; i < rp_ft.ranks && m->ok; i++)
        for (int k = 0; k < rp_ft_copies && m->ok; k++)
            if (is_new(m, m->process_of[rp_ft_keeper(i, k)]))
                to_new_keeper(m, i, rp_ft_keeper(i, k));
}

/* A spare takes on the rank, on trial. */
static void begin_anew(const struct meeting *m)
{
    if (!is_new(m, m->me))
        return;
    rp_ft.rank = m->rank_of[m->me];
    memset(rp_ft_channels, 0, (size_t)rp_ft.ranks * sizeof *rp_ft_channels);
    rp_ft_checkpoint_choose(m->restart);
    rp_ft_event_begins_anew();
}

/* 3 */

static void count(struct meeting *m, size_t p, uint64_t **list)
{
    struct counts *ours = &m->ours[p];
    int rank = m->rank_of[p];
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
static void exchange_counts(struct meeting *m)
{
    size_t size = (size_t)m->size, out_all = 0, in_all = 0;
    uint64_t **lists = rp_ft_alloc(size * sizeof *lists), *out = NULL, *in = NULL;
    int *out_count = rp_ft_alloc(size * sizeof(int)), *out_at = rp_ft_alloc(size * sizeof(int)),
        *in_count = rp_ft_alloc(size * sizeof(int)), *in_at = rp_ft_alloc(size * sizeof(int));

    for (size_t p = 0; p < size; p++)
        count(m, p, &lists[p]);
    if (try(m, rp_real.Alltoall(m->ours, (int)sizeof *m->ours, MPI_BYTE, m->theirs,
                                (int)sizeof *m->theirs, MPI_BYTE, m->comm))) {
        for (size_t p = 0; p < size; p++) {
            out_count[p] = (int)(m->ours[p].missing + m->ours[p].missing_setup);
            in_count[p] = (int)(m->theirs[p].missing + m->theirs[p].missing_setup);
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
        try(m, rp_real.Alltoallv(out, out_count, out_at, MPI_UINT64_T, in, in_count, in_at,
                                 MPI_UINT64_T, m->comm));
        for (size_t p = 0; p < size && m->ok; p++) {
            free(m->missing[p]);
            m->missing[p] = rp_ft_alloc(((size_t)in_count[p] + 1) * sizeof *in);
            memcpy(m->missing[p], in + in_at[p], (size_t)in_count[p] * sizeof *in);
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
static bool reaches(const struct meeting *m, int p)
{
    int rank = m->rank_of[p];

    if (rank < 0 || rank == rp_ft.rank || rp_ft.rank < 0)
        return true;
    const struct rp_ft_channel *channel = &rp_ft_channels[rank];
    const struct counts *theirs = &m->theirs[p];
    uint64_t from = theirs->arrived;
    bool in_setup_list = from < channel->setup_sent;
    if (from < channel->sent &&
        (in_setup_list ? channel->setup_sent : from) < channel->log.first_seq)
        return false;
    for (uint64_t i = 0; i < theirs->missing; i++) {
        uint64_t seq = m->missing[p][i];
        if (seq >= channel->setup_sent && seq < channel->sent && seq < channel->log.first_seq)
            return false;
    }
    return true;
}

static bool all_reach(const struct meeting *m)
{
    for (int p = 0; p < m->size; p++)
        if (!reaches(m, p))
            return false;
    return true;
}

/* 4 */

static bool is_listed(const uint64_t *list, uint64_t count, uint64_t seq)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i] == seq)
            return true;
    return false;
}

static void send_list_again(struct rp_ft_entry *entry, int rank, const struct counts *theirs,
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

static void send_setup_list_again(struct rp_ft_entry *entry, int rank, const struct counts *theirs,
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

static void resume_channel(const struct meeting *m, int p)
{
    int rank = m->rank_of[p];

    if (rank < 0 || rank == rp_ft.rank)
        return;
    struct rp_ft_channel *channel = &rp_ft_channels[rank];
    const struct counts *theirs = &m->theirs[p];
    channel->suppress = theirs->arrived;
    keep_list(&channel->wanted, &channel->wanted_count, m->missing[p], theirs->missing);
    keep_list(&channel->wanted_setup, &channel->wanted_setup_count, m->missing[p] + theirs->missing,
              theirs->missing_setup);
    channel->setup_wanted = theirs->setup_arrived;
    if (theirs->setup_arrived != UINT64_MAX) {
        struct rp_ft_entry *setup =
            rp_ft.in_setup && !rp_ft.repeats_setup ? channel->log.first : channel->log.setup_first;
        send_setup_list_again(setup, rank, theirs, m->missing[p] + theirs->missing);
    }
    send_list_again(channel->log.setup_first, rank, theirs, m->missing[p]);
    send_list_again(channel->log.first, rank, theirs, m->missing[p]);
}

static void resume(struct meeting *m)
{
    rp_ft_set_world(m->comm, m->process_of);
    rp_ft.epoch++;
    rp_ft.broken = false;
    if (rp_ft.rank < 0)
        return;
    rp_ft_share_begin_world();
    rp_ft_transport_open();
    rp_ft_payloads_again();
    for (int p = 0; p < m->size; p++)
        resume_channel(m, p);
    rp_ft_checkpoint_send_copies();
}

static void forget(struct meeting *m)
{
    for (int p = 0; p < m->size && m->missing; p++)
        free(m->missing[p]);
    free(m->missing);
    free(m->info);
    free(m->held);
    free(m->files);
    free(m->available);
    free(m->rank_of);
    free(m->process_of);
    free(m->ours);
    free(m->theirs);
    memset(m, 0, sizeof *m);
}

static int agree(struct meeting *m, bool reach)
{
    int flag = (m->ok ? AGREED : 0) | (reach ? REACHES : 0);

    rp_ulfm_agree(m->comm, &flag);
    return flag;
}

/* Who runs through the setup goes on with that. */
static void take_counters_of(int64_t target)
{
    rp_ft_checkpoints_forget_after(target);
    rp_ft_determinants_forget(target);
    if (rp_ft.repeats_setup) {
        rp_ft_match_forget_deferred();
        rp_ft_checkpoint_choose(target);
        return;
    }
    rp_ft_coroutines_forget();
    rp_ft_match_forget();
    rp_ft_snapshot_restore_channels(rp_ft_checkpoint_find(rp_ft_own, target));
}

static void list_keepers(int rank, char text[128])
{
    int length = 0;

    for (int k = 0; k < rp_ft_copies && length < 100; k++)
        length += snprintf(text + length, 128 - (size_t)length, "%s%d", k == 0 ? "rank " : ", ",
                           rp_ft_keeper(rank, k));
}

/* Nothing is left to go back to. */
static _Noreturn void tell_loss(const struct meeting *m)
{
    char keepers[128] = "", more[128] = "";
    int lost = 0;

    while (lost < rp_ft.ranks && latest(m->available[lost]) >= 0)
        lost++;
    if (lost == rp_ft.ranks || rp_ft_copies == 0)
        rp_ft_die(REPRISE_EXIT_INTERNAL,
                  "the logs do not reach back, and the ranks have no checkpoint "
                  "in common: keep checkpoints in files (--checkpoints DIR)");
    list_keepers(lost, keepers);
    if (rp_ft_copies + 1 < rp_ft.ranks)
        snprintf(more, sizeof more, "--copies %d survives %d deaths at once, ", rp_ft_copies + 1,
                 rp_ft_copies + 1);
    rp_ft_die(
        REPRISE_EXIT_INTERNAL,
        "rank %d died together with all that keep copies of its "
        "checkpoint (--copies %d: %s), and the logs do not reach back: %s--checkpoints DIR any "
        "number",
        lost, rp_ft_copies, keepers, more);
}

/* The counters of a checkpoint are in force once all have agreed to go back to it; a failure
 * meanwhile begins with them. */
static bool roll_back(struct meeting *m, int64_t target)
{
    if (target < 0)
        tell_loss(m);
    if (rp_ft.rank >= 0) {
        must_roll_back = true;
        take_counters_of(target);
    }
    exchange_counts(m);
    return agree(m, true) & AGREED;
}

struct found {
    int dead, first_dead;
    bool rolls_back;
    int64_t target;
};

static struct found look(const struct meeting *m)
{
    struct found found = {.first_dead = -1};

    for (int i = 0; i < rp_ft.ranks; i++)
        if (is_new(m, m->process_of[i])) {
            found.dead++;
            found.first_dead = found.first_dead < 0 ? i : found.first_dead;
        }
    return found;
}

static bool attempt(struct meeting *m, struct found *found)
{
    int was = rp_ft.rank;
    bool agreed;

    rp_ft_inject_recovery(1);
    introduce(m);
    if (m->ok)
        assign(m);
    bool goes_on = m->ok && !m->ended && m->lacking == 0;
    if (goes_on) {
        if (rp_ft.rank < 0)
            rp_ft_checkpoints_forget();
        look_for_files(m);
        find_available(m);
        m->restart = common(m);
        *found = look(m);
        rp_ft_inject_recovery(2);
        transfer(m);
        rp_ft_inject_recovery(3);
        if (m->ok)
            begin_anew(m);
        if (m->ok)
            exchange_counts(m);
    }
    rp_ft_inject_recovery(4);
    bool reach = m->ok && goes_on ? !must_roll_back && all_reach(m) : true;
    if (m->ok)
        try(m, rp_real.Barrier(m->comm)); /* who died here is not sent logs: messages to the dead
                                             use up the transport's buffers */
    int flags = agree(m, reach);
    agreed = flags & AGREED;
    if (agreed && goes_on && !(flags & REACHES)) {
        found->rolls_back = true;
        found->target = m->restart;
        agreed = roll_back(m, found->target);
    }
    if (!agreed)
        rp_ft.rank = was;
    return agreed;
}

/* As far as we know: others may be ahead or behind. */
static const char *when(char text[64])
{
    if (rp_ft.iteration < 0)
        return "before the first iteration";
    snprintf(text, 64, "in iteration %ld or near it", rp_ft.iteration);
    return text;
}

static void tell(const struct meeting *m, const struct found *found, double since)
{
    static const char *const ways[] = {"only what died runs again",
                                       "all ranks go back to the last checkpoint"};
    char text[64];
    int teller = -1;

    for (int i = 0; i < rp_ft.ranks && teller < 0; i++)
        if (!is_new(m, m->process_of[i]))
            teller = i;
    for (int i = 0; i < rp_ft.ranks && teller == rp_ft.rank; i++)
        if (is_new(m, m->process_of[i])) {
            rp_ft_event(
                "replaced",
                "\"dead\": %d, \"generation\": %lld, \"rollback\": \"%s\", \"milliseconds\": %.3f",
                i, (long long)(found->rolls_back ? found->target : m->restart),
                found->rolls_back ? "global" : "local", 1e3 * (rp_ft_now() - since));
            rp_note("rank %d died %s, and was replaced in %.1f ms: %s", i, when(text),
                    1e3 * (rp_ft_now() - since), ways[found->rolls_back]);
        }
}

static MPI_Comm those_who_live(void)
{
    MPI_Comm living;

    rp_ulfm_revoke(rp_ft.world);
    while (rp_ulfm_shrink(rp_ft.world, &living) != MPI_SUCCESS)
        ;
    rp_real.Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    return living;
}

static void close_world(void)
{
    rp_ft_transport_close();
    rp_ft_transmit_close();
    rp_ft_payloads_fail();
}

void rp_ft_recover(void)
{
    rp_ft_recover_in(MPI_COMM_NULL);
}

void rp_ft_recover_in(MPI_Comm world)
{
    double since = rp_ft_now();
    struct meeting m = {0};
    struct found found = {.first_dead = -1};
    bool first = world == MPI_COMM_NULL;

    rp_ft_end_if_ending();
    rp_ft.recoveries++;
    rp_ft_event_detected();
    for (;;) {
        m.comm = world == MPI_COMM_NULL ? those_who_live() : world;
        m.ok = true;
        if (first)
            close_world();
        first = false;
        bool agreed = attempt(&m, &found);
        if (agreed && m.lacking == 0)
            break;
        rp_ft.world = m.comm;
        if (agreed)
            complete_files(&m);
        forget(&m);
        world = agreed ? rp_ft_respawn(rp_ft.world) : MPI_COMM_NULL;
    }
    if (m.ended) {
        rp_ft.world = m.comm;
        rp_ft.ended = true;
        forget(&m);
        if (rp_ft.rank >= 0)
            longjmp(rp_ft_finalize_point, 1);
        return;
    }
    must_roll_back = false;
    resume(&m);
    tell(&m, &found, since);
    forget(&m);
    rp_ft_event("resumed", "\"milliseconds\": %.3f", 1e3 * (rp_ft_now() - since));
    if (found.rolls_back && rp_ft.rank >= 0)
        rp_ft_loop_roll_back(found.target);
}

void rp_ft_spare(void)
{
    const struct timespec pause = {
        0, 10000000}; /* each time a rank's core is taken away for a moment */
    MPI_Request never;
    int done, nothing;

    while (rp_ft.rank < 0 && !rp_ft.ended) {
        done = 0;
        if (rp_real.Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 0, rp_ft.world, &never) ==
            MPI_SUCCESS)
            while (rp_real.Test(&never, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
                nanosleep(&pause, NULL);
        rp_ft_recover();
    }
}
