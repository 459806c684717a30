/* SPDX-License-Identifier: MIT */
/*
 * Molecular dynamics in the manner of LeanMD: cells of atoms, and a task for each pair of
 * neighbouring cells (and each cell with itself) that computes Lennard-Jones forces between them. A
 * pair waits for the positions of both, a cell for the forces of all its pairs; both are
 * commutative regions, since forces are kept apart and added in a fixed order. Cells keep their
 * atoms; space is periodic, with three or more cells in each direction.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "taskapp.h"

enum { ATOMS_MOST = 64, PAIRS = 14, AROUND = 27 };

static struct app_option options[] = {{"size", "atoms of a cell", 8, 1, ATOMS_MOST},
                                      {"cells", "cells, in each direction", 3, 3, 20},
                                      {"steps", "steps of a run", 4, 1, 100000},
                                      {"runs", "runs, each followed by a checkpoint", 3, 1, 1000},
                                      {0}};
enum { SIZE, CELLS, STEPS, RUNS };
static const struct app_spec spec = {"leanmd",
                                     "molecular dynamics by tasks: cells, and pairs of cells", 1,
                                     options};
static struct app app;
static int cells, pairs, result, atoms, side;
static const double cell_length = 4.0, time_step = 1e-4;

struct atoms {
    double position[ATOMS_MOST][3];
};

struct cell {
    uint64_t step, last, told;
    double energy;
    double velocity[ATOMS_MOST][3];
    struct atoms atoms, forces[AROUND];
    double energies[AROUND];
};

struct pair {
    uint64_t step;
    struct atoms side[2];
};

struct told {
    uint64_t which; /* the side of a pair; the direction, seen from a cell */
    double energy;
    struct atoms atoms;
};

static int number(struct reprise_index i)
{
    return i.x + side * (i.y + side * i.z);
}

static struct reprise_index index_of(int cell)
{
    return (struct reprise_index){cell % side, cell / side % side, cell / side / side};
}

/* The neighbour in direction 0 to 26; 13 is the cell itself, and 26 - d the way back. */
static int around(int cell, int direction)
{
    struct reprise_index i = index_of(cell);

    i.x = (i.x + direction % 3 - 1 + side) % side;
    i.y = (i.y + direction / 3 % 3 - 1 + side) % side;
    i.z = (i.z + direction / 9 - 1 + side) % side;
    return number(i);
}

/* The pair of a cell and its neighbour belongs to the one from which the direction is 13 or more;
 * its side 1 is the neighbour. */
static struct reprise_index pair_of(int cell, int direction, uint64_t *which)
{
    *which = direction < 13;
    return direction < 13 ? (struct reprise_index){around(cell, direction), 26 - direction - 13, 0}
                          : (struct reprise_index){cell, direction - 13, 0};
}

static void make_atoms(struct atoms *made, int cell)
{
    struct app_random random = app_random_from(app.seed, (uint64_t)cell, 1);
    struct reprise_index i = index_of(cell);

    for (int a = 0; a < atoms; a++) /* on a grid, a little out of place */
        for (int k = 0; k < 3; k++) {
            int at = k == 0 ? a % 4 : k == 1 ? a / 4 % 4 : a / 16;
            made->position[a][k] = (k == 0   ? i.x
                                    : k == 1 ? i.y
                                             : i.z) *
                                       cell_length +
                                   0.5 + at + 0.1 * app_random_unit(&random);
        }
}

static void lennard_jones(const struct atoms *one, const struct atoms *other, bool same,
                          double forces[2][ATOMS_MOST][3], double *energy)
{
    double length = side * cell_length, cut = cell_length * cell_length;

    for (int a = 0; a < atoms; a++)
        for (int b = same ? a + 1 : 0; b < atoms; b++) {
            double d[3], square = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = one->position[a][k] - other->position[b][k];
                d[k] -= length * nearbyint(d[k] / length);
                square += d[k] * d[k];
            }
            if (square >= cut)
                continue;
            double r2 = 1 / square, r6 = r2 * r2 * r2, f = 24 * r2 * r6 * (2 * r6 - 1);
            *energy += 4 * r6 * (r6 - 1);
            for (int k = 0; k < 3; k++) {
                forces[0][a][k] += f * d[k];
                forces[1][b][k] -= f * d[k];
            }
        }
}

static void move(struct cell *cell)
{
    cell->energy = 0;
    for (int d = 0; d < AROUND; d++)
        cell->energy += cell->energies[d];
    for (int a = 0; a < atoms; a++)
        for (int k = 0; k < 3; k++) {
            double force = 0;
            for (int d = 0; d < AROUND; d++)
                force += cell->forces[d].position[a][k];
            cell->velocity[a][k] += time_step * force;
            cell->atoms.position[a][k] += time_step * cell->velocity[a][k];
            cell->energy += 0.5 * cell->velocity[a][k] * cell->velocity[a][k];
        }
    cell->step++;
}

static size_t told_bytes(void)
{
    return offsetof(struct told, atoms) + (size_t)atoms * sizeof(double[3]);
}

static void tell(struct cell *cell)
{
    struct told message = {.atoms = cell->atoms};
    int self = number(reprise_self());

    cell->told = cell->step + 1;
    for (int d = 0; d < AROUND; d++) {
        struct reprise_index to = pair_of(self, d, &message.which);
        reprise_send(pairs, to, 0, cell->step, &message, told_bytes());
    }
}

static void make_cell(void *state, struct reprise_index index)
{
    make_atoms(&((struct cell *)state)->atoms, number(index));
}

static void start(void *state, const struct reprise_message *message)
{
    struct cell *cell = state;

    cell->last = message->ref * options[STEPS].value;
    tell(cell);
}

static bool cell_takes(const void *state, uint64_t ref)
{
    const struct cell *cell = state;

    return cell->step == ref && cell->told > ref;
}

static size_t all_around(const void *state)
{
    (void)state;
    return AROUND;
}

static void cell_force(void *state, const struct reprise_message *message)
{
    struct cell *cell = state;
    const struct told *told = message->data;

    memcpy(&cell->forces[told->which], &told->atoms, (size_t)atoms * sizeof(double[3]));
    cell->energies[told->which] = told->energy;
}

static void cell_forces(void *state)
{
    struct cell *cell = state;

    move(cell);
    if (cell->step < cell->last)
        tell(cell);
    else if (cell->last == options[STEPS].value * options[RUNS].value)
        taskapp_contribute(result, 0, &cell->atoms, sizeof cell->atoms, cell->energy);
}

static bool pair_takes(const void *state, uint64_t ref)
{
    return ((const struct pair *)state)->step == ref;
}

static size_t both(const void *state)
{
    (void)state;
    return reprise_self().y == 0 ? 1 : 2;
}

static void pair_atoms(void *state, const struct reprise_message *message)
{
    const struct told *told = message->data;

    memcpy(&((struct pair *)state)->side[told->which], &told->atoms,
           (size_t)atoms * sizeof(double[3]));
}

/* Half of the energy goes to each; all of it to a cell that is paired with itself. */
static void compute(const struct atoms *one, const struct atoms *other, bool same,
                    struct told out[2])
{
    double forces[2][ATOMS_MOST][3] = {{{0}}}, energy = 0;

    lennard_jones(one, other, same, forces, &energy);
    for (int s = 0; s < 2; s++) {
        out[s].energy = same ? energy : energy / 2;
        for (int a = 0; a < atoms; a++)
            for (int k = 0; k < 3; k++)
                out[s].atoms.position[a][k] =
                    same ? forces[0][a][k] + forces[1][a][k] : forces[s][a][k];
    }
}

static void pair_finish(void *state)
{
    struct pair *pair = state;
    struct reprise_index self = reprise_self();
    struct told out[2];
    bool same = self.y == 0;
    int direction = self.y + 13;

    memset(out, 0, sizeof out);
    compute(&pair->side[0], same ? &pair->side[0] : &pair->side[1], same, out);
    out[0].which = (uint64_t)direction;
    out[1].which = (uint64_t)(26 - direction);
    reprise_send(cells, index_of(self.x), 1, pair->step, &out[0], told_bytes());
    if (!same)
        reprise_send(cells, index_of(around(self.x, direction)), 1, pair->step, &out[1],
                     told_bytes());
    pair->step++;
}

static const struct reprise_entry cell_entries[] = {{"start", REPRISE_ORDERED, start, NULL, NULL,
                                                     NULL},
                                                    {"forces", REPRISE_COMMUTATIVE, cell_force,
                                                     cell_takes, all_around, cell_forces},
                                                    {0}};
static const struct reprise_entry pair_entries[] = {{"atoms", REPRISE_COMMUTATIVE, pair_atoms,
                                                     pair_takes, both, pair_finish},
                                                    {0}};

static struct taskapp_sum serial(void)
{
    int count = side * side * side;
    struct cell *all = app_allocate((size_t)count, sizeof *all);
    struct taskapp_sum sum = {{0, 0, 0}};

    for (int c = 0; c < count; c++)
        make_atoms(&all[c].atoms, c);
    for (uint64_t step = 0; step < options[STEPS].value * options[RUNS].value; step++) {
        for (int c = 0; c < count; c++)
            for (int d = 13; d < AROUND; d++) {
                int other = around(c, d);
                struct told out[2];
                memset(out, 0, sizeof out);
                compute(&all[c].atoms, &all[other].atoms, d == 13, out);
                all[c].forces[d] = out[0].atoms;
                all[c].energies[d] = out[0].energy;
                if (d != 13) {
                    all[other].forces[26 - d] = out[1].atoms;
                    all[other].energies[26 - d] = out[1].energy;
                }
            }
        for (int c = 0; c < count; c++)
            move(&all[c]);
    }
    for (int c = 0; c < count; c++)
        taskapp_add(&sum, &all[c].atoms, sizeof all[c].atoms, all[c].energy);
    free(all);
    return sum;
}

int main(int argc, char **argv)
{
    app_start(&app, &spec, &argc, &argv);
    atoms = (int)options[SIZE].value, side = (int)options[CELLS].value;
    reprise_tasks_begin();
    cells = reprise_collection(&(struct reprise_collection_spec){.name = "cell",
                                                                 .size = {side, side, side},
                                                                 .state_bytes = sizeof(struct cell),
                                                                 .entries = cell_entries,
                                                                 .make = make_cell});
    pairs =
        reprise_collection(&(struct reprise_collection_spec){.name = "pair",
                                                             .size = {side * side * side, PAIRS, 0},
                                                             .state_bytes = sizeof(struct pair),
                                                             .entries = pair_entries});
    result = reprise_reduction(cells, TASKAPP_WIDTH, REPRISE_SUM, -1);
    for (uint64_t run = 1; run <= options[RUNS].value; run++) {
        reprise_start(cells, 0, run, NULL, 0);
        reprise_tasks_run();
    }
    return taskapp_result(&app, result, serial, "energy");
}
