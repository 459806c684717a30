/* SPDX-License-Identifier: MIT */
/*
 * Integer sort by buckets, after the NAS benchmark IS.
 *
 * Keys are averages of four random numbers, so that those in the middle are frequent. In each
 * iteration a rank counts its keys by bucket; the counts of all ranks are summed (Allreduce) and
 * say which rank gets which buckets, in order, so that each has about as many keys; the ranks tell
 * each other how many keys will come (Alltoall), exchange them (Alltoallv) and sort what they got
 * by counting. Each iteration changes two keys of every rank beforehand, so that none is like
 * another.
 *
 * After each iteration the keys must ascend within a rank and from one rank to the next, and be
 * those that were there
 * before: as many, and with the same sum of hashes.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BITS = 20, BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS };
enum { TAG_EDGE = 1 };
enum { OPTION_SIZE, OPTION_WORK };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "keys per rank", 1500000, 2, 1 << 26},
    [OPTION_WORK] = {"work", "iterations", 10, 1, UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"is", "Integers sorted by buckets; all-to-all exchanges.", 1,
                                     options};

struct sort {
    struct app *app;
    uint32_t *keys; /* as made */
    size_t count;
    uint32_t *sending;  /* the same by buckets */
    uint32_t *received; /* what came */
    uint32_t *sorted;   /* and in order */
    size_t capacity;    /* of the last two */
    size_t received_count;
    int owned[BUCKETS]; /* keys of this rank in each bucket */
    int total[BUCKETS]; /* and of all */
    int *first_bucket;  /* of each rank, and BUCKETS at the end */
    int *send_counts, *send_offsets;
    int *receive_counts, *receive_offsets;
};

static int bucket_of(uint32_t key)
{
    return (int)(key >> (KEY_BITS - BUCKET_BITS));
}

static void make_keys(struct sort *sort)
{
    struct app_random random = app_random_from(sort->app->seed, (uint64_t)sort->app->rank, 0);
    for (size_t i = 0; i < sort->count; i++) {
        uint64_t sum = 0;
        for (int part = 0; part < 4; part++)
            sum += app_random_next(&random) >> (64 - KEY_BITS);
        sort->keys[i] = (uint32_t)(sum / 4);
    }
}

static struct sort *create_sort(struct app *app)
{
    struct sort *sort = app_allocate(1, sizeof *sort);
    size_t ranks = (size_t)app->ranks;
    sort->app = app;
    sort->count = options[OPTION_SIZE].value;
    sort->keys = app_allocate(sort->count, sizeof *sort->keys);
    sort->sending = app_allocate(sort->count, sizeof *sort->sending);
    sort->first_bucket = app_allocate(ranks + 1, sizeof *sort->first_bucket);
    sort->send_counts = app_allocate(ranks, sizeof *sort->send_counts);
    sort->send_offsets = app_allocate(ranks, sizeof *sort->send_offsets);
    sort->receive_counts = app_allocate(ranks, sizeof *sort->receive_counts);
    sort->receive_offsets = app_allocate(ranks, sizeof *sort->receive_offsets);
    make_keys(sort);
    return sort;
}

static void free_sort(struct sort *sort)
{
    free(sort->keys);
    free(sort->sending);
    free(sort->received);
    free(sort->sorted);
    free(sort->first_bucket);
    free(sort->send_counts);
    free(sort->send_offsets);
    free(sort->receive_counts);
    free(sort->receive_offsets);
    free(sort);
}

static void change_keys(struct sort *sort, uint64_t iteration)
{
    uint32_t greatest = (1 << KEY_BITS) - 1, key = (uint32_t)iteration & greatest;
    sort->keys[iteration % sort->count] = key;
    sort->keys[(iteration + sort->count / 2) % sort->count] = greatest - key;
}

static void fill_buckets(struct sort *sort)
{
    size_t next[BUCKETS], before = 0;
    memset(sort->owned, 0, sizeof sort->owned);
    for (size_t i = 0; i < sort->count; i++)
        sort->owned[bucket_of(sort->keys[i])]++;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        next[bucket] = before;
        before += (size_t)sort->owned[bucket];
    }
    for (size_t i = 0; i < sort->count; i++)
        sort->sending[next[bucket_of(sort->keys[i])]++] = sort->keys[i];
}

/* A bucket goes to the rank whose share of all keys its first key is in. */
static void share_out_buckets(struct sort *sort)
{
    uint64_t before = 0, all = sort->count * (uint64_t)sort->app->ranks;
    int rank = 0;
    MPI_Allreduce(sort->owned, sort->total, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        for (;
             rank < sort->app->ranks && before * (uint64_t)sort->app->ranks >= all * (uint64_t)rank;
             rank++)
            sort->first_bucket[rank] = bucket;
        before += (uint64_t)sort->total[bucket];
    }
    for (; rank <= sort->app->ranks; rank++)
        sort->first_bucket[rank] = BUCKETS;
}

static int count_keys(const int *counts, int first_bucket, int end)
{
    int count = 0;
    for (int bucket = first_bucket; bucket < end; bucket++)
        count += counts[bucket];
    return count;
}

static void add_up(const int *counts, int *offsets, int parts)
{
    for (int i = 0, before = 0; i < parts; i++) {
        offsets[i] = before;
        before += counts[i];
    }
}

static void make_room(struct sort *sort, size_t count)
{
    if (count <= sort->capacity)
        return;
    free(sort->received);
    free(sort->sorted);
    sort->capacity = count + count / 8;
    sort->received = app_allocate(sort->capacity, sizeof *sort->received);
    sort->sorted = app_allocate(sort->capacity, sizeof *sort->sorted);
}

static void exchange_keys(struct sort *sort)
{
    int ranks = sort->app->ranks;
    for (int rank = 0; rank < ranks; rank++)
        sort->send_counts[rank] =
            count_keys(sort->owned, sort->first_bucket[rank], sort->first_bucket[rank + 1]);
    MPI_Alltoall(sort->send_counts, 1, MPI_INT, sort->receive_counts, 1, MPI_INT, MPI_COMM_WORLD);
    add_up(sort->send_counts, sort->send_offsets, ranks);
    add_up(sort->receive_counts, sort->receive_offsets, ranks);
    sort->received_count =
        (size_t)(sort->receive_offsets[ranks - 1] + sort->receive_counts[ranks - 1]);
    make_room(sort, sort->received_count);
    MPI_Alltoallv(sort->sending, sort->send_counts, sort->send_offsets, MPI_UINT32_T,
                  sort->received, sort->receive_counts, sort->receive_offsets, MPI_UINT32_T,
                  MPI_COMM_WORLD);
}

static void sort_received(struct sort *sort)
{
    const int *first_bucket = &sort->first_bucket[sort->app->rank];
    uint32_t shift = KEY_BITS - BUCKET_BITS, lowest = (uint32_t)first_bucket[0] << shift;
    size_t values = (size_t)(first_bucket[1] - first_bucket[0]) << shift, before = 0;
    size_t *places = app_allocate(values, sizeof *places);
    for (size_t i = 0; i < sort->received_count; i++)
        places[sort->received[i] - lowest]++;
    for (size_t value = 0; value < values; value++) {
        size_t count = places[value];
        places[value] = before;
        before += count;
    }
    for (size_t i = 0; i < sort->received_count; i++)
        sort->sorted[places[sort->received[i] - lowest]++] = sort->received[i];
    free(places);
}

/* Verification */

static uint64_t keys_checksum(const uint32_t *keys, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += app_mix(keys[i] + UINT64_C(1));
    return sum;
}

/* The greatest key of all lower ranks; one without keys passes on what it got. */
static void verify_edges(struct sort *sort)
{
    struct app *app = sort->app;
    uint32_t below = 0, greatest;
    if (app->rank > 0)
        MPI_Recv(&below, 1, MPI_UINT32_T, app->rank - 1, TAG_EDGE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    greatest = sort->received_count ? sort->sorted[sort->received_count - 1] : below;
    if (app->rank < app->ranks - 1)
        MPI_Send(&greatest, 1, MPI_UINT32_T, app->rank + 1, TAG_EDGE, MPI_COMM_WORLD);
    app_verify(app, !sort->received_count || below <= sort->sorted[0],
               "key %u of a lower rank is above %u", below, sort->sorted[0]);
}

static void verify_sorted(struct sort *sort)
{
    size_t out_of_order = 0;
    for (size_t i = 1; i < sort->received_count; i++)
        out_of_order += sort->sorted[i - 1] > sort->sorted[i];
    app_verify(sort->app, out_of_order == 0, "%zu keys are out of order", out_of_order);
    verify_edges(sort);
    uint64_t count = app_sum(sort->received_count), all = sort->count * (uint64_t)sort->app->ranks;
    app_verify(sort->app, count == all, "%" PRIu64 " keys of %" PRIu64, count, all);
    uint64_t before = app_sum(keys_checksum(sort->keys, sort->count));
    uint64_t after = app_sum(keys_checksum(sort->sorted, sort->received_count));
    app_verify(sort->app, before == after, "the keys are not the same");
}

static void run_iteration(struct sort *sort, uint64_t iteration)
{
    change_keys(sort, iteration);
    fill_buckets(sort);
    share_out_buckets(sort);
    exchange_keys(sort);
    sort_received(sort);
    verify_sorted(sort);
    app_hash_add(&sort->app->hash, sort->received_count);
    for (size_t i = 0; i < sort->received_count; i += 1 + sort->received_count / 64)
        app_hash_add(&sort->app->hash, sort->sorted[i]);
}

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    if (options[OPTION_SIZE].value * (uint64_t)app.ranks > INT32_MAX)
        app_usage_error(&app, "--size must be at most %d with so many ranks",
                        INT32_MAX / app.ranks);
    struct sort *sort = create_sort(&app);
    for (uint64_t iteration = 0; iteration < options[OPTION_WORK].value; iteration++)
        run_iteration(sort, iteration);
    free_sort(sort);
    return app_result(&app, "keys=%" PRIu64, options[OPTION_SIZE].value * (uint64_t)app.ranks);
}
