/* SPDX-License-Identifier: MIT */
/*
 * Sort after gather: rank 0 merges sorted chunks in the order in which they arrive.
 *
 * Every rank makes its keys in chunks of random length, sorts each chunk and sends it to rank 0;
 * the last chunk is marked by its tag. Rank 0 probes any source for the next chunk's length,
 * receives it from that source, and keeps a stack of sorted runs, merging the top two while they
 * are of similar length, so that each key is merged O(log chunks) times. The merged keys are the
 * same in every run; the hash also holds the arrival order, which is a race.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, LONGEST_CHUNK = 1024, MOST_RUNS = 128 };
enum { TAG_CHUNK = 1, TAG_LAST_CHUNK = 2 };
enum { OPTION_SIZE };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "keys per rank", 1800000, 1, UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"sortgather", "Rank 0 merges sorted chunks as they arrive.", 1,
                                     options};

struct run {
    uint64_t *keys;
    size_t count;
};

/* Lengths at least halve from one run to the next above it, so that MOST_RUNS is out of reach. */
struct run_stack {
    struct run runs[MOST_RUNS];
    int count;
};

/* Makes a rank's keys, a chunk at a time. */
struct key_source {
    struct app_random random;
    uint64_t left;
    uint64_t sum;
};

static int compare_keys(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static struct key_source key_source_of(const struct app *app)
{
    return (struct key_source){app_random_from(app->seed, (uint64_t)app->rank, 0),
                               options[OPTION_SIZE].value, 0};
}

/* Fills `keys` with the next sorted chunk and returns its length, 0 after the last. */
static size_t next_chunk(struct key_source *source, uint64_t *keys)
{
    size_t count = 1 + app_random_below(&source->random, LONGEST_CHUNK);
    if (count > source->left)
        count = source->left;
    for (size_t i = 0; i < count; i++)
        source->sum += keys[i] = app_random_next(&source->random);
    qsort(keys, count, sizeof *keys, compare_keys);
    source->left -= count;
    return count;
}

static struct run merge(struct run a, struct run b)
{
    struct run merged = {app_allocate(a.count + b.count, sizeof *merged.keys), a.count + b.count};
    size_t i = 0, j = 0, out = 0;
    while (i < a.count && j < b.count) {
        bool from_a = a.keys[i] <= b.keys[j];
        merged.keys[out++] = from_a ? a.keys[i] : b.keys[j];
        i += from_a;
        j += !from_a;
    }
    memcpy(merged.keys + out, a.keys + i, (a.count - i) * sizeof *a.keys);
    out += a.count - i;
    memcpy(merged.keys + out, b.keys + j, (b.count - j) * sizeof *b.keys);
    free(a.keys);
    free(b.keys);
    return merged;
}

static void merge_top_two(struct run_stack *stack)
{
    struct run *top = &stack->runs[--stack->count];
    top[-1] = merge(top[-1], top[0]);
}

/* Takes over the run's memory. */
static void push_run(struct run_stack *stack, struct run run)
{
    stack->runs[stack->count++] = run;
    while (stack->count >= 2 &&
           stack->runs[stack->count - 2].count < 2 * stack->runs[stack->count - 1].count)
        merge_top_two(stack);
}

static struct run merge_all(struct run_stack *stack)
{
    while (stack->count >= 2)
        merge_top_two(stack);
    return stack->runs[0];
}

/* Returns whether it was its sender's last. */
static bool receive_chunk(struct app *app, struct run_stack *stack)
{
    MPI_Status status;
    int count;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    struct run run = {app_allocate((size_t)count, sizeof *run.keys), (size_t)count};
    MPI_Recv(run.keys, count, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    app_hash_add(&app->hash, (uint64_t)status.MPI_SOURCE);
    app_hash_add(&app->hash, run.keys[0]);
    push_run(stack, run);
    return status.MPI_TAG == TAG_LAST_CHUNK;
}

static void add_own_chunks(struct run_stack *stack, struct key_source *source)
{
    while (source->left > 0) {
        struct run run = {app_allocate(LONGEST_CHUNK, sizeof *run.keys), 0};
        run.count = next_chunk(source, run.keys);
        push_run(stack, run);
    }
}

static struct run gather_at_root(struct app *app, struct key_source *source)
{
    struct run_stack stack = {.count = 0};
    int senders_left = app->ranks - 1;
    while (senders_left > 0)
        senders_left -= receive_chunk(app, &stack);
    add_own_chunks(&stack, source);
    return merge_all(&stack);
}

static void send_chunks(struct key_source *source)
{
    uint64_t keys[LONGEST_CHUNK];
    while (source->left > 0) {
        size_t count = next_chunk(source, keys);
        int tag = source->left > 0 ? TAG_CHUNK : TAG_LAST_CHUNK;
        MPI_Send(keys, (int)count, MPI_UINT64_T, ROOT, tag, MPI_COMM_WORLD);
    }
}

static void verify_merged(struct app *app, struct run merged, uint64_t expected_sum)
{
    uint64_t expected_count = options[OPTION_SIZE].value * (uint64_t)app->ranks;
    uint64_t sum = 0;
    size_t out_of_order = 0;
    for (size_t i = 0; i < merged.count; i++) {
        sum += merged.keys[i];
        out_of_order += i > 0 && merged.keys[i - 1] > merged.keys[i];
    }
    app_verify(app, out_of_order == 0, "%zu keys are out of order", out_of_order);
    app_verify(app, merged.count == expected_count, "%zu keys of %" PRIu64, merged.count,
               expected_count);
    app_verify(app, sum == expected_sum, "the sum of the keys is wrong");
}

int main(int argc, char **argv)
{
    struct app app;
    struct run merged = {NULL, 0};
    uint64_t keys_hash = 0;
    app_start(&app, &spec, &argc, &argv);
    struct key_source source = key_source_of(&app);
    if (app.rank == ROOT)
        merged = gather_at_root(&app, &source);
    else
        send_chunks(&source);

    uint64_t sum = app_sum(source.sum);
    if (app.rank == ROOT)
        verify_merged(&app, merged, sum);
    app_hash_add_words(&keys_hash, merged.keys, merged.count);
    app_hash_add(&app.hash, keys_hash);
    free(merged.keys);
    return app_result(&app, "keys=%016" PRIx64, keys_hash);
}
