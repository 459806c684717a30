/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: a program that tells its ranks by what name it was called (tests/cli/solo.sh calls it by
//     one that is not its path)
#include "check.h"

#include <string.h>

int main(int argc, char **argv)
{
    char name[4096] = "";
    int length = (int)strlen(argv[0]) + 1;

    check_start(&argc, &argv);
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        strcpy(name, argv[0]);
    MPI_Bcast(name, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < length; i++)
        check_note(name[i]);
    return check_end();
}
