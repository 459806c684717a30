/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: windows and one-sided operations of large counts: made, allocated and one within another;
//     counts and types that exceed an int
#include "check.h"

#if MPI_VERSION >= 4

enum { WORDS = 64 };
static const MPI_Count huge = 3000000000; // more than an int holds

static void note_words(const long *words, int count)
{
    for (int i = 0; i < count; i++)
        check_note(words[i]);
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void all_operations(long *mine, MPI_Win win)
{
    int next = (check.rank + 1) % check.size;
    long value = 100 + check.rank, one = 1, got[4] = {-1, -1, -1, -1}, old = -1, before = -1;
    MPI_Datatype every_second;
    MPI_Request request;

    MPI_Type_vector_c(2, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Win_fence(0, win);
    for (int i = 0; i < WORDS; i++)
        mine[i] = check.rank * 1000 + i;
    MPI_Win_fence(0, win);
    MPI_Put_c(&value, 1, MPI_LONG, next, 3, 1, MPI_LONG, win);
    MPI_Accumulate_c(&value, 1, MPI_LONG, next, 4, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get_c(got, 1, every_second, next, 3, 2, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Type_free(&every_second);
    note_words(got, 4);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10; i++) { // who comes first is a race
        MPI_Get_accumulate_c(&one, 1, MPI_LONG, &old, 1, MPI_LONG, 0, 20, 1, MPI_LONG, MPI_SUM,
                             win);
        MPI_Win_flush(0, win);
        check_note(old);
        MPI_Rget_accumulate_c(&one, 1, MPI_LONG, &before, 1, MPI_LONG, 1, 21, 1, MPI_LONG, MPI_SUM,
                              win, &request);
        finish(&request);
        check_note(before);
        MPI_Raccumulate_c(&old, 1, MPI_LONG, 2, 22, 1, MPI_LONG, MPI_REPLACE, win, &request);
        finish(&request);
        MPI_Rget_c(got, 1, MPI_LONG, 2, 22, 1, MPI_LONG, win, &request);
        finish(&request);
        note_words(got, 1);
    }
    MPI_Rput_c(&value, 1, MPI_LONG, next, 30, 1, MPI_LONG, win, &request);
    finish(&request);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
    note_words(mine, WORDS);
}

// Nothing is moved, so that it takes no memory.
static void huge_counts(MPI_Win win)
{
    int next = (check.rank + 1) % check.size;
    MPI_Datatype none;
    MPI_Request request;
    long value = 1, got = -7;

    MPI_Type_contiguous_c(0, MPI_LONG, &none);
    MPI_Type_commit(&none);
    MPI_Win_fence(0, win);
    MPI_Put_c(&value, huge, MPI_LONG, MPI_PROC_NULL, 0, huge, MPI_LONG, win);
    MPI_Get_c(&got, huge, MPI_LONG, MPI_PROC_NULL, 0, huge, MPI_LONG, win);
    MPI_Put_c(&value, huge, none, next, 0, huge, none, win);
    MPI_Get_c(&got, huge, none, next, 0, huge, none, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Rget_c(&got, huge, MPI_LONG, MPI_PROC_NULL, 0, huge, MPI_LONG, win, &request);
    finish(&request);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&none);
    CHECK(got == -7, "got %ld", got);
}

// Its elements have one long each, so far apart that an int does not hold the distance.
static void huge_types(MPI_Win win)
{
    int next = (check.rank + 1) % check.size;
    MPI_Datatype far, whole;
    MPI_Count size = 0;
    long got = -1;

    MPI_Type_create_resized_c(MPI_LONG, 0, 2 * huge, &far);
    MPI_Type_commit(&far);
    MPI_Type_contiguous_c(huge, MPI_LONG, &whole);
    MPI_Type_size_c(whole, &size);
    CHECK(size == huge * (MPI_Count)sizeof(long), "size %lld", (long long)size);
    MPI_Win_fence(0, win);
    MPI_Get_c(&got, 1, far, next, 40, 1, far, win);
    MPI_Win_fence(0, win);
    check_note(got);
    MPI_Type_free(&far);
    MPI_Type_free(&whole);
}

// A window of memory that is in another one already.
static void within(long *mine)
{
    long value = 9 + check.rank;
    MPI_Win win;

    MPI_Win_create_c(mine + 8, 8 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put_c(&value, 1, MPI_LONG, (check.rank + 1) % check.size, 1, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    note_words(mine, 16);
    MPI_Win_free(&win);
}

static void attributes(const long *mine, MPI_Win win)
{
    MPI_Aint *size;
    int flag, *unit;
    void *base;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == mine, "another base");
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == WORDS * sizeof *mine, "another size");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == sizeof *mine, "another unit");
}

int main(int argc, char **argv)
{
    static long memory[WORDS];
    long *mine;
    MPI_Win win;

    check_start(&argc, &argv);
    MPI_Win_allocate_c(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                       &win);
    all_operations(mine, win);
    huge_counts(win);
    huge_types(win);
    attributes(mine, win);
    MPI_Win_free(&win);
    MPI_Win_create_c(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_operations(memory, win);
    attributes(memory, win);
    within(memory);
    MPI_Win_free(&win);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
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
