/* SPDX-License-Identifier: MIT */
// ranks: 3
// natively: 60
// about: what fails (requests of a communicator that returns errors, updates of a window), handlers
//     that ask for ranks, pointers to attributes that are kept, infos of windows, weighted graphs
//     without weights, windows that share memory
#include "check.h"

static int failures;

static void handler(MPI_Comm *comm, int *error, ...)
{
    int rank, size;

    MPI_Comm_rank(*comm, &rank);
    MPI_Comm_size(*comm, &size);
    check_note(rank * 100 + size);
    check_note(check_error_class(*error));
    failures++;
}

static void win_handler(MPI_Win *win, int *error, ...)
{
    (void)win;
    check_note(check_error_class(*error));
    failures++;
}

// A message that is too long, received by Irecv and Wait, or by Waitall beside the send of another.
static void truncate(MPI_Comm comm, int tag)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size,
        out[4] = {check.rank}, in = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    for (int all = 0; all < 2; all++) {
        MPI_Irecv(&in, 1, MPI_INT, before, tag, comm, &requests[0]);
        MPI_Isend(out, 4, MPI_INT, next, tag, comm, &requests[1]);
        int before_it = failures,
            rc = all ? MPI_Waitall(2, requests, statuses) : MPI_Wait(&requests[0], &statuses[0]);
        check_note(check_error_class(rc));
        CHECK(rc != MPI_SUCCESS || failures > before_it, "a truncated message is received");
        if (requests[1] != MPI_REQUEST_NULL)
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

static void errors(void)
{
    MPI_Comm returns, handled, half;
    MPI_Errhandler own;
    MPI_Request request;

#ifndef OPEN_MPI // calls the handler of MPI_COMM_WORLD
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
    MPI_Comm_dup(MPI_COMM_WORLD, &returns);
    MPI_Comm_set_errhandler(returns, MPI_ERRORS_RETURN);
    truncate(returns, 1);
    MPI_Comm_idup(MPI_COMM_WORLD, &handled, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(handled, own);
    check_note(check_error_class(MPI_Send(NULL, 0, MPI_INT, 99, 0, handled)));
    truncate(handled, 2);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check.rank, &half);
    MPI_Comm_set_errhandler(half, own);
    check_note(check_error_class(MPI_Send(NULL, 0, MPI_INT, 99, 0, half)));
    CHECK(failures > 1, "handlers are called");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&half);
    MPI_Comm_free(&handled);
    MPI_Comm_free(&returns);
}

static void attributes(void)
{
    int *kept, *other, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &kept, &flag);
    int value = *kept;
    for (int i = 0; i < 40; i++)
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &other, &flag);
    check_note(value);
    CHECK(*kept == value, "an attribute changed from %d to %d", value, *kept);
}

static void note_text(const char *text)
{
    while (*text)
        check_note(*text++);
}

static void note_info(MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int keys, flag;

    MPI_Info_get_nkeys(info, &keys);
    check_note(keys);
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        note_text(key);
        note_text(value);
    }
    MPI_Info_free(&info);
}

static void failing_updates(void)
{
    MPI_Errhandler own;
    MPI_Info info;
    MPI_Win win;
    long *mine, value = check.rank, got = -1;

    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_allocate(4 * sizeof *mine, sizeof *mine, info, MPI_COMM_WORLD, &mine, &win);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    note_info(info);
    memset(mine, 0, 4 * sizeof *mine);
    MPI_Win_create_errhandler(win_handler, &own);
    for (int i = 0; i < 2; i++) {
        int before = failures;
        MPI_Win_set_errhandler(win, i ? own : MPI_ERRORS_RETURN);
        MPI_Win_fence(0, win);
        check_note(check_error_class(MPI_Put(&value, 1, MPI_LONG, 99, 0, 1, MPI_LONG, win)));
        check_note(check_error_class(MPI_Put(&value, 1, MPI_LONG, 99, 0, 1, MPI_LONG, win)));
        MPI_Put(&value, 1, MPI_LONG, (check.rank + 1) % check.size, 1, 1, MPI_LONG, win);
        check_note(check_error_class(MPI_Get(&got, 1, MPI_LONG, 99, 0, 1, MPI_LONG, win)));
        MPI_Win_fence(0, win);
        check_note(mine[1]);
        check_note(failures - before);
        CHECK(failures - before == 3 * i, "%d failures", failures - before);
    }
    MPI_Errhandler_free(&own);
    MPI_Win_free(&win);
}

static void graph(void)
{
    int near[2] = {(check.rank + 1) % check.size, (check.rank + 2) % check.size},
        weights[2] = {3, 4}, sources[2], destinations[2], seen[2];
    MPI_Comm comm;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, weights, 2, near, weights,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors(comm, 2, sources, MPI_UNWEIGHTED, 2, destinations, seen);
    check_note(sources[0] * 1000 + sources[1] * 100 + destinations[0] * 10 + destinations[1]);
    check_note(seen[0] * 10 + seen[1]);
    MPI_Comm_free(&comm);
}

// What is put through one window is there for a get through another of the same memory.
static void shared_memory(void)
{
    enum { WORDS = 16 };
    static long memory[WORDS];
    int next = (check.rank + 1) % check.size, after = (check.rank + 2) % check.size;
    MPI_Win first, second;
    long got = -1;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &first) != MPI_SUCCESS)
        return; // as Open MPI does on one host, by default
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    MPI_Win_lock_all(0, first);
    MPI_Win_lock_all(0, second);
    for (int i = 0; i < 2 * WORDS; i++) {
        int at = i % WORDS;
        long value = 100 * check.rank + i;
        MPI_Put(&value, 1, MPI_LONG, next, at, 1, MPI_LONG, first);
        MPI_Win_flush(next, first);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Get(&got, 1, MPI_LONG, after, at * (int)sizeof *memory, 1, MPI_LONG, second);
        MPI_Win_flush(after, second);
        CHECK(got == 100 * next + i, "round %d: %ld", i, got);
        check_note(memory[at]);
        MPI_Barrier(MPI_COMM_WORLD);
        memory[at] = -value;
        MPI_Win_sync(first);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Get(&got, 1, MPI_LONG, next, at * (int)sizeof *memory, 1, MPI_LONG, second);
        MPI_Win_flush(next, second);
        CHECK(got == -(100 * next + i), "round %d: %ld was stored", i, got);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(first);
    MPI_Win_free(&first);
    MPI_Win_unlock_all(second);
    MPI_Win_fence(0, second);
    MPI_Put(&got, 1, MPI_LONG, next, 2 * sizeof *memory, 1, MPI_LONG, second);
    MPI_Win_fence(0, second);
    check_note(memory[2]);
    MPI_Win_free(&second);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    errors();
    attributes();
    failing_updates();
    graph();
    shared_memory();
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
