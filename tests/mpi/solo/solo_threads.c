/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: alone: threads of a rank that send, receive from anyone, wait for any of several requests,
//     probe, poll until another thread tells them to stop, wait long, meet in collectives on
//     communicators of their own, and threads that are created and joined meanwhile
#include "../check_threads.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { ROUNDS = 6, TAG_ANY = 1, TAG_LONG = 50, TAG_PROBED = 70, TAG_CHILD = 90 };

static MPI_Comm comms[CHECK_THREADS];
static atomic_int stop;
static sem_t stopped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared;

// Each thread of each rank sends to all ranks; who takes which message is open.
static void send_to_all(struct check_thread *self, int tag, int round)
{
    long value = check.rank * 10000 + self->number * 100 + round;

    for (int r = 0; r < check.size; r++)
        MPI_Send(&value, 1, MPI_LONG, r, tag, MPI_COMM_WORLD);
}

static void take_any(struct check_thread *self, int round)
{
    long values[3];
    MPI_Request requests[3];
    MPI_Status status;

    check_pace(round);
    check_thread_pace(self);
    for (int i = 0; i < check.size; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_ANY, MPI_COMM_WORLD, &requests[i]);
    send_to_all(self, TAG_ANY, round);
    for (int i = 0, index; i < check.size; i++) {
        MPI_Waitany(check.size, requests, &index, &status);
        check_thread_note(self, index);
        check_thread_note_status(self, values[index], &status);
    }
}

static void take_probed(struct check_thread *self, int round)
{
    MPI_Message message;
    MPI_Status status;
    long value = -1;

    send_to_all(self, TAG_PROBED, round);
    for (int i = 0; i < check.size; i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, TAG_PROBED, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&value, 1, MPI_LONG, &message, MPI_STATUS_IGNORE);
        check_thread_note_status(self, value, &status);
    }
}

static void meet(struct check_thread *self, int round)
{
    long sum = 0, own = check.rank + self->number + round;
    MPI_Request request;

    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comms[self->number]);
    check_thread_note(self, sum);
    MPI_Ibcast(&sum, 1, MPI_LONG, round % check.size, comms[self->number], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_mutex_lock(&lock);
    shared = shared * 31 + self->number;
    check_thread_note(self, shared);
    pthread_mutex_unlock(&lock);
}

static void *be_child(void *data)
{
    long *value = data;
    int other = (check.rank + 1) % check.size;

    MPI_Sendrecv_replace(value, 1, MPI_LONG, other, TAG_CHILD, MPI_ANY_SOURCE, TAG_CHILD,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

// Two at a time, for some rounds.
static void have_children(struct check_thread *self)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t children[2];
        long values[2];
        for (int i = 0; i < 2; i++) {
            values[i] = check.rank * 1000 + round * 10 + i;
            pthread_create(&children[i], NULL, be_child, &values[i]);
        }
        for (int i = 0; i < 2; i++) {
            pthread_join(children[i], NULL);
            check_thread_note(self, values[i]);
        }
    }
}

static void *run(void *data)
{
    struct check_thread *self = data;

    for (int round = 0; round < ROUNDS; round++) {
        if (self->number < 2)
            take_any(self, round);
        else if (self->number == 2)
            take_probed(self, round);
        meet(self, round);
    }
    if (self->number == 3)
        have_children(self);
    return NULL;
}

// Polls for what never comes, as a thread for progress does; how often depends on the others.
static void *poll_on(void *unused)
{
    int flag = 0;

    while (!atomic_load(&stop))
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_LONG + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    sem_post(&stopped);
    return unused;
}

static long late;

static void *wait_long(void *unused)
{
    MPI_Recv(&late, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_LONG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t waits, polls;
    long own;

    if (!check_start_threads(&argc, &argv))
        return check_skip();
    own = check.rank + 7000;
    sem_init(&stopped, 0, 0);
    for (int i = 0; i < CHECK_THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    pthread_create(&waits, NULL, wait_long, NULL);
    pthread_create(&polls, NULL, poll_on, NULL);
    check_run_threads(run);
    check_sleep_ms(100);
    MPI_Send(&own, 1, MPI_LONG, (check.rank + 1) % check.size, TAG_LONG, MPI_COMM_WORLD);
    pthread_join(waits, NULL);
    check_note(late);
    atomic_store(&stop, 1);
    sem_wait(&stopped);
    pthread_join(polls, NULL);
    for (int i = 0; i < CHECK_THREADS; i++)
        MPI_Comm_free(&comms[i]);
    return check_end();
}
