/* SPDX-License-Identifier: MIT */
// ranks: 2
// timeout: 120
// about: a program that loads the result of a one-sided read before the call that completes it:
//     alone it loads the same, at each call
#include "check.h"

enum { WORDS = 512, MANY = 100, POLLS = 20 };

static MPI_Win win;
static long *mine;
static int other, target; // that of the epoch

// All bytes that are there now.
static void load(const void *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        check_note((uint64_t)((const volatile unsigned char *)memory)[i]);
}

// Loads after calls of every kind: some have entries of their own in the log, others have none;
// some let MPI go on, others do not.
static void load_at_calls(const void *memory, size_t size)
{
    long word = 0;
    int flag, number;

    load(memory, size);
    for (int i = 0; i < POLLS; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
        load(memory, size);
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        load(memory, size);
        MPI_Put(&word, 1, MPI_LONG, target, WORDS - 1, 1, MPI_LONG, win);
        load(memory, size);
        MPI_Wtime();
        load(memory, size);
    }
}

static void fetch(void)
{
    long one = 1, result = -1;

    MPI_Fetch_and_op(&one, &result, MPI_LONG, target, 0, MPI_SUM, win);
    load_at_calls(&result, sizeof result);
    MPI_Win_flush(target, win);
    load(&result, sizeof result);
}

static void swap(void)
{
    int old = target, new = target + 10, result = -1;

    MPI_Compare_and_swap(&new, &old, &result, MPI_INT, target, 2, win);
    load_at_calls(&result, sizeof result);
    MPI_Win_flush(target, win);
    load(&result, sizeof result);
}

static void get(int bytes, int shift)
{
    struct {
        unsigned char bytes[256];
    } result;

    memset(&result, 0xee, sizeof result);
    MPI_Get(result.bytes + shift, bytes, MPI_BYTE, target, 3, bytes, MPI_BYTE, win);
    load_at_calls(&result, sizeof result); // what stands around it, too
    MPI_Win_flush_local(target, win);
    load_at_calls(&result, sizeof result);
    MPI_Win_flush(target, win);
    load(&result, sizeof result);
}

// Of one that is longer than what is looked at, the beginning.
static void get_long(void)
{
    long result[300];

    memset(result, 0xee, sizeof result);
    MPI_Get(result, 300, MPI_LONG, target, 0, 300, MPI_LONG, win);
    load_at_calls(result, 256);
    MPI_Win_flush(target, win);
    load(result, sizeof result);
}

static void get_accumulate(void)
{
    long more[3] = {1, 2, 3}, result[3] = {-1, -1, -1};

    MPI_Get_accumulate(more, 3, MPI_LONG, result, 3, MPI_LONG, target, 12, 3, MPI_LONG, MPI_SUM,
                       win);
    load_at_calls(result, sizeof result);
    MPI_Win_flush(target, win);
    load(result, sizeof result);
}

static void get_with_holes(void)
{
    int result[16];
    MPI_Datatype type;

    memset(result, 0xee, sizeof result);
    MPI_Type_vector(4, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Get(result, 1, type, target, 4, 4, MPI_INT, win);
    MPI_Type_free(&type);
    for (int i = 0; i < 3; i++) {
        result[1] = 100 + i; // in a hole, which is the program's
        load_at_calls(result, sizeof result);
    }
    MPI_Win_flush(target, win);
    load(result, sizeof result);
}

// What the program stores itself must not be taken for a result, nor be lost.
static void stores(void)
{
    long one = 1, result[2] = {-1, -1};

    for (int i = 0; i < 3; i++) {
        MPI_Fetch_and_op(&one, &result[1], MPI_LONG, target, 0, MPI_SUM, win);
        result[1] = -2 - i;
        load_at_calls(result, sizeof result);
        result[1] = (long)(intptr_t)&result; // which may be another alone
        CHECK(result[1] == (long)(intptr_t)&result, "a store is lost");
        MPI_Wtime();
        result[1] = -5;
        MPI_Win_flush(target, win);
        load(result, sizeof result);
    }
}

static void same_value(void)
{
    long result = -1;

    for (int i = 0; i < 3; i++) {
        MPI_Get(&result, 1, MPI_LONG, target, 5, 1, MPI_LONG, win);
        load_at_calls(&result, sizeof result);
        MPI_Win_flush(target, win);
        load(&result, sizeof result);
    }
}

static void many(void)
{
    long one = 1, results[MANY], last = -1;

    memset(results, 0xee, sizeof results);
    for (int i = 0; i < MANY; i++) {
        MPI_Get(&results[i], 1, MPI_LONG, target, 3 + i % 8, 1, MPI_LONG, win);
        load(&results[i], sizeof results[i]);
        MPI_Fetch_and_op(&one, &last, MPI_LONG, target, 0, MPI_SUM,
                         win); // several at once into one place
        load(&last, sizeof last);
    }
    MPI_Win_flush(target, win);
    load(results, sizeof results);
    load(&last, sizeof last);
}

static void requests(void)
{
    long more[2] = {5, 6}, result[8];
    MPI_Request request[2];
    int flag = 0;

    memset(result, 0xee, sizeof result);
    MPI_Rget(result, 4, MPI_LONG, target, 3, 4, MPI_LONG, win, &request[0]);
    load(result, sizeof result);
    MPI_Rget_accumulate(more, 2, MPI_LONG, &result[5], 2, MPI_LONG, target, 16, 2, MPI_LONG,
                        MPI_SUM, win, &request[1]);
    while (!flag) {
        load(result, sizeof result);
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    }
    load_at_calls(result, sizeof result);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    load(result, sizeof result);
}

static void with_locks(void)
{
    for (int to = 0; to < 2; to++) {
        target = to == 0 ? check.rank : other;
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        fetch();
        swap();
        get(8, 0);
        MPI_Win_unlock(target, win);
    }
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < 2; to++) {
        target = to == 0 ? check.rank : other;
        fetch();
        swap();
        get(64, 0);
        get(13, 5);
        get(200, 3);
        get_long();
        get_accumulate();
        get_with_holes();
        stores();
        same_value();
        many();
        requests();
    }
    MPI_Win_unlock_all(win);
}

// The target answers late: MPICH returns from a local flush before.
static void flush_locally(void)
{
    long result = -1;

    target = other;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (check.rank == 0)
        check_sleep_ms(50);
    else
        MPI_Get(&result, 1, MPI_LONG, target, 100, 1, MPI_LONG, win);
    MPI_Win_flush_local(target, win);
    load(&result, sizeof result);
    MPI_Win_flush(target, win);
    CHECK(check.rank == 0 || result == 0x0101010101010101, "not what the other has: %lx", result);
    load(&result, sizeof result);
    MPI_Win_unlock_all(win);
}

static void with_fences(void)
{
    long one = 1, result[2] = {-1, -1};

    target = other;
    for (int i = 0; i < 3; i++) {
        MPI_Win_fence(0, win);
        MPI_Get(&result[0], 1, MPI_LONG, other, 6, 1, MPI_LONG, win);
        load(result, sizeof result);
        MPI_Fetch_and_op(&one, &result[1], MPI_LONG, other, 20, MPI_SUM, win);
        load_at_calls(result, sizeof result);
        MPI_Win_fence(0, win);
        load(result, sizeof result);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
}

static void with_groups(void)
{
    long result = -1;
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &group);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Get(&result, 1, MPI_LONG, other, 7, 1, MPI_LONG, win);
    load_at_calls(&result, sizeof result);
    MPI_Win_complete(win);
    load(&result, sizeof result);
    MPI_Win_wait(win);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    other = 1 - check.rank;
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check.rank, 0, win);
    for (int i = 0; i < WORDS; i++)
        mine[i] = 0x0101010101010101 * (i % 100 + 1) + check.rank;
    mine[2] = check.rank;
    MPI_Win_unlock(check.rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    with_locks();
    flush_locally();
    MPI_Barrier(MPI_COMM_WORLD);
    with_fences();
    with_groups();
    MPI_Win_free(&win);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
