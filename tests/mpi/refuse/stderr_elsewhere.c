/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// refuses: MPI_Win_create
// record: --ranks none
// det: refused
// about: ranks that have sent their stderr elsewhere: whoever started the job is told why it ends
#include "../check.h"

int main(int argc, char **argv)
{
    long value = 7;
    MPI_Win win;

    check_start(&argc, &argv);
    CHECK(freopen("/dev/null", "w", stderr), "no /dev/null");
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    check_note(value);
    return check_end();
}
