/* SPDX-License-Identifier: MIT */
/*
 * Messages are taken by matched probes, each communicator's in the order in which MPI has them, with their stamps. `known` are those of the table that is next, in the reference order, also those that
 * were given to the program already. A message belongs to the table if it is not above its epoch line, and no later table claims it.
 *
 * A place is certain (axiom 1 of Clock Delta Compression) if no message of the table that is still to come has a smaller clock: all are here; or of each sender the last is here, none is
 * under way, or its bound is above.
 */
#include "engine/clocked_pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/settings.h"
#include "engine/clocked_rows.h"
#include "engine/clocked_state.h"
#include "envelope/envelope.h"
#include "match/bounds.h"
#include "mpi/constants.h"
#include "mpi/engine.h"

enum { STAMP = 8 };
#define NO_NUMBER UINT32_MAX

struct comm {
    MPI_Comm handle;
    int *world; /* by rank: that in MPI_COMM_WORLD */
    int size;
    uint32_t number; /* the same for all its ranks, NO_NUMBER: it has none */
    uint64_t entered; /* collective calls of this rank */
};

struct known {
    uint64_t clock;
    int32_t rank;
    struct rp_pooled *message; /* NULL: given */
};

static struct {
    struct rp_pooled *first, *last; /* in the order in which they came */
    struct comm *comms;
    size_t comm_count, comm_room;
    uint32_t made; /* numbers that this rank gave */
    int rank;
    struct known *known;
    size_t known_count, known_room;
    uint64_t table; /* that `known` is of, + 1 */
    uint32_t wanted; /* place that is waited for */
    bool is_probing, is_broken;
    long delay;      /* of sends, for tests: at most so many microseconds */
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

    is_inter ? rp_pmpi.Comm_remote_size(comm->handle, &comm->size) : rp_pmpi.Comm_size(comm->handle, &comm->size);
    is_inter ? rp_pmpi.Comm_remote_group(comm->handle, &group) : rp_pmpi.Comm_group(comm->handle, &group);
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
    if (rank == 0 && pool.made < RP_CLOCKED_COMMS)
        number = (uint64_t)pool.rank * RP_CLOCKED_COMMS + pool.made++;
    reprise_envelope_pause(1);
    rp_pmpi.Bcast(&number, 1, rp_constant.uint64, 0, handle);
    reprise_envelope_pause(-1);
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
    rp_clocked_begin();
    rp_clocked_count_sent((uint32_t)comm->world[dest]);
    rp_clocked_set_clock(reprise_envelope_clock() + 1);
    rp_clocked_end();
}

void rp_pool_enter(MPI_Comm handle)
{
    struct comm *comm = find_comm(handle);

    if (comm && comm->number != NO_NUMBER)
        rp_clocked_enter(comm->number, (uint64_t)comm->size * ++comm->entered);
}

/* The table that is next */

static const struct rp_cdc_clock *epoch_of(const struct rp_cdc_table *table, int32_t rank)
{
    for (size_t i = 0; i < table->epoch_count; i++)
        if (table->epoch[i].rank == rank)
            return &table->epoch[i];
    return NULL;
}

static void consider(const struct rp_cdc_table *table, struct rp_pooled *message)
{
    const struct rp_cdc_clock *epoch = epoch_of(table, message->sender);
    struct rp_message self = {message->clock, message->sender, 0};
    size_t at = pool.known_count;

    if (!epoch || message->clock > epoch->clock || rp_clocked_rows_is_late(message->sender, message->clock))
        return;
    if (pool.known_count == pool.known_room) {
        pool.known_room = pool.known_room ? pool.known_room * 2 : 64;
        pool.known = need(realloc(pool.known, pool.known_room * sizeof *pool.known));
    }
    for (; at > 0; at--) {
        struct rp_message before = {pool.known[at - 1].clock, pool.known[at - 1].rank, 0};
        if (!rp_message_before(&self, &before))
            break;
        pool.known[at] = pool.known[at - 1];
        pool.is_broken |= !pool.known[at].message;
    }
    pool.known[at] = (struct known){message->clock, message->sender, message};
    pool.known_count++;
}

/* Makes `known` that of the table at the front; NULL: there is none. */
static const struct rp_cdc_table *look_at_table(void)
{
    uint64_t number;
    const struct rp_cdc_table *table = rp_clocked_rows_table(&number);

    if (!table || pool.table == number + 1)
        return table;
    pool.table = number + 1;
    pool.known_count = 0;
    for (struct rp_pooled *message = pool.first; message; message = message->next)
        if (message->is_here)
            consider(table, message);
    return table;
}

/*
 * The clock of the message that would be given next, if no other came: what is given is this one, or has a clock that is not smaller than that of some message that is still to be sent. For whatever comes
 * before it in the order moves it up, and the one that takes its place was behind the newcomer, or is it.
 */
static uint64_t candidate(void)
{
    uint64_t least = RP_NEVER;

    for (const struct rp_pooled *message = pool.first; pool.is_probing && message; message = message->next)
        if (message->is_here && message->clock < least)
            least = message->clock;
    if (pool.is_probing)
        return least;
    return pool.wanted < pool.known_count ? pool.known[pool.wanted].clock : RP_NEVER;
}

bool rp_pool_is_broken(void)
{
    return pool.is_broken;
}

void rp_pool_probe(bool waits)
{
    pool.is_probing = waits;
    rp_clocked_set_least(candidate());
}

void rp_pool_want(uint32_t place)
{
    pool.wanted = place;
    look_at_table();
    rp_clocked_set_least(candidate());
}

/* Taking in */

static void arrived(struct rp_pooled *message)
{
    uint64_t stamp, number;

    memcpy(&stamp, message->bytes, sizeof stamp);
    struct rp_stamp_parts parts = reprise_envelope_parts(stamp);
    message->sender = parts.sender;
    message->clock = parts.clock;
    message->is_here = true;
    const struct rp_cdc_table *table = rp_clocked_rows_table(&number);
    if (table && pool.table == number + 1)
        consider(table, message);
    rp_clocked_begin();
    rp_clocked_count_arrived((uint32_t)parts.sender);
    rp_clocked_set_least(candidate());
    rp_clocked_end();
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
    if (pool.last)
        pool.last->next = message;
    else
        pool.first = message;
    pool.last = message;
}

void rp_pool_poll(void)
{
    MPI_Message handle;
    MPI_Status status;

    reprise_envelope_pause(1);
    for (size_t i = 0; i < pool.comm_count; i++)
        for (int found = 1; found;) {
            found = 0;
            if (rp_pmpi.Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, pool.comms[i].handle, &found, &handle, &status) == MPI_SUCCESS && found)
                take_in(&pool.comms[i], &handle, &status);
        }
    for (struct rp_pooled *message = pool.first; message; message = message->next) {
        int done = 0;
        if (!message->is_here && rp_pmpi.Test(&message->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
            arrived(message);
    }
    reprise_envelope_pause(-1);
}

/* Finding */

struct rp_pooled *rp_pool_find(int32_t rank, uint64_t clock)
{
    for (struct rp_pooled *message = pool.first; message; message = message->next)
        if (message->is_here && message->sender == rank && message->clock == clock)
            return message;
    return NULL;
}

static bool last_is_known(const struct rp_cdc_clock *epoch)
{
    for (size_t i = pool.known_count; i > 0 && pool.known[i - 1].clock >= epoch->clock; i--)
        if (pool.known[i - 1].clock == epoch->clock && pool.known[i - 1].rank == epoch->rank)
            return true;
    return false;
}

static bool is_certain(const struct rp_cdc_table *table, const struct known *candidate)
{
    if (pool.known_count == table->message_count)
        return true;
    const bool *under_way = NULL;
    const uint64_t *bounds = rp_clocked_bounds(&under_way);
    for (size_t i = 0; bounds && i < table->epoch_count; i++) {
        const struct rp_cdc_clock *epoch = &table->epoch[i];
        uint64_t bound = bounds[epoch->rank];
        if (under_way[epoch->rank])
            return false;
        bool is_later = bound > candidate->clock || (bound == candidate->clock && epoch->rank > candidate->rank);
        if (!is_later && !last_is_known(epoch))
            return false;
    }
    return bounds != NULL;
}

struct rp_pooled *rp_pool_place(uint32_t place)
{
    const struct rp_cdc_table *table = look_at_table();

    if (!table || place >= pool.known_count || !is_certain(table, &pool.known[place]))
        return NULL;
    return pool.known[place].message;
}

struct rp_pooled *rp_pool_after(const struct rp_pooled *after, int source, int tag, MPI_Comm comm)
{
    for (struct rp_pooled *message = after ? after->next : pool.first; message; message = message->next)
        if (message->comm == comm && (source == MPI_ANY_SOURCE || message->source == source) && (tag == MPI_ANY_TAG || message->tag == tag))
            return message;
    return NULL;
}

/* Giving */

void rp_pool_remove(struct rp_pooled *message)
{
    struct rp_pooled **link = &pool.first, *before = NULL;

    for (; *link != message; link = &(*link)->next)
        before = *link;
    *link = message->next;
    if (pool.last == message)
        pool.last = before;
    for (size_t i = 0; i < pool.known_count; i++)
        if (pool.known[i].message == message)
            pool.known[i].message = NULL;
}

void rp_pool_drop(struct rp_pooled *message)
{
    free(message->bytes);
    free(message);
}
