/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// refuses: MPI_File_write_shared
// det: refused
// about: the shared pointer of a file without explicit offsets (MPI_MODE_SEQUENTIAL)
#include <unistd.h>

#include "../check.h"

int main(int argc, char **argv)
{
    char name[128];
    long id = getpid(), value;
    MPI_Offset bytes = 0;
    MPI_File file;

    check_start(&argc, &argv);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    value = check.rank;
    snprintf(name, sizeof name, "/tmp/reprise_file_sequential.%ld", id);
    MPI_File_open(MPI_COMM_WORLD, name,
                  MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL |
                      MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_shared(file, &value, 1, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == (MPI_Offset)sizeof value * check.size, "%ld bytes", (long)bytes);
    check_note((long)bytes);
    MPI_File_close(&file);
    return check_end();
}
