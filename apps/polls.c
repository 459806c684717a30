/* SPDX-License-Identifier: MIT */
/*
 * A stress of polling: receives that are posted and then tested until their message is there
 * (mpiTest in the evaluation of Deterministic Message Passing).
 *
 * In each round a rank sends a small message to each of its next ranks around a ring, and polls for
 * those of the ranks before it, in one of three ways by turns: a receive from each rank by name,
 * and MPI_Test; receives from any source, and MPI_Testany; MPI_Iprobe from any source, and a
 * receive. After a poll that finds nothing it computes a little and yields. In rounds of the first
 * kind one message in sixteen is long, and the sends are polled too.
 *
 * The hash holds which message came after how many polls that found nothing, so that nearly no two
 * runs have the same result. Contents depend on the sender and the round only: what is received
 * must be what was sent. A rank needs the messages of those before it to go on, so no two are
 * further apart than the ring is long; tags that come again after many more rounds keep the rounds
 * apart.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>

enum { MOST_PARTNERS = 3, SHORT_WORDS = 16, LONG_WORDS = 4096, ROUND_TAGS = 16384 };
enum { POLL_TEST, POLL_TESTANY, POLL_IPROBE, POLL_KINDS };
enum { OPTION_SIZE, OPTION_WORK };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "rounds", 8000, 1, UINT64_C(1) << 40},
    [OPTION_WORK] = {"work", "arithmetic steps after a poll that finds nothing, 1 to 2 ns each",
                     100, 0, UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"polls",
                                     "Small messages are polled for; the result holds the polls.",
                                     1, options};

struct mailbox {
    struct app *app;
    int partners; /* ranks to send to, and as many to receive from */
    uint64_t round;
    uint64_t outgoing[MOST_PARTNERS][LONG_WORDS];
    uint64_t incoming[MOST_PARTNERS][LONG_WORDS];
    MPI_Request sends[MOST_PARTNERS];
    MPI_Request receives[MOST_PARTNERS];
    uint64_t polls; /* that found nothing, since the last that found something */
    uint64_t all_polls;
    uint64_t spun;           /* what the arithmetic came to */
    uint64_t sent, received; /* sums of words */
};

static int next_rank(const struct app *app, int distance)
{
    return (app->rank + distance) % app->ranks;
}

static int previous_rank(const struct app *app, int distance)
{
    return (app->rank + app->ranks - distance) % app->ranks;
}

static int tag_of_round(const struct mailbox *box)
{
    return (int)(box->round % ROUND_TAGS);
}

static int poll_kind(const struct mailbox *box)
{
    return (int)(box->round % POLL_KINDS);
}

/* Messages */

static int message_length(const struct mailbox *box, int sender)
{
    bool is_long =
        poll_kind(box) == POLL_TEST && app_mix(box->round + (uint64_t)sender * 7919) % 16 == 0;
    return is_long ? LONG_WORDS : SHORT_WORDS;
}

static struct app_random message_words(const struct mailbox *box, int sender)
{
    return app_random_from(box->app->seed, (uint64_t)sender, box->round);
}

static void send_messages(struct mailbox *box)
{
    int length = message_length(box, box->app->rank);
    for (int i = 0; i < box->partners; i++) {
        struct app_random random = message_words(box, box->app->rank);
        for (int word = 0; word < length; word++)
            box->sent += box->outgoing[i][word] = app_random_next(&random);
        MPI_Isend(box->outgoing[i], length, MPI_UINT64_T, next_rank(box->app, 1 + i),
                  tag_of_round(box), MPI_COMM_WORLD, &box->sends[i]);
    }
}

static void take_message(struct mailbox *box, int slot, const MPI_Status *status)
{
    struct app_random random = message_words(box, status->MPI_SOURCE);
    int length, wrong = 0;
    MPI_Get_count(status, MPI_UINT64_T, &length);
    for (int word = 0; word < length; word++) {
        wrong += box->incoming[slot][word] != app_random_next(&random);
        box->received += box->incoming[slot][word];
    }
    app_verify(box->app, wrong == 0 && length == message_length(box, status->MPI_SOURCE),
               "the message of rank %d in round %" PRIu64 " has %d wrong words", status->MPI_SOURCE,
               box->round, wrong);
}

/* Polls */

static void note_found(struct mailbox *box, int what)
{
    app_hash_add(&box->app->hash, (uint64_t)what);
    app_hash_add(&box->app->hash, box->polls);
    box->all_polls += box->polls;
    box->polls = 0;
}

static void note_nothing(struct mailbox *box)
{
    box->polls++;
    box->spun = app_spin(box->spun, options[OPTION_WORK].value);
    app_yield();
}

static void post_receives(struct mailbox *box, bool by_name)
{
    for (int i = 0; i < box->partners; i++)
        MPI_Irecv(box->incoming[i], LONG_WORDS, MPI_UINT64_T,
                  by_name ? previous_rank(box->app, 1 + i) : MPI_ANY_SOURCE, tag_of_round(box),
                  MPI_COMM_WORLD, &box->receives[i]);
}

/* The ways to poll: each returns whether there is a message, and if so the slot that holds it. */

static bool find_by_test(struct mailbox *box, int *slot, MPI_Status *status)
{
    for (int i = 0; i < box->partners; i++) {
        int completed = 0;
        if (box->receives[i] != MPI_REQUEST_NULL)
            MPI_Test(&box->receives[i], &completed, status);
        *slot = i;
        if (completed)
            return true;
    }
    return false;
}

static bool find_by_testany(struct mailbox *box, int *slot, MPI_Status *status)
{
    int completed;
    MPI_Testany(box->partners, box->receives, slot, &completed, status);
    return completed;
}

static bool find_by_iprobe(struct mailbox *box, int *slot, MPI_Status *status)
{
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_of_round(box), MPI_COMM_WORLD, &found, status);
    *slot = 0;
    if (found)
        MPI_Recv(box->incoming[0], LONG_WORDS, MPI_UINT64_T, status->MPI_SOURCE, status->MPI_TAG,
                 MPI_COMM_WORLD, status);
    return found;
}

static void poll_receives(struct mailbox *box, bool (*find)(struct mailbox *, int *, MPI_Status *))
{
    for (int left = box->partners; left > 0;) {
        int slot;
        MPI_Status status;
        if (!find(box, &slot, &status)) {
            note_nothing(box);
            continue;
        }
        take_message(box, slot, &status);
        note_found(box, status.MPI_SOURCE);
        left--;
    }
}

static void poll_sends(struct mailbox *box)
{
    for (int i = 0; i < box->partners; i++) {
        int completed = 0;
        for (MPI_Test(&box->sends[i], &completed, MPI_STATUS_IGNORE); !completed;
             MPI_Test(&box->sends[i], &completed, MPI_STATUS_IGNORE))
            note_nothing(box);
        note_found(box, i);
    }
}

static void run_round(struct mailbox *box)
{
    MPI_Status unused[MOST_PARTNERS];
    int kind = poll_kind(box);
    if (kind != POLL_IPROBE)
        post_receives(box, kind == POLL_TEST);
    send_messages(box);
    if (kind == POLL_TEST) {
        poll_receives(box, find_by_test);
        poll_sends(box);
    } else {
        poll_receives(box, kind == POLL_TESTANY ? find_by_testany : find_by_iprobe);
    }
    MPI_Waitall(box->partners, box->sends, unused);
}

static struct mailbox *create_mailbox(struct app *app)
{
    struct mailbox *box = app_allocate(1, sizeof *box);
    int others = app->ranks > 1 ? app->ranks - 1 : 1; /* a rank alone sends to itself */
    box->app = app;
    box->partners = others < MOST_PARTNERS ? others : MOST_PARTNERS;
    box->spun = app_mix(app->seed);
    return box;
}

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    struct mailbox *box = create_mailbox(&app);
    for (; box->round < options[OPTION_SIZE].value; box->round++)
        run_round(box);

    app_verify(&app,
               box->spun == app_spin_expected(app_mix(app.seed),
                                              box->all_polls * options[OPTION_WORK].value),
               "the arithmetic is wrong");
    app_verify(&app, app_sum(box->sent) == app_sum(box->received),
               "what was received is not what was sent");
    app_hash_add(&app.hash, box->spun);
    uint64_t polls = app_sum(box->all_polls),
             messages = app_sum((uint64_t)box->partners * box->round);
    free(box);
    return app_result(&app, "messages=%" PRIu64 " polls=%" PRIu64, messages, polls);
}
