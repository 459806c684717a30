/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: wildcard receives inside MPI_Finalize, from the delete function of an attribute on
//     MPI_COMM_SELF
#include "check.h"

enum { ROUNDS = 3, TAG = 1, TAG_LATE = 2 };

static void exchange(int tag)
{
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, tag, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

static int at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    exchange(TAG_LATE);
    check_report();
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;

    check_start(&argc, &argv);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    exchange(TAG);
    MPI_Finalize();
    return 0;
}
