/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// across: which calls on files fail
// also: solo
// about: calls on files that fail: which error handler MPI calls, of a file, of MPI_FILE_NULL or of
//     MPI_COMM_WORLD, by default and by the program's own
#include <unistd.h>

#include "check.h"

static int of_file, of_null, of_world;

static void count_file(MPI_File *file, int *error, ...)
{
    check_note(check_error_class(*error));
    *(*file == MPI_FILE_NULL ? &of_null : &of_file) += 1;
}

static void count_other(MPI_File *file, int *error, ...)
{
    (void)file, (void)error;
    of_file += 100;
}

static void count_world(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    of_world++;
}

static void note(const char *what, int rc)
{
    printf("rank %d: %s: error %d, file %d, MPI_FILE_NULL %d, world %d\n", check.rank, what,
           check_error_class(rc), of_file, of_null, of_world);
    check_note(of_file + 1000 * of_null + 1000000 * of_world);
    of_file = of_null = of_world = 0;
}

static void use_files(const char *name)
{
    MPI_File file;
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0, rc = MPI_File_delete("no-such-file", MPI_INFO_NULL);

    note("delete", rc);
    note("open",
         MPI_File_open(MPI_COMM_SELF, "no-such-file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    rc = MPI_File_open(MPI_COMM_SELF, name,
                       MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file);
    note("open to write", rc);
    note("read", MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    note("read at", MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    rc = MPI_File_iwrite(file, &value, -1, MPI_INT, &request);
    note("a negative count", rc);
    if (rc == MPI_SUCCESS && request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("close", MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Errhandler file, other, world;
    char name[64];
    int from = 0;

    check_start(&argc, &argv);
    snprintf(name, sizeof name, "file_handlers.%d.%d", (int)getpid(), check.rank);
    use_files(name);
    MPI_Comm_create_errhandler(count_world, &world);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    MPI_File_create_errhandler(count_other, &other);
    MPI_File_create_errhandler(count_file, &file);
    use_files(name);
    MPI_File_set_errhandler(MPI_FILE_NULL, file);
    use_files(name);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD); // files take as long as they like
    for (int i = 1; i < check.size; i++)
        if (check.rank == 0) {
            MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_note(from);
        } else if (check.rank == i) {
            check_pace(1);
            MPI_Send(&check.rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    MPI_Errhandler_free(&world); // not that of MPI_FILE_NULL: MPICH 4.0 miscounts its uses
    printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash); // its own, also alone
    fflush(stdout);
    return check_end();
}
