/* SPDX-License-Identifier: MIT */
/*
 * Dynamic sparse data exchange: everyone knows to whom it sends, nobody knows from whom it receives
 * (AMG's set-up).
 *
 * In each round a rank sends messages to random others with synchronous sends, whose completion
 * says that the receiver has matched them: that is the acknowledgement. Meanwhile it probes any
 * source and any tag and receives what is there. When all its sends are acknowledged it enters a
 * barrier made of messages along a binary tree, polled with Test, and goes on receiving. A rank
 * that gets through the barrier knows that all messages of the round have arrived.
 *
 * Some ranks leave the barrier before others and start the next round, but never get two rounds
 * ahead; so two communicators, used in turn, keep the rounds apart although receivers ask for any
 * tag.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>

enum { MOST_MESSAGES = 8, SHORT_WORDS = 128, LONG_WORDS = 4096, TAGS = 5 };
enum { TREE_CHILDREN = 2, TAG_ARRIVED = 1, TAG_RELEASED = 2 };
enum { OPTION_SIZE, OPTION_WORK };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "rounds", 12000, 1, UINT64_C(1) << 40},
    [OPTION_WORK] = {"work", "arithmetic steps for a message received, 1 to 2 ns each", 200, 0,
                     UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"sparse", "Ranks send to random others that do not expect it.",
                                     2, options};

/* What one rank has sent to another, or received. */
struct account {
    uint64_t messages;
    uint64_t checksum; /* a sum, so that order does not matter */
};

enum barrier_phase { BARRIER_OUTSIDE, BARRIER_ARRIVING, BARRIER_WAITING, BARRIER_PASSED };

struct barrier {
    enum barrier_phase phase;
    MPI_Request from_child[TREE_CHILDREN];
    MPI_Request to_child[TREE_CHILDREN];
    MPI_Request from_parent;
    MPI_Request to_parent;
};

struct exchange {
    struct app *app;
    MPI_Comm comms[2]; /* for even and odd rounds */
    uint64_t round;
    struct account *sent; /* to each rank */
    struct account received;
    uint64_t buffers[MOST_MESSAGES][LONG_WORDS];
    MPI_Request sends[MOST_MESSAGES];
    int send_count;
    struct barrier barrier;
};

static int parent_of(int rank)
{
    return (rank - 1) / TREE_CHILDREN;
}

static int child_of(int rank, int index)
{
    return TREE_CHILDREN * rank + 1 + index;
}

static void account_add(struct account *account, const uint64_t *words, int count)
{
    uint64_t checksum = 0;
    app_hash_add_words(&checksum, words, (size_t)count);
    account->messages++;
    account->checksum += checksum;
}

/* The barrier */

static void barrier_enter(struct exchange *exchange)
{
    struct barrier *barrier = &exchange->barrier;
    for (int i = 0; i < TREE_CHILDREN; i++) {
        int child = child_of(exchange->app->rank, i);
        if (child < exchange->app->ranks)
            MPI_Irecv(NULL, 0, MPI_BYTE, child, TAG_ARRIVED, MPI_COMM_WORLD,
                      &barrier->from_child[i]);
    }
    barrier->phase = BARRIER_ARRIVING;
}

static bool test(MPI_Request *request)
{
    int completed;
    MPI_Test(request, &completed, MPI_STATUS_IGNORE);
    return completed;
}

static void barrier_release_children(struct exchange *exchange)
{
    struct barrier *barrier = &exchange->barrier;
    for (int i = 0; i < TREE_CHILDREN; i++) {
        int child = child_of(exchange->app->rank, i);
        if (child < exchange->app->ranks)
            MPI_Isend(NULL, 0, MPI_BYTE, child, TAG_RELEASED, MPI_COMM_WORLD,
                      &barrier->to_child[i]);
    }
    barrier->phase = BARRIER_PASSED;
}

static void barrier_tell_parent(struct exchange *exchange)
{
    struct barrier *barrier = &exchange->barrier;
    int parent = parent_of(exchange->app->rank);
    MPI_Irecv(NULL, 0, MPI_BYTE, parent, TAG_RELEASED, MPI_COMM_WORLD, &barrier->from_parent);
    MPI_Isend(NULL, 0, MPI_BYTE, parent, TAG_ARRIVED, MPI_COMM_WORLD, &barrier->to_parent);
    barrier->phase = BARRIER_WAITING;
}

static void barrier_poll(struct exchange *exchange)
{
    struct barrier *barrier = &exchange->barrier;
    if (barrier->phase == BARRIER_ARRIVING) {
        bool all_arrived = true;
        for (int i = 0; i < TREE_CHILDREN; i++)
            all_arrived &= test(&barrier->from_child[i]);
        if (all_arrived && exchange->app->rank == 0)
            barrier_release_children(exchange);
        else if (all_arrived)
            barrier_tell_parent(exchange);
    } else if (barrier->phase == BARRIER_WAITING && test(&barrier->from_parent)) {
        barrier_release_children(exchange);
    }
}

static void barrier_leave(struct barrier *barrier)
{
    MPI_Status unused[TREE_CHILDREN];
    MPI_Wait(&barrier->to_parent, MPI_STATUS_IGNORE);
    MPI_Waitall(TREE_CHILDREN, barrier->to_child, unused);
    barrier->phase = BARRIER_OUTSIDE;
}

/* The exchange */

static MPI_Comm comm_of_round(const struct exchange *exchange)
{
    return exchange->comms[exchange->round % 2];
}

static int random_other_rank(const struct app *app, struct app_random *random)
{
    int other = (int)app_random_below(random, (uint64_t)app->ranks - 1);
    return other < app->rank ? other : other + 1;
}

static void send_message(struct exchange *exchange, struct app_random *random)
{
    int slot = exchange->send_count++;
    int receiver = random_other_rank(exchange->app, random);
    int tag = (int)app_random_below(random, TAGS);
    bool is_long = app_random_below(random, 32) == 0;
    int count = 1 + (int)app_random_below(random, is_long ? LONG_WORDS : SHORT_WORDS);
    exchange->buffers[slot][0] = exchange->round;
    for (int i = 1; i < count; i++)
        exchange->buffers[slot][i] = app_random_next(random);
    account_add(&exchange->sent[receiver], exchange->buffers[slot], count);
    MPI_Issend(exchange->buffers[slot], count, MPI_UINT64_T, receiver, tag, comm_of_round(exchange),
               &exchange->sends[slot]);
}

static void send_messages(struct exchange *exchange)
{
    struct app_random random =
        app_random_from(exchange->app->seed, (uint64_t)exchange->app->rank, exchange->round);
    uint64_t messages = app_random_below(&random, MOST_MESSAGES + 1);
    exchange->send_count = 0;
    for (uint64_t i = 0; i < messages; i++)
        send_message(exchange, &random);
}

static void receive_message(struct exchange *exchange, const MPI_Status *status)
{
    uint64_t words[LONG_WORDS], *hash = &exchange->app->hash;
    int count;
    MPI_Get_count(status, MPI_UINT64_T, &count);
    MPI_Recv(words, count, MPI_UINT64_T, status->MPI_SOURCE, status->MPI_TAG,
             comm_of_round(exchange), MPI_STATUS_IGNORE);
    app_verify(exchange->app, words[0] == exchange->round,
               "a message of round %" PRIu64 " came in round %" PRIu64, words[0], exchange->round);
    account_add(&exchange->received, words, count);
    app_hash_add(hash, (uint64_t)status->MPI_SOURCE);
    app_hash_add(hash, (uint64_t)status->MPI_TAG);
    app_hash_add(hash, app_spin(words[count - 1], options[OPTION_WORK].value));
}

/* Returns whether there was a message. */
static bool receive_if_any(struct exchange *exchange)
{
    int found;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_of_round(exchange), &found, &status);
    if (found)
        receive_message(exchange, &status);
    return found;
}

static bool all_acknowledged(struct exchange *exchange)
{
    int completed;
    MPI_Status unused[MOST_MESSAGES];
    MPI_Testall(exchange->send_count, exchange->sends, &completed, unused);
    return completed;
}

static void run_round(struct exchange *exchange)
{
    struct barrier *barrier = &exchange->barrier;
    send_messages(exchange);
    while (barrier->phase != BARRIER_PASSED) {
        if (!receive_if_any(exchange))
            app_yield();
        if (barrier->phase != BARRIER_OUTSIDE)
            barrier_poll(exchange);
        else if (all_acknowledged(exchange))
            barrier_enter(exchange);
    }
    barrier_leave(barrier);
}

static struct exchange *create_exchange(struct app *app)
{
    struct exchange *exchange = app_allocate(1, sizeof *exchange);
    exchange->app = app;
    exchange->sent = app_allocate((size_t)app->ranks, sizeof *exchange->sent);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &exchange->comms[i]);
    for (int i = 0; i < TREE_CHILDREN; i++)
        exchange->barrier.from_child[i] = exchange->barrier.to_child[i] = MPI_REQUEST_NULL;
    exchange->barrier.from_parent = exchange->barrier.to_parent = MPI_REQUEST_NULL;
    return exchange;
}

static void free_exchange(struct exchange *exchange)
{
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&exchange->comms[i]);
    free(exchange->sent);
    free(exchange);
}

/* Every rank learns what all others have sent to it, and compares. */
static void verify_received(struct exchange *exchange)
{
    struct app *app = exchange->app;
    MPI_Allreduce(MPI_IN_PLACE, exchange->sent, 2 * app->ranks, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    const struct account *sent = &exchange->sent[app->rank], *received = &exchange->received;
    app_verify(app, received->messages == sent->messages,
               "%" PRIu64 " messages received of %" PRIu64 " sent", received->messages,
               sent->messages);
    app_verify(app, received->checksum == sent->checksum, "the messages' checksums differ");
}

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    struct exchange *exchange = create_exchange(&app);
    for (; exchange->round < options[OPTION_SIZE].value; exchange->round++)
        run_round(exchange);
    verify_received(exchange);
    uint64_t messages = app_sum(exchange->received.messages);
    free_exchange(exchange);
    return app_result(&app, "messages=%" PRIu64, messages);
}
