/* SPDX-License-Identifier: MIT */
// ranks: 2
// timeout: 120
// about: one-sided reads of all kinds at random, some under way at once, completed in all ways,
//     whose results the program loads at any time, and at times stores into: alone it loads the
//     same
#include "check.h"

enum { STEPS = 2000, SLOTS = 12, SLOT = 512, LOADED = 256, STORES = 5, WORDS = 1024 };
enum { FREE, UNTIL_FLUSH, UNTIL_WAIT };

static MPI_Win win;
static MPI_Datatype holes;
static uint64_t seed;

static struct {
    long words[SLOT / sizeof(long)];
    int state, stores;
    MPI_Request request;
} slots[SLOTS];

static int below(int limit)
{
    seed = check_mix(seed + 1);
    return (int)(seed % (uint64_t)limit);
}

static void begin(int slot, int kind)
{
    char *bytes = (char *)slots[slot].words + below(64);
    static long one = 1, compare = 2; // they are in use until the call that completes it
    long *word = slots[slot].words;
    int target = below(check.size), at = below(WORDS / 2), count = 1 + below(below(4) ? 20 : 192);

    slots[slot].state = kind < 5 ? UNTIL_FLUSH : UNTIL_WAIT;
    if (kind == 0)
        MPI_Fetch_and_op(&one, word, MPI_LONG, target, at, MPI_SUM, win);
    else if (kind == 1)
        MPI_Compare_and_swap(&one, &compare, word, MPI_LONG, target, at, win);
    else if (kind == 2)
        MPI_Get(bytes, count, MPI_BYTE, target, at, count, MPI_BYTE, win);
    else if (kind == 3)
        MPI_Get(word, 1, holes, target, at, 12, MPI_BYTE, win);
    else if (kind == 4)
        MPI_Get_accumulate(&one, 1, MPI_LONG, word, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM,
                           win);
    else if (kind == 5)
        MPI_Rget(bytes, count, MPI_BYTE, target, at, count, MPI_BYTE, win, &slots[slot].request);
    else
        MPI_Rget_accumulate(&one, 1, MPI_LONG, word, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM,
                            win, &slots[slot].request);
}

static void finish(int slot)
{
    slots[slot].state = FREE;
    slots[slot].stores = 0;
}

static void flush_all(void)
{
    MPI_Win_flush_all(win);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].state == UNTIL_FLUSH)
            finish(i);
}

static void test(int slot)
{
    int flag;

    MPI_Test(&slots[slot].request, &flag, MPI_STATUS_IGNORE);
    check_note(flag);
    if (flag)
        finish(slot);
}

static void call_something(void)
{
    int flag;
    long word = below(1000);

    switch (below(8)) {
    case 0:
        flush_all();
        break;
    case 1:
        MPI_Win_flush(below(check.size), win);
        break;
    case 2:
        MPI_Win_flush_local(below(check.size), win);
        break;
    case 3:
        MPI_Win_flush_local_all(win);
        break;
    case 4:
        MPI_Win_sync(win);
        break;
    case 5:
        MPI_Put(&word, 1, MPI_LONG, below(check.size), below(WORDS / 2), 1, MPI_LONG, win);
        MPI_Win_flush_all(win); // it is in use until then
        break;
    case 6:
        MPI_Wtime();
        break;
    default:
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

static void step(void)
{
    int slot = below(SLOTS), what = below(4);

    if (what == 0 && slots[slot].state == FREE)
        begin(slot, below(7));
    else if (what == 1 && slots[slot].state == UNTIL_WAIT)
        test(slot);
    else if (what == 2 && slots[slot].stores++ < STORES)
        *(volatile long *)slots[slot].words = below(1000);
    else
        call_something();
    const volatile unsigned char *loaded = (const volatile void *)slots[below(SLOTS)].words;
    for (int i = 0; i < LOADED; i++)
        check_note(loaded[i]);
}

int main(int argc, char **argv)
{
    long *mine;

    check_start(&argc, &argv);
    seed = (uint64_t)check.rank;
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &holes);
    MPI_Type_commit(&holes);
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    for (int i = 0; i < WORDS; i++)
        mine[i] = 0x0101010101010101 * (i % 100) + check.rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].state == UNTIL_WAIT)
            MPI_Wait(&slots[i].request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Type_free(&holes);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}
