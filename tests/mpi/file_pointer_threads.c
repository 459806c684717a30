/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: differs
// det: refused: by another thread
// about: a shared file pointer that several threads of each rank use
#include "check_threads.h"

#include <unistd.h>

enum { ROUNDS = 4 };

static MPI_File file;

// A rank's own records come in any order; those of another rank are between them.
static void *write_records(void *data)
{
    struct check_thread *self = data;
    MPI_Offset place = -1;
    long value;

    for (int round = 0; round < ROUNDS; round++) {
        value = check_value(check.rank * CHECK_THREADS + self->number + 1, round);
        check_thread_pace(self);
        MPI_File_write_shared(file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
        MPI_File_get_position_shared(file, &place);
        check_thread_note(self, (long)place);
    }
    return NULL;
}

static void read_records(void)
{
    MPI_Offset size = 0;
    long value;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &size);
    CHECK(size == (MPI_Offset)sizeof value * ROUNDS * CHECK_THREADS * check.size, "%ld bytes",
          (long)size);
    for (MPI_Offset at = 0; at < size; at += (MPI_Offset)sizeof value) {
        MPI_File_read_at(file, at, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
        check_note(value);
    }
}

int main(int argc, char **argv)
{
    char name[128];
    long id = getpid();

    if (!check_start_threads(&argc, &argv))
        return check_skip();
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/reprise_file_pointer_threads.%ld", id);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    check_run_threads(write_records);
    read_records();
    MPI_File_close(&file);
    return check_end();
}
