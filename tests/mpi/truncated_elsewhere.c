/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: messages that are too long, on a communicator that returns errors while those of
//     MPI_COMM_WORLD are fatal
#include "check.h"

enum { ROUNDS = 3, TAG = 1 };

static void receive_too_little(MPI_Comm comm, int way)
{
    long value = -1;
    int rc;
    MPI_Status status;
    MPI_Request request;

    if (way == 0) {
        rc = MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comm, &status);
    } else {
        MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comm, &request);
        MPI_Recv(NULL, 0, MPI_BYTE, check.rank, TAG + 1, comm,
                 MPI_STATUS_IGNORE); /* asks after older ones */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                                MPI_ERRORS_RETURN); /* MPICH tells errors of requests there */
        rc = MPI_Wait(&request, &status);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    CHECK(check_error_class(rc) == MPI_ERR_TRUNCATE, "error class %d", check_error_class(rc));
    check_note(status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int step = 0; step < 2 * ROUNDS; step++) {
        long values[4] = {check.rank, step, 0, 0};
        if (check.rank > 0) {
            check_pace(step);
            MPI_Send(values, 4, MPI_LONG, 0, TAG, comm);
            continue;
        }
        for (int i = 1; i < check.size; i++) {
            MPI_Request self;
            MPI_Isend(NULL, 0, MPI_BYTE, 0, TAG + 1, comm, &self);
            receive_too_little(comm, step % 2);
            if (step % 2 == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG + 1, comm, MPI_STATUS_IGNORE);
            MPI_Wait(&self, MPI_STATUS_IGNORE);
        }
    }
    MPI_Comm_free(&comm);
    return check_end();
}
