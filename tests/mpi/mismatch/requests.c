/* SPDX-License-Identifier: MIT */
// ranks: 2
// flags: -g
// about: requests that are used after they were freed or completed, through a copy of their handle
// case 118 wait any free: error: MPI_Wait ({wait}) uses a request that was freed ({free})
// case 118 wait named free: error: MPI_Wait ({wait}) uses a request that was freed ({free})
// case 118 test named free: error: MPI_Test ({test}) uses a request that was freed ({free})
// case 118 wait send free: error: MPI_Wait ({wait}) uses a request that
// case 118 wait ssend free: error: MPI_Wait ({wait}) uses a request that was freed ({free})
// case 118 waitall persistent free: error: MPI_Waitall ({waitall}) uses a request that was freed
//     ({free})
// case 118 start persistent free: error: MPI_Start ({start}) uses a request that was freed ({free})
// case 118 wait any complete: error: MPI_Wait ({wait}) uses a request that is complete already
// case 118 wait named complete: error: MPI_Wait ({wait}) uses a request that is complete already
// case 118 waitall barrier complete: error: MPI_Waitall ({waitall}) uses a request that is complete
//     already
// case 0 nothing any complete:
// case 0 nothing named free:
#include <mpi.h>
#include <string.h>

static int rank, value;

static MPI_Request begin(const char *what)
{
    MPI_Request request;

    if (!strcmp(what, "any"))
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    else if (!strcmp(what, "named"))
        MPI_Irecv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    else if (!strcmp(what, "send"))
        MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    else if (!strcmp(what, "ssend"))
        MPI_Issend(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    else if (!strcmp(what, "barrier"))
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    return request;
}

static void use(const char *how, MPI_Request request)
{
    MPI_Status status;
    int flag;

    if (!strcmp(how, "wait"))
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* wait */
    if (!strcmp(how, "waitall"))
        MPI_Waitall(1, &request, &status); /* waitall */
    if (!strcmp(how, "start"))
        MPI_Start(&request); /* start */
    for (flag = strcmp(how, "test") != 0; !flag;)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE); /* test */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request = begin(argv[2]), copy = request;
    if (strstr("any named", argv[2]))
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    if (strcmp(argv[3], "free"))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Request_free(&request); /* free */
    use(argv[1], copy);
    return MPI_Finalize();
}
