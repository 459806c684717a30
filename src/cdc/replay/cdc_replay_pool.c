/* SPDX-License-Identifier: MIT */
/*
 * Messages that arrived but are not replayed yet (section 3.6: retained). Matched probes receive
 * those of each communicator, with their stamps, in the order in which MPI has them. A message
 * belongs to the next table if it is not above that table's epoch line and no later table claims
 * it: then it has a position there (cdc/model/cdc_positions.h). Rows that name their message find
 * it by sender and clock.
 */
#include "cdc/replay/cdc_replay_pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "cdc/replay/cdc_replay_rows.h"
#include "cdc/replay/cdc_replay_state.h"
#include "peers/peer_piggyback.h"
#include "cdc/model/cdc_lower_bound.h"
#include "cdc/model/cdc_positions.h"
#include "preload/constants.h"
#include "entry/engine.h"

enum { STAMP = 8 };
#define NO_NUMBER UINT32_MAX

struct comm {
    MPI_Comm handle;
    int *world; /* by rank: that in MPI_COMM_WORLD */
    int size;
    uint32_t number;  /* the same for all its ranks, NO_NUMBER: it has none */
    uint64_t entered; /* collective calls of this rank */
};

static struct {
    struct rp_pooled *first, *last; /* in the order of arrival */
    struct rp_pooled *incoming;     /* those that are not here yet */
    struct rp_pooled **buckets;     /* those that are, by sender and clock */
    size_t bucket_count, here;
    struct comm *comms;
    size_t comm_count, comm_room;
    uint32_t made; /* how many numbers this rank has assigned */
    int rank;
    struct rp_cdc_positions positions;
    uint64_t table;          /* that `positions` are of, + 1 */
    struct rp_answer wanted; /* the message that is waited for; of another kind: any */
    uint64_t least;          /* of any: the smallest clock that is here */
    long delay;              /* of sends, for tests: at most so many microseconds */
    uint64_t seed;
} pool;

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for messages");
    return memory;
}

/* Communicators */

static struct comm *find_comm(MPI_Comm handle)
{
    for (size_t i = 0; i < pool.comm_count; i++)
        if (pool.comms[i].handle == handle)
            return &pool.comms[i];
    return NULL;
}

static void translate(struct comm *comm, bool is_inter)
{
    MPI_Group group, world;
    int *ranks;

    is_inter ? rp_pmpi.Comm_remote_size(comm->handle, &comm->size)
             : rp_pmpi.Comm_size(comm->handle, &comm->size);
    is_inter ? rp_pmpi.Comm_remote_group(comm->handle, &group)
             : rp_pmpi.Comm_group(comm->handle, &group);
    rp_pmpi.Comm_group(rp_constant.world, &world);
    comm->world = need(malloc((size_t)comm->size * sizeof *comm->world));
    ranks = need(malloc((size_t)comm->size * sizeof *ranks));
    for (int i = 0; i < comm->size; i++)
        ranks[i] = i;
    rp_pmpi.Group_translate_ranks(group, comm->size, ranks, world, comm->world);
    free(ranks);
    rp_pmpi.Group_free(&group);
    rp_pmpi.Group_free(&world);
}

static struct comm *add_comm(MPI_Comm handle)
{
    int is_inter = 0;

    if (pool.comm_count == pool.comm_room) {
        pool.comm_room = pool.comm_room ? pool.comm_room * 2 : 8;
        pool.comms = need(realloc(pool.comms, pool.comm_room * sizeof *pool.comms));
    }
    struct comm *comm = &pool.comms[pool.comm_count++];
    *comm = (struct comm){.handle = handle, .number = NO_NUMBER};
    rp_pmpi.Comm_test_inter(handle, &is_inter);
    translate(comm, is_inter);
    return comm;
}

void rp_pool_know(MPI_Comm comm)
{
    if (!find_comm(comm))
        add_comm(comm);
}

void rp_pool_forget(MPI_Comm handle)
{
    struct comm *comm = find_comm(handle);

    if (!comm)
        return;
    free(comm->world);
    *comm = pool.comms[--pool.comm_count];
}

/* Its first rank numbers it for all. */
void rp_pool_made(MPI_Comm handle)
{
    uint64_t number = NO_NUMBER;
    int is_inter = 0, rank = 0;

    rp_pool_forget(handle); /* one that had the handle before */
    struct comm *comm = add_comm(handle);
    rp_pmpi.Comm_test_inter(handle, &is_inter);
    if (is_inter)
        return;
    rp_pmpi.Comm_rank(handle, &rank);
    if (rank == 0 && pool.made < RP_CDC_REPLAY_COMMS)
        number = (uint64_t)pool.rank * RP_CDC_REPLAY_COMMS + pool.made++;
    reprise_piggyback_pause(1);
    rp_pmpi.Bcast(&number, 1, rp_constant.uint64, 0, handle);
    reprise_piggyback_pause(-1);
    comm->number = (uint32_t)number;
}

void rp_pool_open(void)
{
    struct rp_problem ignored;

    rp_pmpi.Comm_rank(rp_constant.world, &pool.rank);
    rp_setting_number("REPRISE_DELAY", 0, 0, &pool.delay, &ignored);
    pool.seed = (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
    add_comm(rp_constant.world)->number = 0;
    pool.made = pool.rank == 0;
    add_comm(rp_constant.self);
}

/* Other orders of arrival than usual, for tests. */
static void delay(void)
{
    if (pool.delay == 0)
        return;
    pool.seed = pool.seed * 6364136223846793005u + 1442695040888963407u;
    if (pool.seed >> 62 == 0)
        usleep((useconds_t)(pool.seed >> 33) % (useconds_t)pool.delay);
}

void rp_pool_sending(MPI_Comm handle, int dest)
{
    if (dest < 0 || handle == rp_constant.comm_null)
        return;
    struct comm *comm = find_comm(handle);
    comm = comm ? comm : add_comm(handle);
    if (dest >= comm->size)
        return;
    delay();
    rp_cdc_replay_begin();
    rp_cdc_replay_count_sent((uint32_t)comm->world[dest]);
    rp_cdc_replay_set_clock(reprise_piggyback_clock() + 1);
    rp_cdc_replay_end();
}

void rp_pool_enter(MPI_Comm handle)
{
    struct comm *comm = find_comm(handle);

    if (comm && comm->number != NO_NUMBER)
        rp_cdc_replay_enter(comm->number, (uint64_t)comm->size * ++comm->entered);
}

/* The table that is next */

static void add_if_of_table(struct rp_pooled *message)
{
    if (rp_cdc_positions_within_epoch_line(&pool.positions, message->clock, message->sender) &&
        !rp_cdc_replay_rows_is_late(message->sender, message->clock))
        rp_cdc_positions_add(&pool.positions, message->clock, message->sender, message);
}

/* Makes `positions` those of the table at the front. False: there is none. */
static bool look_at_table(void)
{
    uint64_t number;
    const struct rp_cdc_table *table = rp_cdc_replay_rows_table(&number);

    if (!table || pool.table == number + 1)
        return table != NULL;
    pool.table = number + 1;
    rp_cdc_positions_begin(&pool.positions, table);
    for (struct rp_pooled *message = pool.first; message; message = message->next)
        if (message->is_here)
            add_if_of_table(message);
    return true;
}

static uint64_t smallest_here(void)
{
    uint64_t least = RP_NEVER;

    for (const struct rp_pooled *message = pool.first; message; message = message->next)
        if (message->is_here && message->clock < least)
            least = message->clock;
    return least;
}

/*
 * Returns the clock of the message that would be delivered next if no other arrived. If another
 * does arrive, the clock of the delivered message is not smaller than that of some message that is
 * still to be sent: a message that precedes the candidate moves it up by one, and its position goes
 * to the new message or to one behind that.
 */
static uint64_t candidate(void)
{
    if (pool.wanted.kind != RP_ROW_MESSAGE)
        return pool.least;
    return pool.wanted.is_named ? pool.wanted.clock
                                : rp_cdc_positions_clock(&pool.positions, pool.wanted.position);
}

const char *rp_pool_fault(void)
{
    if (pool.positions.is_broken)
        return "a message came with a smaller clock than one that was taken for certain (was it "
               "sent between a probe and the receive, or after a nonblocking collective call?)";
    if (pool.positions.is_crowded)
        return "a message came that the recorded run never received, so that the order of clocks "
               "is not that of the record";
    return NULL;
}

void rp_pool_want(const struct rp_answer *answer)
{
    pool.wanted = *answer;
    pool.least = answer->kind == RP_ROW_MESSAGE ? RP_NEVER : smallest_here();
    look_at_table();
    rp_cdc_replay_set_least(candidate());
}

/* By sender and clock */

static struct rp_pooled **bucket_of(int32_t sender, uint64_t clock)
{
    uint64_t hash = (clock << 20 ^ (uint64_t)sender) * 0x9e3779b97f4a7c15u;

    return &pool.buckets[(hash >> 32) & (pool.bucket_count - 1)];
}

static void link_bucket(struct rp_pooled *message)
{
    struct rp_pooled **bucket = bucket_of(message->sender, message->clock);

    message->chain = *bucket;
    *bucket = message;
}

static void more_buckets(void)
{
    free(pool.buckets);
    pool.bucket_count = pool.bucket_count ? pool.bucket_count * 2 : 64;
    pool.buckets = need(calloc(pool.bucket_count, sizeof *pool.buckets));
    for (struct rp_pooled *message = pool.first; message; message = message->next)
        if (message->is_here)
            link_bucket(message);
}

static void enter_bucket(struct rp_pooled *message)
{
    if (pool.here++ == pool.bucket_count)
        more_buckets(); /* with this one */
    else
        link_bucket(message);
}

static void leave_bucket(struct rp_pooled *message)
{
    struct rp_pooled **link = bucket_of(message->sender, message->clock);

    while (*link != message)
        link = &(*link)->chain;
    *link = message->chain;
    pool.here--;
}

/* Taking in */

static void arrived(struct rp_pooled *message)
{
    uint64_t stamp, number;

    memcpy(&stamp, message->bytes, sizeof stamp);
    struct rp_stamp_parts parts = reprise_piggyback_parts(stamp);
    message->sender = parts.sender;
    message->clock = parts.clock;
    message->is_here = true;
    enter_bucket(message);
    pool.least = message->clock < pool.least ? message->clock : pool.least;
    if (rp_cdc_replay_rows_table(&number) && pool.table == number + 1)
        add_if_of_table(message);
    rp_cdc_replay_begin();
    rp_cdc_replay_count_arrived((uint32_t)parts.sender);
    rp_cdc_replay_set_least(candidate());
    rp_cdc_replay_end();
}

static void take_in(const struct comm *comm, MPI_Message *handle, const MPI_Status *status)
{
    struct rp_pooled *message = need(calloc(1, sizeof *message));
    int length = 0;

    rp_pmpi.Get_count(status, rp_constant.byte, &length);
    if (length < STAMP)
        rp_bug(__FILE__, __LINE__, "a message without a clock");
    message->comm = comm->handle;
    message->source = status->MPI_SOURCE;
    message->tag = status->MPI_TAG;
    message->length = (size_t)length - STAMP;
    message->bytes = need(malloc((size_t)length));
    message->payload = message->bytes + STAMP;
    rp_pmpi.Imrecv(message->bytes, length, rp_constant.byte, handle, &message->request);
    message->previous = pool.last;
    *(pool.last ? &pool.last->next : &pool.first) = message;
    pool.last = message;
    message->chain = pool.incoming;
    pool.incoming = message;
}

static void complete_incoming(void)
{
    struct rp_pooled **link = &pool.incoming, *message;

    while ((message = *link)) {
        int done = 0;
        if (rp_pmpi.Test(&message->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) {
            *link = message->chain;
            arrived(message);
        } else {
            link = &message->chain;
        }
    }
}

void rp_pool_poll(void)
{
    MPI_Message handle;
    MPI_Status status;

    reprise_piggyback_pause(1);
    for (size_t i = 0; i < pool.comm_count; i++)
        for (int found = 1; found;) {
            found = 0;
            if (rp_pmpi.Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, pool.comms[i].handle, &found, &handle,
                                &status) == MPI_SUCCESS &&
                found)
                take_in(&pool.comms[i], &handle, &status);
        }
    complete_incoming();
    reprise_piggyback_pause(-1);
}

/* Finding */

struct rp_pooled *rp_pool_find(int32_t rank, uint64_t clock)
{
    struct rp_pooled *message = pool.bucket_count ? *bucket_of(rank, clock) : NULL;

    while (message && (message->sender != rank || message->clock != clock))
        message = message->chain;
    return message;
}

struct rp_pooled *rp_pool_at(uint32_t position)
{
    const bool *under_way = NULL;

    if (!look_at_table() || rp_cdc_positions_clock(&pool.positions, position) == RP_NEVER)
        return NULL;
    const uint64_t *bounds =
        rp_cdc_positions_are_full(&pool.positions) ? NULL : rp_cdc_replay_bounds(&under_way);
    return bounds || rp_cdc_positions_are_full(&pool.positions)
               ? rp_cdc_positions_find(&pool.positions, position, bounds, under_way)
               : NULL;
}

struct rp_pooled *rp_pool_after(const struct rp_pooled *after, int source, int tag, MPI_Comm comm)
{
    for (struct rp_pooled *message = after ? after->next : pool.first; message;
         message = message->next)
        if (message->comm == comm && (source == MPI_ANY_SOURCE || message->source == source) &&
            (tag == MPI_ANY_TAG || message->tag == tag))
            return message;
    return NULL;
}

/* Giving */

void rp_pool_remove(struct rp_pooled *message)
{
    *(message->previous ? &message->previous->next : &pool.first) = message->next;
    *(message->next ? &message->next->previous : &pool.last) = message->previous;
    leave_bucket(message);
    rp_cdc_positions_deliver(&pool.positions, message->clock, message->sender);
}

void rp_pool_drop(struct rp_pooled *message)
{
    free(message->bytes);
    free(message);
}
