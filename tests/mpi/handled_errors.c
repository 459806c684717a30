/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// across: which handler is called, and what the failed call returns
// also: clocks solo
// about: receives from any rank that fail, whose errors a handler of the program takes: MPIs differ
//     in which handler they call, and in what the failed call returns
#include "check.h"

enum { SHORT = 4, LONG = 8, TAG = 1, ROUNDS = 3 };

static int calls;

static void handler(MPI_Comm *comm, int *error, ...)
{
    int size;

    MPI_Comm_size(*comm, &size);
    check_note(100 * size + check_error_class(*error));
    calls++;
}

// The messages of rank 2 are too long.
static void receive(int way, MPI_Comm comm)
{
    char buffer[SHORT];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    int rc = MPI_SUCCESS, flag = 0, index = 0, tag = TAG + way;

    memset(&status, 0, sizeof status);
    if (way > 1 && way < 6)
        MPI_Irecv(buffer, SHORT, MPI_CHAR, MPI_ANY_SOURCE, tag, comm, &request);
    switch (way) {
    case 0:
        rc = MPI_Recv(buffer, SHORT, MPI_CHAR, MPI_ANY_SOURCE, tag, comm, &status);
        break;
    case 1:
        MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
        rc = MPI_Mrecv(buffer, SHORT, MPI_CHAR, &message, &status);
        break;
    case 2:
        rc = MPI_Wait(&request, &status);
        break;
    case 3:
        while (!flag && rc == MPI_SUCCESS && request != MPI_REQUEST_NULL)
            rc = MPI_Test(&request, &flag, &status);
        break;
    case 4:
        rc = MPI_Waitany(1, &request, &index, &status);
        break;
    default:
        rc = MPI_Waitall(1, &request, &status);
    }
    check_note(check_error_class(rc));
    check_note(status.MPI_SOURCE);
    check_note(status.MPI_TAG);
    CHECK(status.MPI_SOURCE == 2 || rc == MPI_SUCCESS, "way %d: error %d from %d", way, rc,
          status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    char buffer[LONG] = {0};
    MPI_Errhandler own;
    MPI_Comm comm;

    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    for (int way = 0; way < 6; way++)
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 1; i < check.size; i++)
                if (check.rank == 0) {
                    receive(way, comm);
                } else if (check.rank == i) {
                    check_pace(round);
                    MPI_Send(buffer, i == 2 ? LONG : SHORT, MPI_CHAR, 0, TAG + way, comm);
                }
    check_note(calls);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&comm);
    printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash); // its own, also alone
    fflush(stdout);
    return check_end();
}
