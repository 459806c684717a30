/* SPDX-License-Identifier: MIT */
/*
 * Copies of checkpoints: each rank's are kept by `rp_ft_copies` other ranks, its buddies, in their
 * memory. Who keeps whose follows from the hosts of the ranks at the start (recovery/buddies.h),
 * and stays so: a process that takes over a rank takes over what that keeps. All processes know it,
 * spares too; processes that are started later learn it in their first recovery.
 *
 * A rank sends its last checkpoint to all buddies, each of which answers when it has it. The rank
 * takes the next one only when all have answered: so every buddy has at least the last but one.
 */
#include "ft/ft_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ft/ft_abort.h"
#include "ft/ft_state.h"
#include "ft/ft_transport.h"
#include "job/settings.h"
#include "recovery/buddies.h"

typedef struct rp_ft_checkpoint generations[RP_FT_GENERATIONS];

struct sent_copy {
    int64_t generation;
    unsigned epoch;
};

int rp_ft_copies;
static struct {
    void (*report_stored)(int64_t generation);
    int64_t *hosts;                  /* of the ranks, at the start; NULL: not known yet */
    int32_t *buddies;                /* rp_ft_copies of each rank */
    generations *held;               /* of each rank: what we keep of it */
    struct rp_ft_checkpoint *coming; /* of each rank: on its way to us */
    int64_t *stored;                 /* by each buddy of ours: the latest that it has */
    struct sent_copy *sent;          /* to each buddy of ours: the last */
} copies;

int rp_ft_buddy(int rank, int copy)
{
    return copies.buddies[(size_t)rank * (size_t)rp_ft_copies + (size_t)copy];
}

struct rp_ft_checkpoint *rp_ft_held(int rank)
{
    return copies.held[rank];
}

/* The start */

static void clear(struct rp_ft_checkpoint *one)
{
    *one = (struct rp_ft_checkpoint){.generation = -1};
}

/* A number of this boot of this machine: containers on it share it. */
static int64_t own_host(void)
{
    const char *played = rp_setting("REPRISE_HOSTS");
    long count = played ? strtol(played, NULL, 10) : 0;
    struct rp_buffer text = {0};
    struct rp_problem why;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int process;

    rp_real.Comm_rank(MPI_COMM_WORLD, &process);
    if (count > 1)
        return process % count;
    if (rp_read_file("/proc/sys/kernel/random/boot_id", 4096, &text, &why) == RP_OK)
        for (size_t i = 0; i < text.length; i++)
            hash = (hash ^ text.bytes[i]) * UINT64_C(0x100000001b3);
    rp_buffer_free(&text);
    return (int64_t)hash;
}

void rp_ft_copies_place(const int64_t *all)
{
    if (!copies.hosts)
        copies.hosts = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *copies.hosts);
    if (all != copies.hosts)
        memcpy(copies.hosts, all, (size_t)rp_ft.ranks * sizeof *copies.hosts);
    if (rp_buddies_choose(rp_ft.ranks, rp_ft_copies, copies.hosts, copies.buddies) != 0)
        rp_ft_die(125, "out of memory for the buddies of %d ranks", rp_ft.ranks);
}

int rp_ft_copies_gather(MPI_Comm world)
{
    int64_t own = own_host(), *all;
    int processes;

    rp_real.Comm_size(world, &processes);
    all = rp_ft_alloc((size_t)processes * sizeof *all);
    int error = rp_real.Allgather(&own, 1, MPI_INT64_T, all, 1, MPI_INT64_T, world);
    if (error == MPI_SUCCESS)
        rp_ft_copies_place(all);
    free(all);
    return error;
}

const int64_t *rp_ft_copies_hosts(void)
{
    return copies.hosts;
}

/* Keeping those of others */

void rp_ft_copies_forget_after(int64_t generation)
{
    for (int i = 0; i < rp_ft.ranks; i++)
        rp_ft_checkpoint_drop_after(copies.held[i], generation);
}

/* Memory for one that is on its way. */
static uint8_t *room_for(int from, size_t bytes)
{
    struct rp_ft_checkpoint *one = &copies.coming[from];

    if (one->bytes != bytes) {
        free(one->blob);
        *one = (struct rp_ft_checkpoint){.bytes = bytes, .blob = rp_ft_alloc(bytes)};
    }
    return one->blob;
}

/* MPI may still write into that memory, so it is not freed. */
static void on_lost(const struct rp_ft_envelope *envelope)
{
    copies.coming[envelope->from] = (struct rp_ft_checkpoint){.bytes = 0};
}

static void on_arrived(const struct rp_ft_envelope *envelope)
{
    int from = envelope->from;
    struct rp_ft_checkpoint *slot =
                                rp_ft_checkpoint_slot(copies.held[from], (int64_t)envelope->seq),
                            old = *slot;

    *slot = copies.coming[from];
    slot->generation = (int64_t)envelope->seq;
    copies.coming[from] = old;
    rp_ft_control(RP_FT_STORED, from, envelope->seq, NULL, 0);
}

static void on_checkpoint(const struct rp_ft_envelope *envelope, const void *payload)
{
    (void)payload;
    rp_ft_control_receive(envelope, room_for(envelope->from, envelope->bytes), on_arrived, on_lost);
}

/* Sending our own */

int64_t rp_ft_copies_stored(void)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < rp_ft_copies; i++)
        least = copies.stored[i] < least ? copies.stored[i] : least;
    return least;
}

void rp_ft_copies_are_stored(int64_t generation)
{
    for (int i = 0; i < rp_ft_copies; i++)
        copies.stored[i] = generation;
}

static void on_stored(const struct rp_ft_envelope *by, const void *payload)
{
    int64_t generation = (int64_t)by->seq;
    int64_t before = rp_ft_copies_stored();

    (void)payload;
    for (int i = 0; i < rp_ft_copies; i++)
        if (rp_ft_buddy(rp_ft.rank, i) == by->from && generation > copies.stored[i])
            copies.stored[i] = generation;
    if (rp_ft_copies_stored() > before)
        copies.report_stored(rp_ft_copies_stored());
}

/* Once to each in each world: a buddy expects one of each rank at a time. */
void rp_ft_copies_send(const struct rp_ft_checkpoint *one)
{
    for (int i = 0; i < rp_ft_copies; i++) {
        bool is_given =
            copies.sent[i].generation == one->generation && copies.sent[i].epoch == rp_ft.epoch;
        if (is_given || copies.stored[i] >= one->generation)
            continue;
        copies.sent[i] = (struct sent_copy){one->generation, rp_ft.epoch};
        rp_ft_control(RP_FT_CHECKPOINT, rp_ft_buddy(rp_ft.rank, i), (uint64_t)one->generation,
                      one->blob, one->bytes);
    }
}

void rp_ft_copies_start(void (*stored_by_all)(int64_t generation))
{
    const char *text = rp_setting("REPRISE_FT_COPIES");
    int wanted = text ? (int)strtol(text, NULL, 10) : 1;

    copies.report_stored = stored_by_all;
    rp_ft_transport_handle(RP_FT_CHECKPOINT, on_checkpoint);
    rp_ft_transport_handle(RP_FT_STORED, on_stored);
    rp_ft_copies = wanted < rp_ft.ranks ? wanted : rp_ft.ranks - 1;
    copies.buddies =
        rp_ft_alloc((size_t)rp_ft.ranks * (size_t)rp_ft_copies * sizeof *copies.buddies);
    copies.held = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *copies.held);
    copies.coming = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *copies.coming);
    copies.stored = rp_ft_alloc((size_t)rp_ft_copies * sizeof *copies.stored);
    copies.sent = rp_ft_alloc((size_t)rp_ft_copies * sizeof *copies.sent);
    rp_ft_copies_are_stored(-1);
    for (int i = 0; i < rp_ft_copies; i++)
        copies.sent[i].generation = -1;
    for (int i = 0; i < rp_ft.ranks; i++)
        for (int k = 0; k < RP_FT_GENERATIONS; k++)
            clear(&copies.held[i][k]);
}
