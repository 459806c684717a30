/* SPDX-License-Identifier: MIT */
/*
 * A blast wave in a gas, in three dimensions: Euler's equations for a box of cells, with all the
 * energy in the cell at the origin, whose three planes are mirrors, as in the benchmark LULESH.
 * Each rank has a block of cells and exchanges a layer of them with up to 26 neighbours in every
 * step; the step's length comes from the greatest speed of a signal anywhere.
 *
 * Finite volumes of first order: fluxes across the six faces are Rusanov's; across the twelve edges
 * and eight corners goes a little of the difference, which rounds the front. All of it is exchanged
 * between two cells, so that mass and energy stay what they were.
 *
 * A cell's new value depends on its neighbours alone, so that it does not matter whose they are:
 * where a serial computation is not too long, rank 0 does it, and the energy at the origin must be
 * the same to the last bit. Mass and energy must be kept but for rounding; density and pressure
 * must stay positive; and the three directions must stay alike.
 */
#include "app.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum { MASS, MOMENTUM, ENERGY = 4, FIELDS };
enum { DIMENSIONS = 3, NEIGHBOURS = 27, MIDDLE = 13 };
enum { OPTION_SIZE, OPTION_EDGE };

#define MOST_SERIAL_UPDATES (UINT64_C(1) << 22)

static const double heat_ratio = 1.4;
static const double blast = 100;
static const double background = 1e-6; /* energy */
static const double courant = 0.2;
static const double rounding_share =
    0.01; /* of the difference, that goes across an edge or corner */
static const double rounding = 1e-11;

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "steps", 50, 1, UINT64_C(1) << 40},
    [OPTION_EDGE] = {"edge", "cells along an edge of each rank's block", 16, 2, 1 << 10},
    {0},
};

static const struct app_spec spec = {"blast",
                                     "A blast wave in three dimensions, with 26 neighbours.", 1,
                                     options};

/* Cells 1 to n of each direction are the block's own; 0 and n + 1 are neighbours' or mirrors. */
struct block {
    int n[DIMENSIONS];
    int place[DIMENSIONS], grid[DIMENSIONS];
    MPI_Comm comm; /* MPI_COMM_NULL: alone */
    int neighbour[NEIGHBOURS];
    double *cells, *next;
    double *out[NEIGHBOURS], *in[NEIGHBOURS];
};

static size_t index_of(const struct block *block, int x, int y, int z)
{
    return (((size_t)z * (size_t)(block->n[1] + 2) + (size_t)y) * (size_t)(block->n[0] + 2) +
            (size_t)x) *
           FIELDS;
}

static size_t block_values(const struct block *block)
{
    return (size_t)(block->n[0] + 2) * (size_t)(block->n[1] + 2) * (size_t)(block->n[2] + 2) *
           FIELDS;
}

/* Direction 0 to 26 as steps of -1, 0 and 1. */
static void steps_of(int direction, int step[DIMENSIONS])
{
    for (int d = 0; d < DIMENSIONS; d++, direction /= 3)
        step[d] = direction % 3 - 1;
}

/* The cells that go in a direction, or come from it. */
static void range_of(const struct block *block, const int step[DIMENSIONS], int is_ghost,
                     int first[DIMENSIONS], int last[DIMENSIONS])
{
    for (int d = 0; d < DIMENSIONS; d++) {
        int n = block->n[d];
        first[d] = step[d] > 0 ? n + is_ghost : 1 - (step[d] < 0) * is_ghost;
        last[d] = step[d] == 0 ? n : first[d];
    }
}

static int cells_in(const int first[DIMENSIONS], const int last[DIMENSIONS])
{
    return (last[0] - first[0] + 1) * (last[1] - first[1] + 1) * (last[2] - first[2] + 1);
}

static void copy_range(struct block *block, const int first[DIMENSIONS], const int last[DIMENSIONS],
                       double *buffer, int into_block)
{
    for (int z = first[2]; z <= last[2]; z++)
        for (int y = first[1]; y <= last[1]; y++) {
            double *row = block->cells + index_of(block, first[0], y, z);
            size_t values = (size_t)(last[0] - first[0] + 1) * FIELDS;
            if (into_block)
                memcpy(row, buffer, values * sizeof *row);
            else
                memcpy(buffer, row, values * sizeof *row);
            buffer += values;
        }
}

static void exchange(struct block *block)
{
    MPI_Request requests[2 * NEIGHBOURS];
    MPI_Status unused[2 * NEIGHBOURS];
    int count = 0, step[DIMENSIONS], first[DIMENSIONS], last[DIMENSIONS];
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (i == MIDDLE || block->neighbour[i] == MPI_PROC_NULL)
            continue;
        steps_of(i, step);
        range_of(block, step, 1, first, last);
        MPI_Irecv(block->in[i], cells_in(first, last) * FIELDS, MPI_DOUBLE, block->neighbour[i],
                  NEIGHBOURS - 1 - i, block->comm, &requests[count++]);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (i == MIDDLE || block->neighbour[i] == MPI_PROC_NULL)
            continue;
        steps_of(i, step);
        range_of(block, step, 0, first, last);
        copy_range(block, first, last, block->out[i], 0);
        MPI_Isend(block->out[i], cells_in(first, last) * FIELDS, MPI_DOUBLE, block->neighbour[i], i,
                  block->comm, &requests[count++]);
    }
    MPI_Waitall(count, requests, unused);
    for (int i = 0; i < NEIGHBOURS; i++) {
        if (i == MIDDLE || block->neighbour[i] == MPI_PROC_NULL)
            continue;
        steps_of(i, step);
        range_of(block, step, 1, first, last);
        copy_range(block, first, last, block->in[i], 1);
    }
}

/* Behind the outer planes stand mirrors: the same gas, moving the other way. Layers of later
 * directions take in those of earlier ones. */
static void reflect(struct block *block, int d, int ghost, int inner)
{
    int first[DIMENSIONS] = {0, 0, 0},
        last[DIMENSIONS] = {block->n[0] + 1, block->n[1] + 1, block->n[2] + 1}, at[DIMENSIONS];
    first[d] = last[d] = ghost;
    for (at[2] = first[2]; at[2] <= last[2]; at[2]++)
        for (at[1] = first[1]; at[1] <= last[1]; at[1]++)
            for (at[0] = first[0]; at[0] <= last[0]; at[0]++) {
                int from[DIMENSIONS] = {at[0], at[1], at[2]};
                from[d] = inner;
                double *cell = block->cells + index_of(block, at[0], at[1], at[2]);
                memcpy(cell, block->cells + index_of(block, from[0], from[1], from[2]),
                       FIELDS * sizeof *cell);
                cell[MOMENTUM + d] = -cell[MOMENTUM + d];
            }
}

static void fill_ghosts(struct block *block)
{
    if (block->comm != MPI_COMM_NULL)
        exchange(block);
    for (int d = 0; d < DIMENSIONS; d++) {
        if (block->place[d] == 0)
            reflect(block, d, 0, 1);
        if (block->place[d] == block->grid[d] - 1)
            reflect(block, d, block->n[d] + 1, block->n[d]);
    }
}

static double pressure_of(const double *cell)
{
    double squares = cell[MOMENTUM] * cell[MOMENTUM] + cell[MOMENTUM + 1] * cell[MOMENTUM + 1] +
                     cell[MOMENTUM + 2] * cell[MOMENTUM + 2];
    return (heat_ratio - 1) * (cell[ENERGY] - 0.5 * squares / cell[MASS]);
}

static double signal_of(const double *cell, int d)
{
    return fabs(cell[MOMENTUM + d]) / cell[MASS] +
           sqrt(heat_ratio * pressure_of(cell) / cell[MASS]);
}

static void add_face(const double *low, const double *high, int d, double factor, double sign,
                     double *sum)
{
    double a = signal_of(low, d), b = signal_of(high, d), speed = a > b ? a : b;
    double low_pressure = pressure_of(low), high_pressure = pressure_of(high);
    double low_velocity = low[MOMENTUM + d] / low[MASS],
           high_velocity = high[MOMENTUM + d] / high[MASS];
    for (int f = 0; f < FIELDS; f++) {
        double low_flux = low_velocity * (low[f] + (f == ENERGY ? low_pressure : 0)) +
                          (f == MOMENTUM + d ? low_pressure : 0);
        double high_flux = high_velocity * (high[f] + (f == ENERGY ? high_pressure : 0)) +
                           (f == MOMENTUM + d ? high_pressure : 0);
        sum[f] += sign * factor * (0.5 * (low_flux + high_flux) - 0.5 * speed * (high[f] - low[f]));
    }
}

static void update_cell(struct block *block, int x, int y, int z, double factor)
{
    int stride[DIMENSIONS] = {FIELDS, (block->n[0] + 2) * FIELDS,
                              (block->n[0] + 2) * (block->n[1] + 2) * FIELDS};
    const double *cell = block->cells + index_of(block, x, y, z);
    double faces[DIMENSIONS][FIELDS] = {{0}}, across[FIELDS] = {0};
    double *next = block->next + index_of(block, x, y, z);
    for (int d = 0; d < DIMENSIONS; d++) {
        add_face(cell - stride[d], cell, d, factor, 1, faces[d]);
        add_face(cell, cell + stride[d], d, factor, -1, faces[d]);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        int step[DIMENSIONS];
        steps_of(i, step);
        if (abs(step[0]) + abs(step[1]) + abs(step[2]) < 2)
            continue;
        const double *other =
            cell + step[0] * stride[0] + step[1] * stride[1] + step[2] * stride[2];
        for (int f = 0; f < FIELDS; f++)
            across[f] += other[f] - cell[f];
    }
    for (int f = 0; f < FIELDS; f++)
        next[f] = cell[f] + (faces[0][f] + faces[1][f] + faces[2][f]) +
                  rounding_share * factor * across[f];
}

static double fastest(const struct block *block)
{
    double most = 0;
    for (int z = 1; z <= block->n[2]; z++)
        for (int y = 1; y <= block->n[1]; y++)
            for (int x = 1; x <= block->n[0]; x++)
                for (int d = 0; d < DIMENSIONS; d++) {
                    double one = signal_of(block->cells + index_of(block, x, y, z), d);
                    most = one > most ? one : most;
                }
    return most;
}

static void advance(struct block *block)
{
    double most = fastest(block), all = most;
    if (block->comm != MPI_COMM_NULL)
        MPI_Allreduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, block->comm);
    fill_ghosts(block);
    for (int z = 1; z <= block->n[2]; z++)
        for (int y = 1; y <= block->n[1]; y++)
            for (int x = 1; x <= block->n[0]; x++)
                update_cell(block, x, y, z, courant / all);
    double *old = block->cells;
    block->cells = block->next;
    block->next = old;
}

static void set_start(struct block *block)
{
    block->cells = app_allocate(block_values(block), sizeof *block->cells);
    block->next = app_allocate(block_values(block), sizeof *block->next);
    for (int z = 1; z <= block->n[2]; z++)
        for (int y = 1; y <= block->n[1]; y++)
            for (int x = 1; x <= block->n[0]; x++) {
                double *cell = block->cells + index_of(block, x, y, z);
                cell[MASS] = 1;
                cell[ENERGY] = background;
            }
    if (block->place[0] == 0 && block->place[1] == 0 && block->place[2] == 0)
        block->cells[index_of(block, 1, 1, 1) + ENERGY] = blast;
}

static struct block create_block(const struct app *app, int edge)
{
    struct block block = {.n = {edge, edge, edge}};
    int wraps[DIMENSIONS] = {0, 0, 0}, place[DIMENSIONS], grid[DIMENSIONS] = {0, 0, 0}, me;
    MPI_Dims_create(app->ranks, DIMENSIONS, grid);
    MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, grid, wraps, 0, &block.comm);
    MPI_Comm_rank(block.comm, &me);
    MPI_Cart_coords(block.comm, me, DIMENSIONS, place);
    for (int d = 0; d < DIMENSIONS; d++) {
        block.grid[d] = grid[d];
        block.place[d] = place[d];
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        int step[DIMENSIONS], at[DIMENSIONS], first[DIMENSIONS], last[DIMENSIONS], inside = 1;
        steps_of(i, step);
        for (int d = 0; d < DIMENSIONS; d++) {
            at[d] = place[d] + step[d];
            inside &= at[d] >= 0 && at[d] < grid[d];
        }
        block.neighbour[i] = MPI_PROC_NULL;
        if (!inside || i == MIDDLE)
            continue;
        MPI_Cart_rank(block.comm, at, &block.neighbour[i]);
        range_of(&block, step, 1, first, last);
        block.in[i] = app_allocate((size_t)cells_in(first, last) * FIELDS, sizeof(double));
        block.out[i] = app_allocate((size_t)cells_in(first, last) * FIELDS, sizeof(double));
    }
    set_start(&block);
    return block;
}

static void free_block(struct block *block)
{
    free(block->cells);
    free(block->next);
    for (int i = 0; i < NEIGHBOURS; i++) {
        free(block->in[i]);
        free(block->out[i]);
    }
    if (block->comm != MPI_COMM_NULL)
        MPI_Comm_free(&block->comm);
}

static double sum_field(const struct block *block, int field)
{
    double sum = 0;
    for (int z = 1; z <= block->n[2]; z++)
        for (int y = 1; y <= block->n[1]; y++)
            for (int x = 1; x <= block->n[0]; x++)
                sum += block->cells[index_of(block, x, y, z) + (size_t)field];
    return app_sum_double(sum);
}

/* The whole box as one block. */
static double serial_origin_energy(const struct block *like, uint64_t steps)
{
    struct block whole = {.grid = {1, 1, 1}, .comm = MPI_COMM_NULL};
    for (int d = 0; d < DIMENSIONS; d++)
        whole.n[d] = like->n[d] * like->grid[d];
    set_start(&whole);
    for (uint64_t i = 0; i < steps; i++)
        advance(&whole);
    double energy = whole.cells[index_of(&whole, 1, 1, 1) + ENERGY];
    free_block(&whole);
    return energy;
}

static void verify_cells(struct app *app, const struct block *block)
{
    for (int z = 1; z <= block->n[2]; z++)
        for (int y = 1; y <= block->n[1]; y++)
            for (int x = 1; x <= block->n[0]; x++) {
                const double *cell = block->cells + index_of(block, x, y, z);
                if (!(cell[MASS] > 0) || !(pressure_of(cell) > 0)) {
                    app_verify(app, false, "density %g or pressure %g of a cell is not positive",
                               cell[MASS], pressure_of(cell));
                    return;
                }
            }
}

/* Directions in which the box is equally long are alike, but for the order of additions. */
static void verify_symmetry(struct app *app, const struct block *block)
{
    double beside[DIMENSIONS];
    for (int d = 0; d < DIMENSIONS; d++)
        beside[d] =
            block->cells[index_of(block, 1 + (d == 0), 1 + (d == 1), 1 + (d == 2)) + ENERGY];
    for (int d = 1; d < DIMENSIONS; d++)
        app_verify(app,
                   block->grid[d] != block->grid[d - 1] ||
                       fabs(beside[d] - beside[d - 1]) <= rounding * beside[d],
                   "the energies beside the origin are %.17g, %.17g and %.17g", beside[0],
                   beside[1], beside[2]);
}

/* The state between two steps, for `reprise ft`. */

static size_t cells_size(void *data)
{
    return block_values(data) * sizeof(double);
}

static void cells_save(void *data, void *out)
{
    memcpy(out, ((struct block *)data)->cells, cells_size(data));
}

static void cells_restore(void *data, const void *in, size_t bytes)
{
    memcpy(((struct block *)data)->cells, in, bytes);
}

static const struct reprise_state cells_state = {cells_size, cells_save, cells_restore};

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    uint64_t steps = options[OPTION_SIZE].value;
    struct block block = create_block(&app, (int)options[OPTION_EDGE].value);
    double mass = sum_field(&block, MASS), energy = sum_field(&block, ENERGY);

    reprise_protect_state(0, &cells_state, &block);
    REPRISE_LOOP(i, 0, (long)steps)
    {
        app_tick(&app, i);
        advance(&block);
    }

    double mass_after = sum_field(&block, MASS), energy_after = sum_field(&block, ENERGY),
           origin = 0;
    verify_cells(&app, &block);
    app_verify(&app, fabs(mass_after - mass) <= rounding * mass, "the mass was %.17g and is %.17g",
               mass, mass_after);
    app_verify(&app, fabs(energy_after - energy) <= rounding * energy,
               "the energy was %.17g and is %.17g", energy, energy_after);
    bool serial = (uint64_t)app.ranks * steps * (uint64_t)block.n[0] * (uint64_t)block.n[1] *
                      (uint64_t)block.n[2] <=
                  MOST_SERIAL_UPDATES;
    if (app.rank == 0) {
        origin = block.cells[index_of(&block, 1, 1, 1) + ENERGY];
        verify_symmetry(&app, &block);
        if (serial) {
            double expected = serial_origin_energy(&block, steps);
            app_verify(&app, origin == expected,
                       "the energy at the origin is %.17g, serially %.17g", origin, expected);
        }
    }
    for (int z = 1; z <= block.n[2]; z++)
        for (int y = 1; y <= block.n[1]; y++)
            for (int x = 1; x <= block.n[0]; x++)
                app_hash_add_double(&app.hash, block.cells[index_of(&block, x, y, z) + ENERGY]);
    free_block(&block);
    return app_result(&app, "origin=%.15g checked=%s", origin, serial ? "serial" : "conservation");
}
