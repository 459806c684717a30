/* SPDX-License-Identifier: MIT */
/*
 * Loops of one MPI call each, to be counted on top of nullmpi.c, where messages with an odd tag
 * never come: "calls CASE ITERATIONS". "calls --list" prints the cases, one a line: name, group,
 * what it is called in the table, and the case whose count is to be taken off, since a receive that
 * is waited for must be posted first.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else /* to make the calls, nobody need count */
#define CALLGRIND_TOGGLE_COLLECT (void)0
#endif

enum { COMES = 2, NEVER_COMES = 3, SOME = 8, FEW = 4 };

static double buffer[SOME];
static MPI_Request requests[SOME], pending;
static MPI_Status statuses[SOME];
static int indices[SOME];

static void post(int source, int tag, MPI_Request *request)
{
    MPI_Irecv(buffer, 1, MPI_BYTE, source, tag, MPI_COMM_WORLD, request);
}

static void post_many(int count, int source, int tag)
{
    for (int i = 0; i < count; i++)
        post(source, tag, &requests[i]);
}

static void send(MPI_Request *request)
{
    MPI_Isend(buffer, 1, MPI_BYTE, 0, COMES, MPI_COMM_WORLD, request);
}

static void leave_wildcard_pending(void)
{
    post(MPI_ANY_SOURCE, NEVER_COMES, &pending);
}

/* Recorded */

static void recv_any(void)
{
    MPI_Recv(buffer, 1, MPI_BYTE, MPI_ANY_SOURCE, COMES, MPI_COMM_WORLD, &statuses[0]);
}

static void recv_any_ignore(void)
{
    MPI_Recv(buffer, 1, MPI_BYTE, MPI_ANY_SOURCE, COMES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void irecv_wait_any(void)
{
    post(MPI_ANY_SOURCE, COMES, &requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
}

static void test_no(void)
{
    int flag;
    MPI_Test(&pending, &flag, &statuses[0]);
}

static void test_yes_send(void)
{
    int flag;
    send(&requests[0]);
    MPI_Test(&requests[0], &flag, &statuses[0]);
}

static void test_yes_any(void)
{
    int flag;
    post(MPI_ANY_SOURCE, COMES, &requests[0]);
    MPI_Test(&requests[0], &flag, &statuses[0]);
}

static void prepare_named(void)
{
    post_many(SOME, 0, NEVER_COMES);
}

static void prepare_any(void)
{
    post_many(SOME, MPI_ANY_SOURCE, NEVER_COMES);
}

static void testsome_named(void)
{
    int count;
    send(&requests[SOME / 2]);
    MPI_Testsome(SOME, requests, &count, indices, statuses);
}

static void testsome_any(void)
{
    int count;
    post(MPI_ANY_SOURCE, COMES, &requests[SOME / 2]);
    MPI_Testsome(SOME, requests, &count, indices, statuses);
}

static void iprobe_no(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, NEVER_COMES, MPI_COMM_WORLD, &flag, &statuses[0]);
}

static void iprobe_yes(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, COMES, MPI_COMM_WORLD, &flag, &statuses[0]);
}

static void waitany_send(void)
{
    int index;
    send(&requests[FEW / 2]);
    MPI_Waitany(FEW, requests, &index, &statuses[0]);
}

static void waitany_any(void)
{
    int index;
    post(MPI_ANY_SOURCE, COMES, &requests[FEW / 2]);
    MPI_Waitany(FEW, requests, &index, &statuses[0]);
}

/* Through wrappers, which several places call at the same depth of the stack */

#define CALLER(name, wrapper, by)                                                                  \
    static __attribute__((noinline)) void name(void)                                               \
    {                                                                                              \
        taken += wrapper() + by;                                                                   \
    }

static int taken;

static __attribute__((noinline)) int take(void)
{
    return MPI_Recv(buffer, 1, MPI_BYTE, MPI_ANY_SOURCE, COMES, MPI_COMM_WORLD, &statuses[0]) +
           taken;
}

static __attribute__((noinline)) int take_more(void)
{
    return take() + 1;
}

CALLER(first_caller, take, 1)
CALLER(second_caller, take, 2)
CALLER(third_caller, take_more, 1)
CALLER(fourth_caller, take_more, 2)

static void recv_wrapped(void)
{
    static int turn;
    (++turn % 2 ? first_caller : second_caller)();
}

static void recv_wrapped_twice(void)
{
    static int turn;
    (++turn % 2 ? third_caller : fourth_caller)();
}

/* Idle */

static void recv_named(void)
{
    MPI_Recv(buffer, 1, MPI_BYTE, 0, COMES, MPI_COMM_WORLD, &statuses[0]);
}

static void sendrecv_named(void)
{
    MPI_Sendrecv(buffer, 1, MPI_BYTE, 0, 0, buffer, 1, MPI_BYTE, 0, COMES, MPI_COMM_WORLD,
                 &statuses[0]);
}

static void probe_named(void)
{
    MPI_Probe(0, COMES, MPI_COMM_WORLD, &statuses[0]);
}

static void irecv_named(void)
{
    post(0, COMES, &requests[0]);
}

static void isend(void)
{
    send(&requests[0]);
}

static void isends(void)
{
    for (int i = 0; i < FEW; i++)
        send(&requests[i]);
}

static void wait_send(void)
{
    send(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
}

static void wait_named(void)
{
    post(0, COMES, &requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
}

static void waitall_sends(void)
{
    for (int i = 0; i < FEW; i++)
        send(&requests[i]);
    MPI_Waitall(FEW, requests, statuses);
}

static void prepare_start(void)
{
    MPI_Send_init(buffer, 1, MPI_BYTE, 0, COMES, MPI_COMM_WORLD, &requests[0]);
}

static void prepare_start_beside_receive(void)
{
    prepare_start();
    MPI_Recv_init(buffer, 1, MPI_BYTE, 0, COMES, MPI_COMM_WORLD, &requests[1]);
}

static void start_send(void)
{
    MPI_Start(&requests[0]);
}

static const struct bench_case {
    const char *name, *group, *title;
    void (*prepare)(void);
    void (*call)(void);
    const char *minus;
} cases[] = {
    {"recv_any", "event", "Recv(ANY_SOURCE)", NULL, recv_any, "-"},
    {"recv_any_ignore", "event", "Recv(ANY_SOURCE), no status", NULL, recv_any_ignore, "-"},
    {"irecv_wait_any", "event", "Irecv(ANY_SOURCE) + Wait", NULL, irecv_wait_any, "-"},
    {"test_no", "event", "Test: no", leave_wildcard_pending, test_no, "-"},
    {"test_yes_send", "event", "Test: yes, a send", NULL, test_yes_send, "isend"},
    {"test_yes_any", "event", "Irecv(ANY_SOURCE) + Test: yes", NULL, test_yes_any, "-"},
    {"testsome_send", "event", "Testsome: 1 of 8, a send", prepare_named, testsome_named, "isend"},
    {"testsome_any", "event", "Irecv(ANY) + Testsome: 1 of 8 wild", prepare_any, testsome_any, "-"},
    {"iprobe_no", "event", "Iprobe(ANY_SOURCE): no", NULL, iprobe_no, "-"},
    {"iprobe_yes", "event", "Iprobe(ANY_SOURCE): yes", NULL, iprobe_yes, "-"},
    {"waitany_send", "event", "Waitany of 4, a send", prepare_named, waitany_send, "isend"},
    {"waitany_any", "event", "Irecv(ANY_SOURCE) + Waitany of 4", prepare_any, waitany_any, "-"},
    {"recv_wrapped", "more", "Recv(ANY_SOURCE), wrapped", NULL, recv_wrapped, "-"},
    {"recv_wrapped_twice", "more", "Recv(ANY_SOURCE), wrapped twice", NULL, recv_wrapped_twice,
     "-"},
    {"recv_named", "idle", "Recv, named", NULL, recv_named, "-"},
    {"sendrecv_named", "idle", "Sendrecv, named", NULL, sendrecv_named, "-"},
    {"probe_named", "idle", "Probe, named", NULL, probe_named, "-"},
    {"irecv_named", "idle", "Irecv, named", NULL, irecv_named, "-"},
    {"isend", "idle", "Isend", NULL, isend, "-"},
    {"isends", "more", "4 of Isend", NULL, isends, "-"},
    {"wait_send", "idle", "Wait, a send", NULL, wait_send, "isend"},
    {"wait_named", "idle", "Wait, named receive", NULL, wait_named, "irecv_named"},
    {"wait_send_pending", "idle", "Wait, a send; wildcard pending", leave_wildcard_pending,
     wait_send, "isend"},
    {"wait_named_pending", "idle", "Wait, named; wildcard pending", leave_wildcard_pending,
     wait_named, "irecv_named"},
    {"waitall_sends", "idle", "Waitall, 4 sends", NULL, waitall_sends, "isends"},
    {"start_send", "idle", "Start, a send", prepare_start, start_send, "-"},
    {"waitall_sends_pending", "more", "Waitall, 4 sends; wildcard pending", leave_wildcard_pending,
     waitall_sends, "isends"},
    {"start_send_beside", "more", "Start, a send; persistent receive exists",
     prepare_start_beside_receive, start_send, "-"},
};

static const struct bench_case *find(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    fprintf(stderr, "calls: no case '%s'\n", name);
    exit(2);
}

/* Only this is counted: not the end, where what is still in the ring is encoded on this thread. */
static void repeat(void (*call)(void), long count)
{
    CALLGRIND_TOGGLE_COLLECT;
    for (long i = 0; i < count; i++)
        call();
    CALLGRIND_TOGGLE_COLLECT;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            printf("%s\t%s\t%s\t%s\n", cases[i].name, cases[i].group, cases[i].title,
                   cases[i].minus);
        return 0;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: calls CASE ITERATIONS | --list\n");
        return 2;
    }
    const struct bench_case *chosen = find(argv[1]);
    MPI_Init(&argc, &argv);
    if (chosen->prepare)
        chosen->prepare();
    repeat(chosen->call, atol(argv[2]));
    MPI_Finalize();
    return 0;
}
