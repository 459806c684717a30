/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: messages of datatypes that were made by functions of large counts, with wildcards
//     (blocking, non-blocking, persistent, by a probe)
#include "check.h"

#if MPI_VERSION >= 4

enum { ROUNDS = 3, WORDS = 4 };

static long words[WORDS];
static MPI_Status status;
static MPI_Datatype ends; // the first and the last word

static void by_recv(int tag)
{
    MPI_Recv(words, 1, ends, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
}

static void by_irecv(int tag)
{
    MPI_Request request;

    MPI_Irecv(words, 1, ends, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
}

static void by_recv_init(int tag)
{
    MPI_Request request;

    MPI_Recv_init(words, 1, ends, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
}

static void by_mrecv(int tag)
{
    MPI_Message message;

    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(words, 1, ends, &message, &status);
}

static void send_paced(int tag, int step)
{
    long mine[WORDS] = {check_value(check.rank, step), 1, 2, check.rank};

    check_pace(step);
    MPI_Send(mine, 1, ends, 0, tag, MPI_COMM_WORLD);
}

static void make_type(void)
{
    MPI_Datatype word;

    MPI_Type_contiguous_c(1, MPI_LONG, &word);
    MPI_Type_vector_c(2, 1, WORDS - 1, word, &ends);
    MPI_Type_commit(&ends);
    MPI_Type_free(&word);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(int) = {by_recv, by_irecv, by_recv_init, by_mrecv};
    const int count = sizeof kinds / sizeof *kinds;

    check_start(&argc, &argv);
    make_type();
    for (int step = 0; step < ROUNDS * count; step++) {
        if (check.rank > 0)
            send_paced(step % count, step);
        for (int i = 1; check.rank == 0 && i < check.size; i++) {
            kinds[step % count](step % count);
            check_note((uint64_t)words[0]);
            check_note((uint64_t)status.MPI_SOURCE);
            CHECK(words[3] == status.MPI_SOURCE && words[1] == 0, "%ld %ld", words[3], words[1]);
        }
    }
    MPI_Bcast(words, 1, ends, 0, MPI_COMM_WORLD);
    check_note(words[0]);
    MPI_Type_free(&ends);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
