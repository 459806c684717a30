/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// needs: mpi4
// also: clocks
// about: the large-count variants (MPI_Recv_c, Irecv_c, Sendrecv_c, Recv_init_c, Mrecv_c, ...) with
//     wildcards
#include "check.h"

#if MPI_VERSION >= 4

enum { ROUNDS = 3 };

static long value;
static MPI_Status status;

static void by_recv(int tag)
{
    MPI_Recv_c(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
}

static void by_irecv(int tag)
{
    MPI_Request request;

    MPI_Irecv_c(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
}

static void by_sendrecv(int tag)
{
    MPI_Sendrecv_c(NULL, 0, MPI_LONG, MPI_PROC_NULL, tag, &value, 1, MPI_LONG, MPI_ANY_SOURCE, tag,
                   MPI_COMM_WORLD, &status);
}

static void by_sendrecv_replace(int tag)
{
    MPI_Sendrecv_replace_c(&value, 1, MPI_LONG, MPI_PROC_NULL, tag, MPI_ANY_SOURCE, tag,
                           MPI_COMM_WORLD, &status);
}

static void by_recv_init(int tag)
{
    MPI_Request request;

    MPI_Recv_init_c(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
}

static void by_mrecv(int tag)
{
    MPI_Message message;

    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv_c(&value, 1, MPI_LONG, &message, &status);
}

static void by_imrecv(int tag)
{
    MPI_Message message;
    MPI_Request request;

    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
    MPI_Imrecv_c(&value, 1, MPI_LONG, &message, &request);
    MPI_Wait(&request, &status);
}

static void note(void)
{
    MPI_Count count = -1;

    MPI_Get_count_c(&status, MPI_LONG, &count);
    check_note((long)count);
    check_note_message(value, &status);
}

static void send_paced(int tag, int step)
{
    long mine = check_value(check.rank, step);

    check_pace(step);
    MPI_Send_c(&mine, 1, MPI_LONG, 0, tag, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(int) = {by_recv,      by_irecv, by_sendrecv, by_sendrecv_replace,
                                         by_recv_init, by_mrecv, by_imrecv};
    const int count = sizeof kinds / sizeof *kinds;

    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS * count; step++) {
        if (check.rank > 0)
            send_paced(step % count, step);
        for (int i = 1; check.rank == 0 && i < check.size; i++) {
            kinds[step % count](step % count);
            note();
        }
    }
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
