/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// clocks: 1
// about: MPI-IO between messages with clocks: what the library sends inside is its own
#include "check.h"

enum { BLOCKS = 64, BLOCK = 16, TAG = 1 };

static char name[256];

// Blocks of the ranks in turn: collective calls exchange them before they write.
static MPI_File open_interleaved(void)
{
    MPI_File file;
    MPI_Datatype view;

    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS,
          "cannot open %s", name);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * check.size, MPI_INT, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, check.rank * BLOCK * (MPI_Offset)sizeof(int), MPI_INT, view, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&view);
    return file;
}

static void pass_on(int step, MPI_Request *requests, long *values)
{
    values[0] = check_value(check.rank, step);
    MPI_Irecv(&values[1], 1, MPI_LONG, (check.rank + 1) % check.size, TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(&values[0], 1, MPI_LONG, (check.rank + check.size - 1) % check.size, TAG,
              MPI_COMM_WORLD, &requests[1]);
}

static void check_passed(int step, MPI_Request *requests, const long *values)
{
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(values[1] == check_value((check.rank + 1) % check.size, step),
          "%ld was passed on in step %d", values[1], step);
    check_note(values[1]);
}

static void turn(int step)
{
    int out[BLOCKS * BLOCK], in[BLOCKS * BLOCK];
    MPI_Request requests[2], io;
    MPI_File file = open_interleaved();
    long values[2];

    for (int i = 0; i < BLOCKS * BLOCK; i++)
        out[i] = check.rank * 1000000 + step * 10000 + i;
    pass_on(step, requests, values);
    if (step % 2 == 0) {
        MPI_File_write_all(file, out, BLOCKS * BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    } else {
        MPI_File_iwrite_all(file, out, BLOCKS * BLOCK, MPI_INT, &io);
        MPI_Wait(&io, MPI_STATUS_IGNORE);
    }
    check_passed(step, requests, values);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    pass_on(step, requests, values);
    MPI_File_read_all(file, in, BLOCKS * BLOCK, MPI_INT, MPI_STATUS_IGNORE);
    check_passed(step, requests, values);
    MPI_File_close(&file);
    CHECK(memcmp(in, out, sizeof in) == 0, "other contents in step %d", step);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    snprintf(name, sizeof name, "envelope_io.%d", (int)check.order);
    for (int step = 0; step < 6; step++)
        turn(step);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    return check_end();
}
