/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: rough habits: the environment is tidied before MPI_Init, error handlers leave sends by
//     longjmp, and the last messages and MPI_Finalize are in a destructor
#include <setjmp.h>

#include "check.h"

enum { ROUNDS = 4, TAG = 1 };

static jmp_buf after;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(after, 1);
}

static void tidy(void)
{
    char name[64];
    extern char **environ;

    for (char **at = environ; *at;) {
        if (strncmp(*at, "REPRISE_", 8) == 0 && sscanf(*at, "%63[^=]", name) == 1)
            unsetenv(name), at = environ;
        else
            at++;
    }
}

static void exchange(void)
{
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

static void send_nowhere(void)
{
    long value = 0;

    if (setjmp(after) == 0) {
        MPI_Send(&value, 1, MPI_LONG, check.size + 1, TAG, MPI_COMM_WORLD);
        CHECK(0, "a send to nobody came back");
    }
}

/* Natively, too, the launcher of MPICH 4.2 kills some programs that finalize in a destructor. */
#if defined(MPI_ABI_VERSION) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40100000)
#define ENDS_BY_ATEXIT 1
#else
#define ENDS_BY_ATEXIT 0
__attribute__((destructor))
#endif
static void end(void)
{
    if (check.size == 0)
        return;
    send_nowhere();
    exchange();
    check_end();
}

int main(int argc, char **argv)
{
    MPI_Errhandler jumps;

    tidy();
    check_start(&argc, &argv);
    MPI_Comm_create_errhandler(handler, &jumps);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps);
    exchange();
    send_nowhere();
    exchange();
    if (ENDS_BY_ATEXIT)
        atexit(end);
    return 0;
}
