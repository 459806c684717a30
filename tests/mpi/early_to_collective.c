/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// about: rank 0 receives from anyone before it comes to calls in which others wait for it, early in
//     logical time: on files, of groups, between groups; nobody may wait for their clocks
#include "check.h"

enum { TAG = 1 };

// Rank 1 is late, and sends to rank 0; ranks 2 and 3 wait in what comes next.
static void before(int step)
{
    long value = -1;
    int flag;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 100 && check.rank == 1; i++)
        MPI_Iprobe(3, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (check.rank == 1)
        check_send(0, TAG, step, MPI_COMM_WORLD);
    if (check.rank == 0)
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_note(value);
}

static MPI_File on_files(const char *name)
{
    MPI_File file;
    char byte = (char)check.rank;

    before(0);
    int error = MPI_File_open(MPI_COMM_WORLD, name,
                              MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL, &file);
    CHECK(error == MPI_SUCCESS, "no file");
    before(1);
    MPI_File_write_at_all(file, check.rank, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    before(2);
    MPI_File_close(&file);
    return file;
}

static MPI_Comm of_a_group(void)
{
    MPI_Group world, group;
    MPI_Comm comm = MPI_COMM_NULL;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, (int[]){3, 2, 0}, &group);
    before(3);
    if (check.rank != 1)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return comm;
}

static void between_groups(void)
{
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, check.rank / 2, check.rank, &half);
    before(4);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check.rank < 2 ? 2 : 0, 7, &both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    char name[64];

    check_start(&argc, &argv);
    snprintf(name, sizeof name, "early-%s.dat",
             getenv("TEST_ORDER") ? getenv("TEST_ORDER") : "native");
    for (char *c = name; *c; c++)
        if (*c == ':') // MPI-IO takes what is before it for a kind of file system
            *c = '-';
    on_files(name);
    MPI_Comm comm = of_a_group();
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    between_groups();
    return check_end();
}
