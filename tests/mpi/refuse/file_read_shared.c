/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// refuses: MPI_File_read_shared
// det: refused
// about: a shared file pointer, whose place depends on who reads first
#include <unistd.h>

#include "../check.h"

static void create(const char *name)
{
    FILE *file = fopen(name, "wb");

    CHECK(file != NULL, "cannot create %s", name);
    for (long i = 0; i < check.size; i++)
        fwrite(&i, sizeof i, 1, file);
    fclose(file);
}

int main(int argc, char **argv)
{
    char name[128];
    long id = getpid(), value = -1, sum = 0;
    MPI_File file;

    check_start(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/reprise_read_shared.%ld", id);
    if (check.rank == 0)
        create(name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_read_shared(file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 3, "sum %ld", sum);
    check_note(sum);
    MPI_File_close(&file);
    return check_end();
}
