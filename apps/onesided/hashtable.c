/* SPDX-License-Identifier: MIT */
/*
 * A distributed hash table, as in the assembly of genomes from short reads: words of a random
 * sequence are put into slots of all ranks by MPI_Compare_and_swap, with open addressing, and
 * counted by MPI_Fetch_and_op; then each rank walks from word to word through the graph that the
 * table is, by reading slots. Who takes a slot first is a race, and a hash records where each word
 * went. Number of words and counts must be those of a serial computation.
 */
#include "app.h"

#include <mpi.h>
#include <stdlib.h>

enum { OPTION_SIZE, OPTION_SLOTS };
enum { WORD = 12 }; /* letters, two bits each */

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "words that each rank puts in", 4000, 1, 1 << 28},
    [OPTION_SLOTS] = {"slots", "slots of each rank", 1 << 14, 64, 1 << 26},
    {0},
};

static const struct app_spec spec = {"hashtable",
                                     "A distributed hash table by MPI_Compare_and_swap.", 1,
                                     options};

/* Word i of the sequence, never 0; ranks' parts overlap. */
static uint64_t word_at(uint64_t seed, uint64_t i)
{
    uint64_t word = 0;

    for (uint64_t k = i; k < i + WORD; k++)
        word = word << 2 | (app_mix(seed * 1000003 + k) & 3);
    return word | UINT64_C(1) << 40;
}

struct table {
    struct app *app;
    MPI_Win win;
    uint64_t slots, all;
    FILE *truth; /* NULL, or what this rank wrote: owner, byte, value */
};

static void tell_truth(struct table *t, int rank, MPI_Aint at, uint64_t value)
{
    if (t->truth)
        fprintf(t->truth, "%d %lld %llu\n", rank, (long long)at * 8, (unsigned long long)value);
}

static uint64_t probe(const struct table *t, uint64_t word, uint64_t try)
{
    return (app_mix(word) + try) % t->all;
}

/* Where the word is, or was put. */
static uint64_t insert(struct table *t, uint64_t word)
{
    uint64_t zero = 0, found, one = 1;

    for (uint64_t try = 0;; try++) {
        uint64_t place = probe(t, word, try);
        int rank = (int)(place / t->slots);
        MPI_Aint at = (MPI_Aint)(place % t->slots) * 2;
        MPI_Compare_and_swap(&word, &zero, &found, MPI_UINT64_T, rank, at, t->win);
        MPI_Win_flush(rank, t->win);
        if (found != 0 && found != word)
            continue;
        if (found == 0)
            tell_truth(t, rank, at, word);
        MPI_Fetch_and_op(&one, &found, MPI_UINT64_T, rank, at + 1, MPI_SUM, t->win);
        MPI_Win_flush(rank, t->win);
        tell_truth(t, rank, at + 1, found + 1);
        app_hash_add(&t->app->hash, place * 64 + found);
        return place;
    }
}

/* How often the word is there; 0: not at all. */
static uint64_t look_up(struct table *t, uint64_t word)
{
    uint64_t slot[2];

    for (uint64_t try = 0; try < t->all; try++) {
        uint64_t place = probe(t, word, try);
        int rank = (int)(place / t->slots);
        MPI_Get(slot, 2, MPI_UINT64_T, rank, (MPI_Aint)(place % t->slots) * 2, 2, MPI_UINT64_T,
                t->win);
        MPI_Win_flush(rank, t->win);
        if (slot[0] == word)
            return slot[1];
        if (slot[0] == 0)
            return 0;
    }
    return 0;
}

/* On from a word by the first letter that leads to another one. */
static uint64_t walk(struct table *t, uint64_t word, uint64_t steps)
{
    uint64_t length = 0, mask = (UINT64_C(1) << 2 * WORD) - 1;

    for (uint64_t i = 0; i < steps; i++) {
        uint64_t letter = 0, next = 0;
        for (; letter < 4; letter++) {
            next = (word << 2 & mask) | letter | UINT64_C(1) << 40;
            if (look_up(t, next) > 0)
                break;
        }
        if (letter == 4)
            break;
        word = next;
        length++;
    }
    app_hash_add(&t->app->hash, length);
    return length;
}

int main(int argc, char **argv)
{
    struct app app;
    struct table t = {.app = &app};
    uint64_t *mine, sum = 0, words = 0;

    app_start(&app, &spec, &argc, &argv);
    t.slots = options[OPTION_SLOTS].value;
    t.truth = app_truth_file(&app);
    t.all = t.slots * (uint64_t)app.ranks;
    uint64_t size = options[OPTION_SIZE].value, first = size / 2 * (uint64_t)app.rank;
    if (size * (uint64_t)app.ranks > t.all)
        app_usage_error(&app, "more words than slots");
    MPI_Win_allocate((MPI_Aint)(t.slots * 2 * sizeof *mine), sizeof *mine, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &mine, &t.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, app.rank, 0, t.win);
    for (uint64_t i = 0; i < 2 * t.slots; i++)
        mine[i] = 0;
    MPI_Win_unlock(app.rank, t.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, t.win);
    for (uint64_t i = 0; i < size; i++)
        insert(&t, word_at(app.seed, first + i));
    MPI_Win_flush_all(t.win);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t length = walk(&t, word_at(app.seed, first), 100);
    app_verify(&app, length == 100 || size < 200, "a walk of only %llu words",
               (unsigned long long)length);
    for (uint64_t i = 0; i < size; i += 97)
        app_verify(&app, look_up(&t, word_at(app.seed, first + i)) > 0, "a word is not there");
    MPI_Win_sync(t.win);
    for (uint64_t i = 0; i < t.slots; i++) {
        words += mine[2 * i] != 0;
        sum += mine[2 * i + 1];
        app_hash_add(&app.hash, mine[2 * i]);
    }
    MPI_Win_unlock_all(t.win);
    MPI_Win_free(&t.win);
    if (t.truth)
        fclose(t.truth);
    words = app_sum(words);
    sum = app_sum(sum);
    app_verify(&app, sum == size * (uint64_t)app.ranks, "%llu words were counted",
               (unsigned long long)sum);
    return app_result(&app, "words=%llu", (unsigned long long)words);
}
