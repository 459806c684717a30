/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// about: a shared file pointer where all ranks write and read together, in the order of ranks;
//     before each call one rank waits for messages of anyone, which the others send first
#include <unistd.h>

#include "../check.h"

enum { ROUNDS = 3, TAG = 1 };

/* Who waits for them must know that those who have come to the file send no more. */
static void collect(int collector)
{
    MPI_Status status;
    long value = 0;

    if (check.rank != collector) {
        check_send(collector, TAG, check.rank, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < check.size; i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note(status.MPI_SOURCE);
    }
}

int main(int argc, char **argv)
{
    char name[128];
    long id = getpid(), value;
    MPI_File file;

    check_start(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/reprise_files_in_order.%ld", id);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int round = 0; round < ROUNDS; round++) {
        value = round * 10 + check.rank;
        collect(round % check.size);
        MPI_File_write_ordered(file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
    }
    collect(1);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int round = 0; round < ROUNDS; round++) {
        collect(round % check.size);
        MPI_File_read_ordered(file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
        CHECK(value == round * 10 + check.rank, "round %d: %ld", round, value);
        check_note(value);
    }
    MPI_File_close(&file);
    return check_end();
}
