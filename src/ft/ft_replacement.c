/* SPDX-License-Identifier: MIT */
/* Dead ranks are replaced: who takes them over, and with which checkpoints. */
#include "ft/ft_replacement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_channels.h"
#include "ft/ft_checkpoint.h"
#include "ft/ft_copies.h"
#include "ft/ft_events.h"
#include "ft/ft_files.h"
#include "ft/ft_respawn.h"
#include "ft/ft_state.h"
#include "reprise.h"

static bool has(const int64_t list[RP_FT_GENERATIONS], int64_t generation)
{
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (list[i] == generation)
            return true;
    return false;
}

/* The buddy of the latest of a rank's copies that are left; -1: none is. */
static int best_buddy(const struct rp_ft_attempt *a, int rank)
{
    int64_t most = -1;
    int best = -1;

    for (int k = 0; k < rp_ft_copies; k++)
        if (rp_ft_latest(rp_ft_held_by(a, rank, k)) > most) {
            most = rp_ft_latest(rp_ft_held_by(a, rank, k));
            best = rp_ft_buddy(rank, k);
        }
    return best;
}

void rp_ft_complete_files(struct rp_ft_attempt *a)
{
    if (!rp_ft_files_on())
        return;
    rp_ft_files_wait();
    for (int i = 0; i < rp_ft.ranks && rp_ft.rank >= 0; i++)
        if ((a->process_of[i] < 0 || rp_ft_is_new(a, a->process_of[i])) &&
            best_buddy(a, i) == rp_ft.rank)
            rp_ft_files_write_for(i, rp_ft_held(i));
    rp_real.Barrier(a->comm);
}

static void out_of_spares(struct rp_ft_attempt *a, int rank)
{
    char later[64] = "";

    rp_ft_complete_files(a);
    if (rp_ft.respawned)
        snprintf(later, sizeof later, ", and %d were started later: --respawn", rp_ft.respawned);
    rp_ft_die(REPRISE_EXIT_INTERNAL,
              "rank %d died and no spare is left (there were %d: --spares%s); %s", rank,
              rp_ft.spares, later, rp_ft_files_restart_hint());
}

void rp_ft_assign_ranks(struct rp_ft_attempt *a)
{
    int spare = 0;

    for (int i = 0; i < rp_ft.ranks; i++)
        a->process_of[i] = -1;
    a->ended = true;
    for (int p = 0; p < a->size; p++) {
        a->rank_of[p] = a->member[p].rank;
        if (a->rank_of[p] >= 0)
            a->process_of[a->rank_of[p]] = p;
        a->ended &= a->rank_of[p] < 0 || a->member[p].finished;
    }
    for (int i = 0; i < rp_ft.ranks; i++) {
        if (a->process_of[i] >= 0)
            continue;
        a->ended = false;
        while (spare < a->size && a->rank_of[spare] >= 0)
            spare++;
        if (spare == a->size && rp_ft.respawned + ++a->lacking > rp_ft_respawn_limit())
            out_of_spares(a, i);
        if (spare == a->size)
            continue;
        a->rank_of[spare] = i;
        a->process_of[i] = spare;
    }
}

/* A rank is new, and nobody keeps anything of it. */
static bool needs_files(const struct rp_ft_attempt *a, int rank)
{
    return rp_ft_is_new(a, a->process_of[rank]) && best_buddy(a, rank) < 0;
}

/* If a rank died together with all its buddies there may be files. */
static void look_for_files(struct rp_ft_attempt *a)
{
    rp_ft_generations own = {-1, -1};
    int rank = a->rank_of[a->me];
    bool needed = false;

    a->files = rp_ft_alloc((size_t)a->size * sizeof *a->files);
    for (int p = 0; p < a->size; p++)
        memcpy(a->files[p], own, sizeof own);
    for (int i = 0; i < rp_ft.ranks; i++)
        needed |= needs_files(a, i);
    if (!needed)
        return;
    if (rank >= 0 && needs_files(a, rank))
        rp_ft_files_list(rank, own);
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (own[i] >= 0 && !rp_ft_files_read(rank, own[i], rp_ft_own))
            own[i] = -1;
    rp_ft_try(a, rp_real.Allgather(own, (int)sizeof own, MPI_BYTE, a->files, (int)sizeof own,
                                   MPI_BYTE, a->comm));
}

/* The two latest of all that buddies have. */
static void unite(const struct rp_ft_attempt *a, int rank, rp_ft_generations out)
{
    out[0] = out[1] = -1;
    for (int i = 0; i < rp_ft_copies * RP_FT_GENERATIONS; i++) {
        int64_t one = rp_ft_held_by(a, rank, i / RP_FT_GENERATIONS)[i % RP_FT_GENERATIONS];
        if (one > out[0]) {
            out[1] = out[0];
            out[0] = one;
        } else if (one > out[1] && one < out[0]) {
            out[1] = one;
        }
    }
}

/* Where a rank's checkpoints are now: with itself, with its buddies, or in files. */
static void find_available(struct rp_ft_attempt *a)
{
    a->available = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *a->available);
    for (int i = 0; i < rp_ft.ranks; i++) {
        int process = a->process_of[i];
        if (!rp_ft_is_new(a, process))
            memcpy(a->available[i], a->member[process].own, sizeof *a->available);
        else if (needs_files(a, i))
            memcpy(a->available[i], a->files[process], sizeof *a->available);
        else
            unite(a, i, a->available[i]);
    }
}

/* The latest that all ranks have; -1: none. New ranks begin with it, too: before a later one is
 * everybody's, messages from before it may be on their way from a rank whose log is gone. */
static int64_t last_common_checkpoint(const struct rp_ft_attempt *a)
{
    int64_t target = INT64_MAX;

    for (int i = 0; i < rp_ft.ranks; i++) {
        int64_t one = rp_ft_latest(a->available[i]);
        target = one < target ? one : target;
    }
    for (int i = 0; i < rp_ft.ranks && target >= 0; i++)
        if (!has(a->available[i], target))
            target = -1;
    return target;
}

void rp_ft_find_checkpoints(struct rp_ft_attempt *a)
{
    look_for_files(a);
    find_available(a);
    a->restart = last_common_checkpoint(a);
}

static void send_checkpoint(struct rp_ft_attempt *a, int to,
                            const struct rp_ft_checkpoint *checkpoint)
{
    uint64_t bytes = checkpoint->bytes;

    rp_ft_try(a, rp_real.Send(&bytes, (int)sizeof bytes, MPI_BYTE, to, 1, a->comm));
    if (a->ok)
        rp_ft_try(a, rp_real.Send(checkpoint->blob, (int)bytes, MPI_BYTE, to, 2, a->comm));
}

static void receive_checkpoint(struct rp_ft_attempt *a, int from,
                               struct rp_ft_checkpoint list[RP_FT_GENERATIONS], int64_t generation)
{
    uint64_t bytes = 0;
    uint8_t *blob;

    if (!rp_ft_try(a, rp_real.Recv(&bytes, (int)sizeof bytes, MPI_BYTE, from, 1, a->comm,
                                   MPI_STATUS_IGNORE)))
        return;
    blob = rp_ft_alloc(bytes);
    if (rp_ft_try(a, rp_real.Recv(blob, (int)bytes, MPI_BYTE, from, 2, a->comm, MPI_STATUS_IGNORE)))
        rp_ft_checkpoint_put(list, generation, blob, bytes);
    free(blob);
}

/* Every process goes through the same list of transfers in the same order, so that none waits in a
 * circle. */

static int source_of(const struct rp_ft_attempt *a, int rank, int64_t generation)
{
    for (int k = 0; k < rp_ft_copies; k++)
        if (has(rp_ft_held_by(a, rank, k), generation))
            return a->process_of[rp_ft_buddy(rank, k)];
    return -1;
}

static void to_new_rank(struct rp_ft_attempt *a, int rank)
{
    int to = a->process_of[rank];

    for (int g = 0; g < RP_FT_GENERATIONS && a->ok; g++) {
        int64_t generation = a->available[rank][g];
        int from = generation < 0 ? -1 : source_of(a, rank, generation);
        if (from >= 0 && a->me == from)
            send_checkpoint(a, to, rp_ft_checkpoint_find(rp_ft_held(rank), generation));
        if (from >= 0 && a->me == to)
            receive_checkpoint(a, from, rp_ft_own, generation);
    }
}

static void to_new_buddy(struct rp_ft_attempt *a, int rank, int buddy)
{
    int from = a->process_of[rank], to = a->process_of[buddy];

    for (int g = 0; g < RP_FT_GENERATIONS && a->ok; g++) {
        int64_t generation = a->available[rank][g];
        if (generation >= 0 && a->me == from)
            send_checkpoint(a, to, rp_ft_checkpoint_find(rp_ft_own, generation));
        if (generation >= 0 && a->me == to)
            receive_checkpoint(a, from, rp_ft_held(rank), generation);
    }
}

void rp_ft_transfer_checkpoints(struct rp_ft_attempt *a)
{
    for (int i = 0; i < rp_ft.ranks && a->ok; i++)
        if (rp_ft_is_new(a, a->process_of[i]) && !needs_files(a, i))
            to_new_rank(a, i);
    for (int i = 0; i < rp_ft.ranks && a->ok; i++)
        for (int k = 0; k < rp_ft_copies && a->ok; k++)
            if (rp_ft_is_new(a, a->process_of[rp_ft_buddy(i, k)]))
                to_new_buddy(a, i, rp_ft_buddy(i, k));
}

/* A spare takes on the rank, on trial. */
void rp_ft_begin_anew(const struct rp_ft_attempt *a)
{
    if (!rp_ft_is_new(a, a->me))
        return;
    rp_ft.rank = a->rank_of[a->me];
    memset(rp_ft_channels, 0, (size_t)rp_ft.ranks * sizeof *rp_ft_channels);
    rp_ft_checkpoint_choose(a->restart);
    rp_ft_event_begins_anew();
}
