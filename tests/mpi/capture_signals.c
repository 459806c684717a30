/* SPDX-License-Identifier: MIT */
// ranks: 2
// det: differs
// native: differs
// record: --capture pid
// about: signals to the own process id are real in a replay, too; those to ids of the record reach
//     nobody
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void note(int number)
{
    seen += number == SIGUSR1;
}

static void await(int count)
{
    for (int i = 0; i < 5000 && seen < count; i++)
        usleep(1000);
    CHECK(seen == count, "%d signals, not %d", (int)seen, count);
}

// A helper's id is no number of the record.
static void end_helper(void)
{
    int status;
    pid_t helper = fork();

    if (helper == 0)
        for (;;)
            pause();
    CHECK(helper > 0 && kill(helper, SIGKILL) == 0, "kill of a child");
    CHECK(waitpid(helper, &status, 0) == helper && WIFSIGNALED(status) &&
              WTERMSIG(status) == SIGKILL,
          "the child");
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    union sigval none = {0};
    int own, other;

    check_start(&argc, &argv);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    own = (int)getpid();
    check_note(own);
    MPI_Sendrecv(&own, 1, MPI_INT, 1 - check.rank, 0, &other, 1, MPI_INT, MPI_ANY_SOURCE, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_note(other);
    CHECK(kill(own, SIGUSR1) == 0, "kill of this process");
    await(1);
    CHECK(sigqueue(own, SIGUSR1, none) == 0, "sigqueue to this process");
    await(2);
    CHECK(kill(own, 0) == 0, "this process is here");
    CHECK(kill(getppid(), 0) == 0, "the parent is here");
    CHECK(kill(other, SIGUSR2) == 0, "kill of the other rank");
    end_helper();
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
