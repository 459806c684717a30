/* SPDX-License-Identifier: MIT */
/*
 * Shock hydrodynamics in the manner of LULESH, by tasks: a blast in a corner of a box, on blocks of
 * a staggered grid. A step has two exchanges with up to six neighbours (pressures, then
 * velocities), and the next time step is the smallest that any block allows: a reduction. Both
 * exchanges are commutative regions, the reduction's result is ordered.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "taskapp.h"

static struct app_option options[] = {{"size", "cells of a block, in each direction", 6, 1, 48},
                                      {"blocks", "blocks, in each direction", 2, 1, 32},
                                      {"steps", "steps of a run", 5, 1, 100000},
                                      {"runs", "runs, each followed by a checkpoint", 3, 1, 1000},
                                      {0}};
enum { SIZE, BLOCKS, STEPS, RUNS };
static const struct app_spec spec = {"hydro", "shock hydrodynamics on blocks that are tasks", 1,
                                     options};
static struct app app;
static int blocks, shortest, result;
enum { START, PRESSURE, VELOCITY, TIME };
enum { FIELDS = 5 }; /* density, energy, and the velocities of the three lower faces of a cell */

/* Phases of a step: it waits for pressures (1), velocities (2), the time step (3). */
struct block {
    uint64_t step, last, phase;
    double dt;
    double cells[]; /* FIELDS and the pressure, each with a rim of one */
};

static double *field(struct block *b, int which)
{
    return b->cells + (size_t)which * volume();
}

static size_t state_bytes(void)
{
    return sizeof(struct block) + (FIELDS + 1) * volume() * sizeof(double);
}

static size_t step_in(int direction)
{
    return direction == 0   ? 1
           : direction == 1 ? (size_t)(n + 2)
                            : (size_t)(n + 2) * (size_t)(n + 2);
}

#define CELLS                                                                                      \
    for (int z = 1; z <= n; z++)                                                                   \
        for (int y = 1; y <= n; y++)                                                               \
            for (int x = 1; x <= n; x++)

static void fill(struct block *b, struct reprise_index index)
{
    CELLS
    {
        field(b, 0)[at(x, y, z)] = 1;
        field(b, 1)[at(x, y, z)] =
            index.x + index.y + index.z == 0 && x == 1 && y == 1 && z == 1 ? 10 : 1e-3;
    }
    b->dt = 1e-3;
}

/* Pressure of an ideal gas, 1.4; what a wall mirrors is the cell itself. */
static void pressures(struct block *b, struct reprise_index index)
{
    struct reprise_index other;
    double *p = field(b, FIELDS);

    CELLS p[at(x, y, z)] = 0.4 * field(b, 0)[at(x, y, z)] * field(b, 1)[at(x, y, z)];
    for (int d = 0; d < 6; d++)
        for (int i = 1; i <= n && !neighbour(index, d, &other); i++)
            for (int j = 1; j <= n; j++)
                p[face_at(d, 0, i, j)] = p[face_at(d, 1, i, j)];
}

/* The lower faces of our cells; those at walls do not move. */
static void velocities(struct block *b)
{
    const double *p = field(b, FIELDS);

    for (int k = 0; k < 3; k++) {
        double *v = field(b, 2 + k);
        size_t back = step_in(k);
        CELLS v[at(x, y, z)] += b->dt * (p[at(x, y, z) - back] - p[at(x, y, z)]);
    }
}

/* Mass and energy through faces, upwind of a mean; the largest signal speed limits the next
 * step. */
static double advance(struct block *b)
{
    double *density = field(b, 0), *energy = field(b, 1), *p = field(b, FIELDS), fastest = 1e-9;

    CELLS
    {
        size_t c = at(x, y, z);
        double out = 0;
        for (int k = 0; k < 3; k++)
            out += field(b, 2 + k)[c + step_in(k)] - field(b, 2 + k)[c];
        double mass = density[c];
        density[c] = mass / (1 + b->dt * out);
        energy[c] -= b->dt * p[c] * out / mass;
        if (energy[c] < 1e-6)
            energy[c] = 1e-6;
        double speed = sqrt(1.4 * 0.4 * energy[c]);
        for (int k = 0; k < 3; k++)
            speed += fabs(field(b, 2 + k)[c]);
        fastest = speed > fastest ? speed : fastest;
    }
    return 0.3 / fastest;
}

static void no_flow(struct block *b, struct reprise_index index)
{
    struct reprise_index other;

    for (int d = 0; d < 6; d++)
        for (int i = 1; i <= n && !neighbour(index, d, &other); i++)
            for (int j = 1; j <= n; j++)
                field(b, 2 + d / 2)[face_at(d, d % 2 ? 0 : 1, i, j)] = 0;
}

static void make(void *state, struct reprise_index index)
{
    fill(state, index);
}

/* Pressures of both sides; velocities of lower faces, to those below. */
static bool is_told(int d, int entry)
{
    return entry == PRESSURE || d % 2 == 0;
}

static void tell(struct block *b, int entry)
{
    struct reprise_index other;
    double *face = app_allocate((size_t)(1 + n * n), sizeof *face);

    for (int d = 0; d < 6; d++) {
        const double *f = field(b, entry == PRESSURE ? FIELDS : 2 + d / 2);
        size_t count = 1;
        if (!is_told(d, entry) || !neighbour(reprise_self(), d, &other))
            continue;
        face[0] = d ^ 1;
        for (int j = 1; j <= n; j++)
            for (int i = 1; i <= n; i++)
                face[count++] = f[face_at(d, 1, i, j)];
        reprise_send(blocks, other, entry, b->step, face, count * sizeof *face);
    }
    free(face);
}

static size_t awaited(int entry)
{
    struct reprise_index other;
    size_t count = 0;

    for (int d = 0; d < 6; d++)
        count += is_told(d ^ 1, entry) && neighbour(reprise_self(), d, &other);
    return count;
}

static void end_velocities(struct block *b)
{
    double allowed = advance(b);

    b->phase = 3;
    reprise_contribute(shortest, b->step, &allowed);
}

static void end_pressures(struct block *b)
{
    velocities(b);
    no_flow(b, reprise_self());
    b->phase = 2;
    tell(b, VELOCITY);
    if (awaited(VELOCITY) == 0)
        end_velocities(b);
}

static void begin_step(struct block *b)
{
    pressures(b, reprise_self());
    b->phase = 1;
    tell(b, PRESSURE);
    if (awaited(PRESSURE) == 0)
        end_pressures(b);
}

static void start(void *state, const struct reprise_message *message)
{
    struct block *b = state;

    b->last = message->ref * options[STEPS].value;
    begin_step(b);
}

static bool awaits_pressure(const void *state, uint64_t ref)
{
    const struct block *b = state;

    return b->step == ref && b->phase == 1;
}

static bool awaits_velocity(const void *state, uint64_t ref)
{
    const struct block *b = state;

    return b->step == ref && b->phase == 2;
}

static bool awaits_time(const void *state, uint64_t ref)
{
    const struct block *b = state;

    return b->step == ref && b->phase == 3;
}

static size_t pressure_count(const void *state)
{
    (void)state;
    return awaited(PRESSURE);
}

static size_t velocity_count(const void *state)
{
    (void)state;
    return awaited(VELOCITY);
}

static void take(struct block *b, const struct reprise_message *message, int entry)
{
    const double *face = message->data;
    int d = (int)*face++;
    double *f = field(b, entry == PRESSURE ? FIELDS : 2 + d / 2);

    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= n; i++)
            f[face_at(d, 0, i, j)] = *face++;
}

static void take_pressure(void *state, const struct reprise_message *message)
{
    take(state, message, PRESSURE);
}

static void take_velocity(void *state, const struct reprise_message *message)
{
    take(state, message, VELOCITY);
}

static void finish_pressure(void *state)
{
    end_pressures(state);
}

static void finish_velocity(void *state)
{
    end_velocities(state);
}

static void take_time(void *state, const struct reprise_message *message)
{
    struct block *b = state;

    memcpy(&b->dt, message->data, sizeof b->dt);
    b->step++;
    b->phase = 0;
    if (b->step < b->last)
        begin_step(b);
    else if (b->last == options[STEPS].value * options[RUNS].value)
        taskapp_contribute(result, 0, b->cells, FIELDS * volume() * sizeof(double),
                           field(b, 1)[at(1, 1, 1)]);
}

static const struct reprise_entry entries[] = {
    {"start", REPRISE_ORDERED, start, NULL, NULL, NULL},
    {"pressure", REPRISE_COMMUTATIVE, take_pressure, awaits_pressure, pressure_count,
     finish_pressure},
    {"velocity", REPRISE_COMMUTATIVE, take_velocity, awaits_velocity, velocity_count,
     finish_velocity},
    {"time", REPRISE_ORDERED, take_time, awaits_time, NULL, NULL},
    {0},
};

static struct block *serial_block(char *all, struct reprise_index i)
{
    return (struct block *)(void *)(all +
                                    (size_t)(i.x + side * (i.y + side * i.z)) * state_bytes());
}

static void serial_exchange(char *all, struct reprise_index b, int entry)
{
    struct reprise_index other;

    for (int d = 0; d < 6; d++) {
        int which = entry == PRESSURE ? FIELDS : 2 + d / 2;
        for (int i = 1; i <= n && is_told(d ^ 1, entry) && neighbour(b, d, &other); i++)
            for (int j = 1; j <= n; j++)
                field(serial_block(all, b), which)[face_at(d, 0, i, j)] =
                    field(serial_block(all, other), which)[face_at(d ^ 1, 1, i, j)];
    }
}

static struct taskapp_sum serial(void)
{
    struct taskapp_sum sum = {{0, 0, 0}};
    char *all = app_allocate((size_t)side * (size_t)side * (size_t)side, state_bytes());
#define ALL                                                                                        \
    for (struct reprise_index b = {0, 0, 0}; b.z < side;                                           \
         b.x = (b.x + 1) % side, b.y = b.x ? b.y : (b.y + 1) % side, b.z += !b.x && !b.y)
    ALL fill(serial_block(all, b), b);
    for (uint64_t step = 0; step < options[STEPS].value * options[RUNS].value; step++) {
        double dt = INFINITY;
        ALL pressures(serial_block(all, b), b);
        ALL serial_exchange(all, b, PRESSURE);
        ALL
        {
            velocities(serial_block(all, b));
            no_flow(serial_block(all, b), b);
        }
        ALL serial_exchange(all, b, VELOCITY);
        ALL
        {
            double allowed = advance(serial_block(all, b));
            dt = allowed < dt ? allowed : dt;
        }
        ALL serial_block(all, b)->dt = dt;
    }
    ALL taskapp_add(&sum, serial_block(all, b)->cells, FIELDS * volume() * sizeof(double),
                    field(serial_block(all, b), 1)[at(1, 1, 1)]);
    free(all);
    return sum;
}

int main(int argc, char **argv)
{
    app_start(&app, &spec, &argc, &argv);
    n = (int)options[SIZE].value, side = (int)options[BLOCKS].value;
    reprise_tasks_begin();
    blocks = reprise_collection(&(struct reprise_collection_spec){.name = "block",
                                                                  .size = {side, side, side},
                                                                  .state_bytes = state_bytes(),
                                                                  .entries = entries,
                                                                  .make = make});
    shortest = reprise_reduction(blocks, 1, REPRISE_MIN, TIME);
    result = reprise_reduction(blocks, TASKAPP_WIDTH, REPRISE_SUM, -1);
    for (uint64_t run = 1; run <= options[RUNS].value; run++) {
        reprise_start(blocks, START, run, NULL, 0);
        reprise_tasks_run();
    }
    return taskapp_result(&app, result, serial, "energy");
}
