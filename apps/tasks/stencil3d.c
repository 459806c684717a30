/* SPDX-License-Identifier: MIT */
/* Jacobi with the 7-point stencil, on blocks that are tasks. Faces of neighbours come in any order
 * into their places: a commutative region. Walls are 1 at x = 0, and 0 else. */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "taskapp.h"

static struct app_option options[] = {{"size", "cells of a block, in each direction", 8, 1, 64},
                                      {"blocks", "blocks, in each direction", 3, 1, 32},
                                      {"steps", "steps of a run", 6, 1, 100000},
                                      {"runs", "runs, each followed by a checkpoint", 3, 1, 1000},
                                      {"moves", "1: blocks move to other processes between runs", 0,
                                       0, 1},
                                      {0}};
enum { SIZE, BLOCKS, STEPS, RUNS, MOVES };
static const struct app_spec spec = {"stencil3d", "a 7-point stencil on blocks that are tasks", 1,
                                     options};
static struct app app;
static int blocks, result;

/* The cells have a rim of one, in two copies that take turns; then come the faces that have
 * arrived. */
struct block {
    uint64_t step, last, told;
    double cells[];
};

static double *now(struct block *block)
{
    return block->cells + (block->step % 2) * volume();
}

static void fill(double *cells, struct reprise_index index)
{
    for (int z = 1; z <= n; z++)
        for (int y = 1; y <= n; y++)
            for (int x = 1; x <= n; x++)
                cells[at(x, y, z)] =
                    (double)(app_mix((uint64_t)((index.x * n + x) * 10007 +
                                                (index.y * n + y) * 101 + index.z * n + z) +
                                     app.seed) >>
                             11) *
                    0x1p-53;
}

static void walls(double *cells, struct reprise_index index)
{
    struct reprise_index other;

    for (int d = 0; d < 6; d++)
        for (int i = 1; i <= n && !neighbour(index, d, &other); i++)
            for (int j = 1; j <= n; j++)
                cells[face_at(d, 0, i, j)] = d == 0;
}

static void sweep(const double *from, double *to)
{
    for (int z = 1; z <= n; z++)
        for (int y = 1; y <= n; y++)
            for (int x = 1; x <= n; x++)
                to[at(x, y, z)] =
                    (from[at(x, y, z)] + from[at(x - 1, y, z)] + from[at(x + 1, y, z)] +
                     from[at(x, y - 1, z)] + from[at(x, y + 1, z)] + from[at(x, y, z - 1)] +
                     from[at(x, y, z + 1)]) /
                    7;
}

static void make(void *state, struct reprise_index index)
{
    struct block *block = state;

    fill(block->cells, index);
    walls(block->cells, index);
    walls(block->cells + volume(), index);
}

static void tell(struct block *block)
{
    struct reprise_index other;
    double *face = app_allocate((size_t)(1 + n * n), sizeof *face), *cells = now(block);

    block->told = block->step + 1;
    for (int d = 0; d < 6; d++) {
        size_t count = 1;
        if (!neighbour(reprise_self(), d, &other))
            continue;
        face[0] = d ^ 1; /* where the other sees us */
        for (int j = 1; j <= n; j++)
            for (int i = 1; i <= n; i++)
                face[count++] = cells[face_at(d, 1, i, j)];
        reprise_send(blocks, other, 1, block->step, face, count * sizeof *face);
    }
    free(face);
}

static void end_step(struct block *block)
{
    sweep(now(block), block->cells + ((block->step + 1) % 2) * volume());
    block->step++;
    if (block->step < block->last)
        tell(block);
    else if (block->last == options[STEPS].value * options[RUNS].value)
        taskapp_contribute(result, 0, now(block), volume() * sizeof(double),
                           now(block)[at(1, 1, 1)]);
}

static void start(void *state, const struct reprise_message *message)
{
    struct block *block = state;

    block->last = message->ref * options[STEPS].value;
    tell(block);
    while (side == 1 && block->step < block->last)
        end_step(block);
}

static bool takes(const void *state, uint64_t ref)
{
    const struct block *block = state;

    return block->step == ref && block->told > ref;
}

static size_t faces(const void *state)
{
    struct reprise_index other;
    size_t count = 0;

    (void)state;
    for (int d = 0; d < 6; d++)
        count += neighbour(reprise_self(), d, &other);
    return count;
}

static void take(void *state, const struct reprise_message *message)
{
    struct block *block = state;
    const double *face = message->data;
    int d = (int)*face++;

    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= n; i++)
            now(block)[face_at(d, 0, i, j)] = *face++;
}

static void finish(void *state)
{
    end_step(state);
}

static const struct reprise_entry entries[] = {{"start", REPRISE_ORDERED, start, NULL, NULL, NULL},
                                               {"face", REPRISE_COMMUTATIVE, take, takes, faces,
                                                finish},
                                               {0}};

/* All blocks one after the other. */
static struct taskapp_sum serial(void)
{
    struct taskapp_sum sum = {{0, 0, 0}};
    struct reprise_index other;
    size_t count = (size_t)side * (size_t)side * (size_t)side;
    double *all = app_allocate(count * 2 * volume(), sizeof *all);
    uint64_t steps = options[STEPS].value * options[RUNS].value;
#define BLOCK(index, turn)                                                                         \
    (all + (((size_t)(index).x +                                                                   \
             (size_t)side * ((size_t)(index).y + (size_t)side * (size_t)(index).z)) *              \
                2 +                                                                                \
            (turn)) *                                                                              \
               volume())
#define ALL                                                                                        \
    for (struct reprise_index b = {0, 0, 0}; b.z < side;                                           \
         b.x = (b.x + 1) % side, b.y = b.x ? b.y : (b.y + 1) % side, b.z += !b.x && !b.y)
    ALL
    {
        fill(BLOCK(b, 0), b);
        walls(BLOCK(b, 0), b);
        walls(BLOCK(b, 1), b);
    }
    for (uint64_t step = 0; step < steps; step++) {
        ALL for (int d = 0; d < 6; d++) for (int i = 1; i <= n && neighbour(b, d, &other);
                                             i++) for (int j = 1; j <= n; j++)
            BLOCK(b, step % 2)[face_at(d, 0, i, j)] =
                BLOCK(other, step % 2)[face_at(d ^ 1, 1, i, j)];
        ALL sweep(BLOCK(b, step % 2), BLOCK(b, (step + 1) % 2));
    }
    ALL taskapp_add(&sum, BLOCK(b, steps % 2), volume() * sizeof *all,
                    BLOCK(b, steps % 2)[at(1, 1, 1)]);
    free(all);
    return sum;
}

static int turn;

static int another(struct reprise_index i, int processes)
{
    return (i.x + 3 * i.y + 5 * i.z + turn) % processes;
}

int main(int argc, char **argv)
{
    app_start(&app, &spec, &argc, &argv);
    n = (int)options[SIZE].value, side = (int)options[BLOCKS].value;
    reprise_tasks_begin();
    blocks = reprise_collection(
        &(struct reprise_collection_spec){.name = "block",
                                          .size = {side, side, side},
                                          .state_bytes =
                                              sizeof(struct block) + 2 * volume() * sizeof(double),
                                          .entries = entries,
                                          .make = make});
    result = reprise_reduction(blocks, TASKAPP_WIDTH, REPRISE_SUM, -1);
    for (uint64_t run = 1; run <= options[RUNS].value; run++) {
        turn = (int)run;
        if (run > 1 && options[MOVES].value)
            reprise_remap(blocks, another);
        reprise_start(blocks, 0, run, NULL, 0);
        reprise_tasks_run();
    }
    return taskapp_result(&app, result, serial, "corner");
}
