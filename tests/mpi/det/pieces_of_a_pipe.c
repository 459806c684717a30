/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: into how many pieces a pipe cuts what passes through it does not change how often another
//     rank polls for what is sent afterwards
#include <unistd.h>

#include "check.h"

enum { BYTES = 4000, TAG = 1 };

static void pass(int count)
{
    char bytes[BYTES] = {0};
    int ends[2];

    CHECK(pipe(ends) == 0, "no pipe");
    for (int done = 0; done < BYTES; done += BYTES / count)
        CHECK(write(ends[1], bytes, (size_t)(BYTES / count)) == BYTES / count &&
                  read(ends[0], bytes, BYTES) == BYTES / count,
              "the pipe cuts otherwise");
    close(ends[0]);
    close(ends[1]);
}

int main(int argc, char **argv)
{
    int flag = 0, polls = 0;

    check_start(&argc, &argv);
    if (check.rank == 0) {
        pass(check.order == CHECK_UP ? 1 : 500);
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    }
    for (; check.rank == 1 && !flag; polls++)
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check_note(polls);
    if (check.rank == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_end();
}
