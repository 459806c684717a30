/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: ranks have children between their messages, which exit, abort, crash, are other programs:
//     what becomes of a child is nothing to the rank
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { EXITS, LEAVES, CRASHES, ABORTS, IS_KILLED, IS_A_PROGRAM, KINDS, TAG = 1 };

static void child(int kind)
{
    switch (kind) {
    case EXITS:
        exit(3);
    case LEAVES:
        _exit(4);
    case CRASHES:
        signal(SIGSEGV, SIG_DFL); // MPI's own handlers print
        raise(SIGSEGV);
        break;
    case ABORTS:
        signal(SIGABRT, SIG_DFL);
        abort();
    case IS_KILLED:
        raise(SIGKILL);
        break;
    default:
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
    }
    _exit(99);
}

/* As a program that leaves the handlers alone: those are inherited. */
static void child_crashes_as_it_is(void)
{
    fclose(stderr);
    raise(SIGSEGV);
    _exit(99);
}

static void have_child(int kind)
{
    static const int ends[] = {[EXITS] = 3 << 8,   [LEAVES] = 4 << 8,     [CRASHES] = SIGSEGV,
                               [ABORTS] = SIGABRT, [IS_KILLED] = SIGKILL, [IS_A_PROGRAM] = 5 << 8};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0 && kind == KINDS)
        child_crashes_as_it_is();
    if (pid == 0)
        child(kind);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "no child");
    CHECK(kind == KINDS || (status & ~0x80) == ends[kind], "child %d ended with %x", kind, status);
}

static void exchange(int step)
{
    if (check.rank > 0) {
        check_send_paced(0, TAG, step);
        return;
    }
    for (int i = 1; i < check.size; i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int kind = EXITS; kind <= KINDS; kind++) {
        exchange(kind);
        have_child(kind);
    }
    exchange(KINDS + 1);
    return check_end();
}
