/* SPDX-License-Identifier: MIT */
// ranks: 2
// timeout: 120
// about: a program that looks into the buffers of receives and non-blocking collectives before it
//     waits for them: alone it finds the same, at each call
#include <sys/mman.h>

#include "check.h"

enum { LOOKS = 20, WORDS = 8 };

static int other;

static void load(const long *memory)
{
    for (int i = 0; i < WORDS; i++)
        check_note((uint64_t)((const volatile long *)memory)[i]);
}

static void load_at_calls(const long *memory)
{
    int flag, number;

    load(memory);
    for (int i = 0; i < LOOKS; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        load(memory);
        MPI_Comm_size(MPI_COMM_WORLD, &number);
        load(memory);
    }
}

// The message is there before the receive, or comes later.
static void receives(int late)
{
    long out[WORDS], in[WORDS];
    MPI_Request request[2];

    for (int i = 0; i < WORDS; i++)
        out[i] = 100 * check.rank + i, in[i] = -1;
    if (late)
        MPI_Irecv(in, WORDS, MPI_LONG, other, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, WORDS - 2, MPI_LONG, other, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!late)
        MPI_Irecv(in, WORDS, MPI_LONG, other, 1, MPI_COMM_WORLD, &request[0]);
    load_at_calls(in);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    load(in);
}

static void tests(void)
{
    long out[WORDS] = {7, 8, 9}, in[WORDS] = {0};
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(in, WORDS, MPI_LONG, other, 2, MPI_COMM_WORLD, &request);
    check_sleep_ms(check.rank * 3);
    MPI_Send(out, WORDS, MPI_LONG, other, 2, MPI_COMM_WORLD);
    while (!flag) {
        load(in);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    load(in);
}

static void persistent(void)
{
    long out[WORDS] = {0}, in[2][WORDS] = {{0}};
    MPI_Request request[2];

    for (int i = 0; i < 2; i++)
        MPI_Recv_init(in[i], WORDS, MPI_LONG, other, 3 + i, MPI_COMM_WORLD, &request[i]);
    for (int round = 1; round < 4; round++) {
        out[3] = round;
        MPI_Send(out, WORDS, MPI_LONG, other, 3, MPI_COMM_WORLD);
        MPI_Send(out, WORDS, MPI_LONG, other, 4, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (round == 1)
            MPI_Start(&request[0]), MPI_Start(&request[1]);
        else
            MPI_Startall(2, request);
        load(in[1]);
        load_at_calls(in[0]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        in[0][0] = round; // it is the program's now
        load_at_calls(in[0]);
        load(in[1]);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void collectives(void)
{
    long out[WORDS], in[WORDS] = {0};
    MPI_Request request;

    for (int i = 0; i < WORDS; i++)
        out[i] = check.rank + i;
    MPI_Iallreduce(out, in, WORDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    load_at_calls(in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    load(in);
    MPI_Iallgather(out, WORDS / 2, MPI_LONG, in, WORDS / 2, MPI_LONG, MPI_COMM_WORLD, &request);
    load_at_calls(in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    load(in);
}

// One whose message never comes, in memory that is the program's for other things by then.
static void given_up(MPI_Request *request)
{
    long in[WORDS] = {1};

    MPI_Irecv(in, WORDS, MPI_LONG, other, 9, MPI_COMM_WORLD, request);
    load(in);
}

static void others(void)
{
    long memory[4 * WORDS];

    for (int i = 0; i < 4 * WORDS; i++)
        memory[i] = (long)(intptr_t)&memory[i] + i;
    for (int i = 0; i < 4 * WORDS; i++) {
        MPI_Wtime();
        CHECK(memory[i] == (long)(intptr_t)&memory[i] + i, "a store is lost");
        memory[i] += 5;
    }
    MPI_Wtime();
    for (int i = 0; i < 4 * WORDS; i++)
        CHECK(memory[i] == (long)(intptr_t)&memory[i] + i + 5, "a store is lost");
}

// Another such, in memory that is gone.
static void *given_back(MPI_Request *request)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    MPI_Irecv(memory, WORDS, MPI_LONG, other, 9, MPI_COMM_WORLD, request);
    munmap(memory, 4096);
    MPI_Wtime();
    return memory;
}

int main(int argc, char **argv)
{
    MPI_Request request, gone;

    check_start(&argc, &argv);
    other = 1 - check.rank;
    for (int i = 0; i < 5; i++) {
        receives(0);
        receives(1);
        tests();
        persistent();
        collectives();
    }
    given_up(&request);
    void *memory = given_back(&gone);
    others();
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(mmap(memory, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == memory,
          "no memory");
    MPI_Cancel(&gone);
    MPI_Wait(&gone, MPI_STATUS_IGNORE);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
