/* SPDX-License-Identifier: MIT */
/*
 * Random access (GUPS): a table that is spread over all ranks is updated at random places by
 * MPI_Accumulate with MPI_BXOR. Each rank looks at some words of the table while all of them update
 * it, by MPI_Fetch_and_op: what it finds is a race, and a hash records it. All updates are made
 * twice, so that the table must be in the end what it was in the beginning.
 */
#include "app.h"

#include <mpi.h>
#include <stdlib.h>

enum { OPTION_SIZE, OPTION_WORDS, OPTION_BATCH };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "updates of each rank", 20000, 1, UINT64_C(1) << 40},
    [OPTION_WORDS] = {"words", "words of the table that each rank has", 1 << 14, 16, 1 << 26},
    [OPTION_BATCH] = {"batch", "updates between two looks at the table", 256, 1, 1 << 20},
    {0},
};

static const struct app_spec spec = {"gups",
                                     "Random updates of a distributed table by MPI_Accumulate.", 1,
                                     options};

static uint64_t step(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static void update_all(struct app *app, MPI_Win win, uint64_t words)
{
    uint64_t x = app->seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)app->rank + 1,
             batch = options[OPTION_BATCH].value;
    uint64_t *values = app_allocate(batch, sizeof *values), seen;

    for (uint64_t i = 0; i < options[OPTION_SIZE].value; i++) {
        uint64_t place = step(&x) % (words * (uint64_t)app->ranks);
        values[i % batch] = x;
        MPI_Accumulate(&values[i % batch], 1, MPI_UINT64_T, (int)(place / words),
                       (MPI_Aint)(place % words), 1, MPI_UINT64_T, MPI_BXOR, win);
        if ((i + 1) % batch != 0)
            continue;
        MPI_Win_flush_all(win);
        place = step(&x) % (words * (uint64_t)app->ranks);
        MPI_Fetch_and_op(NULL, &seen, MPI_UINT64_T, (int)(place / words), (MPI_Aint)(place % words),
                         MPI_NO_OP, win);
        MPI_Win_flush((int)(place / words), win);
        app_hash_add(&app->hash, seen);
    }
    MPI_Win_flush_all(win);
    free(values);
}

int main(int argc, char **argv)
{
    struct app app;
    uint64_t *table;
    MPI_Win win;

    app_start(&app, &spec, &argc, &argv);
    uint64_t words = options[OPTION_WORDS].value, wrong = 0;
    MPI_Win_allocate((MPI_Aint)(words * sizeof *table), sizeof *table, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &table, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, app.rank, 0, win);
    for (uint64_t i = 0; i < words; i++)
        table[i] = words * (uint64_t)app.rank + i;
    MPI_Win_unlock(app.rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 2; i++) {
        update_all(&app, win, words);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        app_hash_add(&app.hash, table[words / 2]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, app.rank, 0, win);
    for (uint64_t i = 0; i < words; i++)
        wrong += table[i] != words * (uint64_t)app.rank + i;
    MPI_Win_unlock(app.rank, win);
    app_verify(&app, wrong == 0, "%llu words are not what they were", (unsigned long long)wrong);
    MPI_Win_free(&win);
    return app_result(&app, "updates=%llu",
                      (unsigned long long)(2 * options[OPTION_SIZE].value * (uint64_t)app.ranks));
}
