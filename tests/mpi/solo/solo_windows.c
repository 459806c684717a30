/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: one-sided communication: fences, post-start-complete-wait, locks, flushes, polls of window
//     memory, requests, all reads and updates, windows of own and dynamic memory, attributes
#include "check.h"

enum { WORDS = 64 };

static void note_words(const long *words, int count)
{
    for (int i = 0; i < count; i++)
        check_note(words[i]);
}

static void fences(long *mine, MPI_Win win)
{
    int next = (check.rank + 1) % check.size;
    long value = 100 + check.rank, got[4] = {-1, -1, -1, -1};
    MPI_Datatype every_second;

    MPI_Type_vector(2, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < WORDS; i++)
        mine[i] = check.rank * 1000 + i;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, next, 3, 1, MPI_LONG, win);
    MPI_Accumulate(&value, 1, MPI_LONG, next, 4, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    mine[9] = 17; // a store of its own, beside those of others
    MPI_Get(got, 1, every_second, next, 3, 2, MPI_LONG, win);
    MPI_Type_free(&every_second);
    MPI_Win_fence(0, win);
    note_words(got, 4);
    note_words(mine, WORDS);
}

static void posts(long *mine, MPI_Win win)
{
    MPI_Group world, next, before;
    long value = 7 * check.rank + 1;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){(check.rank + 1) % check.size}, &next);
    MPI_Group_incl(world, 1, (int[]){(check.rank + check.size - 1) % check.size}, &before);
    MPI_Win_post(before, 0, win);
    MPI_Win_start(next, 0, win);
    MPI_Put(&value, 1, MPI_LONG, (check.rank + 1) % check.size, 11, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check_note(mine[11]);
    MPI_Group_free(&world);
    MPI_Group_free(&next);
    MPI_Group_free(&before);
}

static void locks(long *mine, MPI_Win win)
{
    long one = 1, old = -1, two[2] = {-1, -1}, compare = 0, result = -1;
    MPI_Request request;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check.rank, 0, win);
    mine[20] = mine[21] = mine[22] = mine[23] = 0;
    MPI_Win_unlock(check.rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) { // who comes first is a race
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&old, 1, MPI_LONG, 0, 20, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        check_note(old);
        old = old * 3 + check.rank;
        MPI_Put(&old, 1, MPI_LONG, 0, 20, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 20; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 21, MPI_SUM, win);
        MPI_Win_flush_local(1, win);
        check_note(old);
        MPI_Get_accumulate(&one, 1, MPI_LONG, two, 1, MPI_LONG, 2, 22, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush_all(win);
        check_note(two[0]);
        MPI_Compare_and_swap(&one, &compare, &result, MPI_LONG, 0, 23, win);
        MPI_Win_flush(0, win);
        check_note(result);
        compare = result;
        one = compare + 1 + check.rank;
    }
    MPI_Rget(two, 2, MPI_LONG, 1, 20, 2, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note_words(two, 2);
    MPI_Rput(&check.notes, 1, MPI_LONG, check.rank, 30, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check.rank, 0, win);
    note_words(mine, WORDS);
    MPI_Win_unlock(check.rank, win);
}

// How often a rank looks before it sees what another wrote is a race, and what it sees first as
// well.
static void polls(volatile long *mine, MPI_Win win)
{
    long tries = 0, value = check.rank + 1;

    MPI_Win_lock_all(0, win);
    mine[40] = mine[41] = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check_pace(check.rank);
    for (int r = 0; r < check.size; r++)
        if (r != check.rank)
            MPI_Put(&value, 1, MPI_LONG, r, 40 + (check.rank > r ? check.rank - 1 : check.rank) % 2,
                    1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    while (mine[40] == 0 || mine[41] == 0) {
        tries++;
        check_note(mine[40] * 10 + mine[41]);
        int flag; // MPI makes no progress by itself
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Win_sync(win);
    }
    check_note(tries);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void attributes(long *mine, MPI_Win win)
{
    MPI_Aint *size;
    MPI_Group group;
    int *unit, flag, members;
    void *base;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == mine, "another base");
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == WORDS * sizeof *mine, "another size");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == sizeof *mine, "another unit");
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &members);
    CHECK(members == check.size, "another group");
    MPI_Group_free(&group);
    MPI_Win_set_name(win, "words");
}

// Open MPI makes these only where memory of others can be reached directly.
static void other_windows(void)
{
    static long memory[WORDS], attached[WORDS];
    long value = 5 + check.rank;
    MPI_Win win;
    MPI_Aint address, all[8];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc =
        MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rc == MPI_SUCCESS) {
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_LONG, (check.rank + 1) % check.size, 8, 1, MPI_LONG, win);
        memory[2] = value;
        MPI_Win_fence(0, win);
        note_words(memory, WORDS);
        MPI_Win_free(&win);
    }
    rc = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rc == MPI_SUCCESS) {
        MPI_Win_attach(win, attached, sizeof attached);
        MPI_Get_address(attached, &address);
        MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_LONG, (check.rank + 1) % check.size,
                all[(check.rank + 1) % check.size] + 16, 1, MPI_LONG, win);
        attached[3] = value;
        MPI_Win_fence(0, win);
        note_words(attached, WORDS);
        MPI_Win_detach(win, attached);
        MPI_Win_free(&win);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    long *mine;
    MPI_Win win;

    check_start(&argc, &argv);
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    fences(mine, win);
    posts(mine, win);
    MPI_Win_fence(0, win);
    locks(mine, win);
    polls(mine, win);
    attributes(mine, win);
    MPI_Win_free(&win);
    other_windows();
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
