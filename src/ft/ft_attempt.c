/* SPDX-License-Identifier: MIT */
/* The processes that live introduce themselves, and agree. */
#include "ft/ft_attempt.h"

#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_copies.h"
#include "ft/ft_state.h"
#include "ft/ft_ulfm.h"

bool rp_ft_try(struct rp_ft_attempt *a, int code)
{
    if (code != MPI_SUCCESS && a->ok) {
        a->ok = false;
        rp_ulfm.revoke(a->comm);
    }
    return a->ok;
}

bool rp_ft_is_new(const struct rp_ft_attempt *a, int process)
{
    return a->rank_of[process] >= 0 && a->member[process].rank < 0;
}

/* Processes that were started later learn which ranks keep whose checkpoints. */
static void share_hosts(struct rp_ft_attempt *a)
{
    int64_t *hosts = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *hosts);
    int source = -1;
    bool needed = false;

    for (int p = a->size - 1; p >= 0; p--) {
        source = a->member[p].knows_hosts ? p : source;
        needed |= !a->member[p].knows_hosts;
    }
    if (source == a->me)
        memcpy(hosts, rp_ft_copies_hosts(), (size_t)rp_ft.ranks * sizeof *hosts);
    if (needed && rp_ft_try(a, rp_real.Bcast(hosts, rp_ft.ranks, MPI_INT64_T, source, a->comm)))
        rp_ft_copies_place(hosts);
    free(hosts);
}

int64_t *rp_ft_held_by(const struct rp_ft_attempt *a, int rank, int copy)
{
    return a->held[(size_t)rank * (size_t)rp_ft_copies + (size_t)copy];
}

static void share_copies(struct rp_ft_attempt *a)
{
    size_t all = (size_t)rp_ft.ranks * (size_t)rp_ft_copies;

    a->held = rp_ft_alloc(all * sizeof *a->held);
    memset(a->held, -1, all * sizeof *a->held);
    for (int i = 0; i < rp_ft.ranks; i++)
        for (int k = 0; k < rp_ft_copies; k++)
            for (int g = 0; g < RP_FT_GENERATIONS && rp_ft_buddy(i, k) == rp_ft.rank; g++)
                rp_ft_held_by(a, i, k)[g] = rp_ft_held(i)[g].generation;
    rp_ft_try(a, rp_real.Allreduce(MPI_IN_PLACE, a->held, (int)all * RP_FT_GENERATIONS, MPI_INT64_T,
                                   MPI_MAX, a->comm));
}

void rp_ft_attempt_begin(struct rp_ft_attempt *a)
{
    struct rp_ft_member own = {.rank = rp_ft.rank,
                               .finished = rp_ft.finished,
                               .spares = rp_ft.spares,
                               .respawned = rp_ft.respawned};

    own.knows_hosts = rp_ft_copies_hosts() != NULL;
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        own.own[i] = rp_ft_own[i].generation;
    rp_real.Comm_size(a->comm, &a->size);
    rp_real.Comm_rank(a->comm, &a->me);
    a->member = rp_ft_alloc((size_t)a->size * sizeof *a->member);
    a->rank_of = rp_ft_alloc((size_t)a->size * sizeof *a->rank_of);
    a->process_of = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *a->process_of);
    a->ours = rp_ft_alloc((size_t)a->size * sizeof *a->ours);
    a->theirs = rp_ft_alloc((size_t)a->size * sizeof *a->theirs);
    a->missing = rp_ft_alloc((size_t)a->size * sizeof *a->missing);
    if (rp_ft_try(a, rp_real.Allgather(&own, (int)sizeof own, MPI_BYTE, a->member, (int)sizeof own,
                                       MPI_BYTE, a->comm)))
        for (int p = 0; p < a->size; p++) {
            rp_ft.spares = a->member[p].spares > rp_ft.spares ? a->member[p].spares : rp_ft.spares;
            rp_ft.respawned =
                a->member[p].respawned > rp_ft.respawned ? a->member[p].respawned : rp_ft.respawned;
        }
    if (a->ok)
        share_hosts(a);
    if (a->ok)
        share_copies(a);
}

void rp_ft_attempt_end(struct rp_ft_attempt *a)
{
    for (int p = 0; p < a->size && a->missing; p++)
        free(a->missing[p]);
    free(a->missing);
    free(a->member);
    free(a->held);
    free(a->files);
    free(a->available);
    free(a->rank_of);
    free(a->process_of);
    free(a->ours);
    free(a->theirs);
    memset(a, 0, sizeof *a);
}

int rp_ft_attempt_agree(struct rp_ft_attempt *a, bool suffices)
{
    int flag = (a->ok ? RP_FT_AGREED : 0) | (suffices ? RP_FT_SUFFICES : 0);

    rp_ulfm.agree(a->comm, &flag);
    return flag;
}

int64_t rp_ft_latest(const int64_t list[RP_FT_GENERATIONS])
{
    int64_t most = -1;

    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        most = list[i] > most ? list[i] : most;
    return most;
}
