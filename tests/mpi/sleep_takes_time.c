/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: sleep counts
// native: same
// about: rank 1 sleeps before it sends, in every way; rank 2 makes calls meanwhile; in a
//     deterministic run, sleeping takes logical time, so that rank 2's message was sent first
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

enum { WAYS = 12, TAG = 1, MILLISECONDS = 40 };

static void wait_for_events(bool masked)
{
    struct epoll_event event;
    int descriptor = epoll_create1(0);

    if (masked)
        epoll_pwait(descriptor, &event, 1, MILLISECONDS, NULL);
    else
        epoll_wait(descriptor, &event, 1, MILLISECONDS);
    close(descriptor);
}

static void sleep_by(int way)
{
    struct timespec time = {0, MILLISECONDS * 1000000L};
    struct timeval interval = {0, MILLISECONDS * 1000L};
    sigset_t none;

    sigemptyset(&none);
    switch (way) {
    case 0:
        usleep(MILLISECONDS * 1000);
        break;
    case 1:
        nanosleep(&time, NULL);
        break;
    case 2:
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
        break;
    case 3:
        select(0, NULL, NULL, NULL, &interval);
        break;
    case 4:
        poll(NULL, 0, MILLISECONDS);
        break;
    case 5:
        thrd_sleep(&time, NULL);
        break;
    case 6:
        pselect(0, NULL, NULL, NULL, &time, NULL);
        break;
    case 7:
        ppoll(NULL, 0, &time, NULL);
        break;
    case 8:
        wait_for_events(false);
        break;
    case 9:
        wait_for_events(true);
        break;
    case 10:
        sigtimedwait(&none, NULL, &time);
        break;
    default:
        sleep(1);
        break;
    }
}

int main(int argc, char **argv)
{
    int flag;

    check_start(&argc, &argv);
    for (int way = 0; way < WAYS; way++) {
        long first = -1, second = -1;
        MPI_Status status;
        if (check.rank == 1)
            sleep_by(way);
        for (int i = 0; i < 20 && check.rank == 2; i++)
            MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (check.rank > 0)
            check_send(0, TAG, way, MPI_COMM_WORLD);
        if (check.rank == 0) {
            MPI_Recv(&first, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
            MPI_Recv(&second, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(!getenv("REPRISE_DET") || status.MPI_SOURCE == 2, "way %d: from %d first", way,
                  status.MPI_SOURCE);
        }
        check_note(first + second);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
