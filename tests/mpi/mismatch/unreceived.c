/* SPDX-License-Identifier: MIT */
// ranks: 3
// flags: -g
// about: messages that nobody receives are told at the end, and the status is the program's own
// case 3 one: reprise: 1 message was sent and never received: from rank 2 to rank 0 with tag 7
//     ({one})
// case 3 many: reprise: 12 messages were sent and never received: 2 from rank 1 to rank 0 with tag
//     0 ({many}); 2 from rank 1 to rank 0 with tag 1 ({many}); 2 from rank 1 to rank 0 with tag 2
//     ({many}); 2 from rank 2 to rank 0 with tag 0 ({many}); 2 from rank 2 to rank 0 with tag 1
//     ({many}); and 2 more
// case 3 copy: reprise: 2 messages were sent and never received: from rank 0 to rank 1 with tag 9
//     on a copy ({copy}); from rank 2 to rank 1 with tag 9 on a copy ({copy})
// case 3 probed: reprise: 1 message was sent and never received: from rank 0 to rank 1 with tag 5
//     ({probed})
// case 3 received:
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Comm copy;
    int rank, value = 0;
    const char *what = argv[1];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "a copy");
    if (!strcmp(what, "one") && rank == 2)
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD); /* one */
    for (int i = 0; i < 6 && !strcmp(what, "many") && rank > 0; i++)
        MPI_Send(&value, 1, MPI_INT, 0, i / 2, MPI_COMM_WORLD); /* many */
    if (!strcmp(what, "copy") && rank != 1)
        MPI_Send(&value, 1, MPI_INT, 1, 9, copy); /* copy */
    if (!strcmp(what, "probed") && rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); /* probed */
    if (!strcmp(what, "probed") && rank == 1)
        MPI_Probe(0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(what, "received"))
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % 3, 1, &value, 1, MPI_INT, MPI_ANY_SOURCE, 1,
                     copy, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 3;
}
