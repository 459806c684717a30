/* SPDX-License-Identifier: MIT */
// ranks: 2
// also: solo
// det: refused: by another thread
// native: differs
// record: --capture all
// about: four threads a rank ask the same clocks and devices at one time, while they send and
//     receive
#include "check_threads.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 30 };

static void ask(struct check_thread *self)
{
    struct timespec t;
    struct timeval v;
    unsigned char bytes[11];

    clock_gettime(CLOCK_MONOTONIC, &t);
    check_thread_note(self, (long)t.tv_sec);
    check_thread_note(self, t.tv_nsec);
    gettimeofday(&v, NULL);
    check_thread_note(self, (long)v.tv_usec);
    check_thread_note(self, (long)time(NULL));
    CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "getrandom");
    for (size_t i = 0; i < sizeof bytes; i++)
        check_thread_note(self, bytes[i]);
}

static void *run(void *data)
{
    struct check_thread *self = data;
    MPI_Status status;
    long value;

    for (int step = 0; step < STEPS; step++) {
        ask(self);
        check_send(1 - check.rank, 0, self->number * 1000 + step, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        check_thread_note(self, value);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (!check_start_threads(&argc, &argv))
        return check_skip();
    check_run_threads(run);
    return check_end();
}
