/* SPDX-License-Identifier: MIT */
/*
 * Halo exchange: a 9-point stencil on a periodic 2-D grid, each rank owning a square block of it.
 *
 * In each step a rank posts eight receives from any source, one for each direction in which halos
 * travel, the tag telling the direction; sends its eight borders and corners; and takes the halos
 * as they complete, with Waitany. Only one rank sends to a given block in a given direction, so a
 * receive has one possible sender although it names none, and non-overtaking keeps the steps apart.
 * The order of completion is a race, and a hash records it.
 *
 * The field is made of integers: a cell gives a fixed share of itself to each neighbour, a
 * different one for each direction. The sum over all cells never changes, and the field must equal
 * a serial computation, which rank 0 does when it is not too long. On a small grid of ranks a
 * neighbour may be the rank itself; such messages go through MPI too.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 8 };
enum { OPTION_SIZE, OPTION_EDGE };

#define MOST_SERIAL_UPDATES (UINT64_C(1) << 27)

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "time steps", 1500, 1, UINT64_C(1) << 40},
    [OPTION_EDGE] = {"edge", "cells along an edge of a rank's block", 96, 1, 1 << 13},
    {0},
};

static const struct app_spec spec = {"halo",
                                     "Stencil whose halos are taken in the order of arrival.", 1,
                                     options};

struct direction {
    int row;
    int column;
    int shift; /* a cell gives value >> shift this way; all together give no more than half */
};

/* The opposite of direction d is DIRECTIONS - 1 - d. */
static const struct direction directions[DIRECTIONS] = {
    {-1, -1, 4}, {-1, 0, 5}, {-1, 1, 6}, {0, -1, 4}, {0, 1, 7}, {1, -1, 5}, {1, 0, 6}, {1, 1, 4},
};

/* Rows and columns 1 to n hold cells; 0 and n+1 hold halos. */
struct grid {
    int rows;
    int columns;
    uint64_t *cells;
    uint64_t *next;
};

struct rectangle {
    int first_row, last_row;
    int first_column, last_column;
};

struct block {
    struct app *app;
    int shape[2]; /* rows and columns of blocks */
    int place[2]; /* of this block */
    struct grid grid;
    uint64_t *outgoing[DIRECTIONS];
    uint64_t *incoming[DIRECTIONS];
};

/* Grids */

static uint64_t *cell_at(const struct grid *grid, int row, int column)
{
    return &grid->cells[(size_t)row * (size_t)(grid->columns + 2) + (size_t)column];
}

static struct grid create_grid(int rows, int columns)
{
    size_t cells = (size_t)(rows + 2) * (size_t)(columns + 2);
    return (struct grid){rows, columns, app_allocate(cells, sizeof(uint64_t)),
                         app_allocate(cells, sizeof(uint64_t))};
}

static void free_grid(struct grid *grid)
{
    free(grid->cells);
    free(grid->next);
}

/* Fills the grid with its part of the initial field, which begins at the given global row and
 * column. */
static void initialise(struct grid *grid, uint64_t seed, int first_row, int first_column)
{
    for (int row = 1; row <= grid->rows; row++)
        for (int column = 1; column <= grid->columns; column++) {
            struct app_random random = app_random_from(seed, (uint64_t)(first_row + row),
                                                       (uint64_t)(first_column + column));
            *cell_at(grid, row, column) = app_random_next(&random) >> 24;
        }
}

static uint64_t updated_cell(const uint64_t *cell, const ptrdiff_t *offsets)
{
    uint64_t value = *cell;
    for (int d = 0; d < DIRECTIONS; d++) {
        value -= *cell >> directions[d].shift;
        value += cell[-offsets[d]] >> directions[d].shift;
    }
    return value;
}

static void update(struct grid *grid)
{
    ptrdiff_t offsets[DIRECTIONS];
    for (int d = 0; d < DIRECTIONS; d++)
        offsets[d] = directions[d].row * (ptrdiff_t)(grid->columns + 2) + directions[d].column;
    for (int row = 1; row <= grid->rows; row++) {
        const uint64_t *cells = cell_at(grid, row, 0);
        uint64_t *next = grid->next + (cells - grid->cells);
        for (int column = 1; column <= grid->columns; column++)
            next[column] = updated_cell(cells + column, offsets);
    }
    uint64_t *old = grid->cells;
    grid->cells = grid->next;
    grid->next = old;
}

static void cut_out(const struct grid *grid, struct rectangle from, uint64_t *to)
{
    size_t width = (size_t)(from.last_column - from.first_column + 1);
    for (int row = from.first_row; row <= from.last_row; row++, to += width)
        memcpy(to, cell_at(grid, row, from.first_column), width * sizeof *to);
}

static void paste(struct grid *grid, struct rectangle to, const uint64_t *from)
{
    size_t width = (size_t)(to.last_column - to.first_column + 1);
    for (int row = to.first_row; row <= to.last_row; row++, from += width)
        memcpy(cell_at(grid, row, to.first_column), from, width * sizeof *from);
}

static struct rectangle interior(const struct grid *grid)
{
    return (struct rectangle){1, grid->rows, 1, grid->columns};
}

/* The cells that lie at the side or corner in direction d, inside the grid or (halo) just
 * outside. */
static struct rectangle side(const struct grid *grid, int d, bool halo)
{
    struct rectangle area = interior(grid);
    if (directions[d].row < 0)
        area.first_row = area.last_row = 1 - halo;
    if (directions[d].row > 0)
        area.first_row = area.last_row = grid->rows + halo;
    if (directions[d].column < 0)
        area.first_column = area.last_column = 1 - halo;
    if (directions[d].column > 0)
        area.first_column = area.last_column = grid->columns + halo;
    return area;
}

/* The exchange */

static int neighbour_rank(const struct block *block, int d)
{
    int row = (block->place[0] + directions[d].row + block->shape[0]) % block->shape[0];
    int column = (block->place[1] + directions[d].column + block->shape[1]) % block->shape[1];
    return row * block->shape[1] + column;
}

static int halo_length(const struct block *block, int d)
{
    return directions[d].row != 0 && directions[d].column != 0 ? 1 : block->grid.rows;
}

/* The tag of a message is the direction in which it travels. */
static void post_receives(struct block *block, MPI_Request *receives)
{
    for (int d = 0; d < DIRECTIONS; d++)
        MPI_Irecv(block->incoming[d], halo_length(block, d), MPI_UINT64_T, MPI_ANY_SOURCE, d,
                  MPI_COMM_WORLD, &receives[d]);
}

static void send_borders(struct block *block, MPI_Request *sends)
{
    for (int d = 0; d < DIRECTIONS; d++) {
        cut_out(&block->grid, side(&block->grid, d, false), block->outgoing[d]);
        MPI_Isend(block->outgoing[d], halo_length(block, d), MPI_UINT64_T, neighbour_rank(block, d),
                  d, MPI_COMM_WORLD, &sends[d]);
    }
}

static void take_halos_as_they_come(struct block *block, MPI_Request *receives)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        int d;
        MPI_Status status;
        MPI_Waitany(DIRECTIONS, receives, &d, &status);
        int came_from = DIRECTIONS - 1 - d;
        app_verify(block->app, status.MPI_SOURCE == neighbour_rank(block, came_from),
                   "halo %d came from rank %d", d, status.MPI_SOURCE);
        paste(&block->grid, side(&block->grid, came_from, true), block->incoming[d]);
        app_hash_add(&block->app->hash, (uint64_t)d);
    }
}

static void run_step(struct block *block)
{
    MPI_Request receives[DIRECTIONS], sends[DIRECTIONS];
    MPI_Status unused[DIRECTIONS];
    post_receives(block, receives);
    send_borders(block, sends);
    take_halos_as_they_come(block, receives);
    update(&block->grid);
    MPI_Waitall(DIRECTIONS, sends, unused);
}

static void create_block(struct app *app, struct block *block)
{
    int edge = (int)options[OPTION_EDGE].value;
    *block = (struct block){.app = app, .grid = create_grid(edge, edge)};
    MPI_Dims_create(app->ranks, 2, block->shape);
    block->place[0] = app->rank / block->shape[1];
    block->place[1] = app->rank % block->shape[1];
    initialise(&block->grid, app->seed, block->place[0] * edge, block->place[1] * edge);
    for (int d = 0; d < DIRECTIONS; d++) {
        block->outgoing[d] = app_allocate((size_t)edge, sizeof(uint64_t));
        block->incoming[d] = app_allocate((size_t)edge, sizeof(uint64_t));
    }
}

static void free_block(struct block *block)
{
    for (int d = 0; d < DIRECTIONS; d++) {
        free(block->outgoing[d]);
        free(block->incoming[d]);
    }
    free_grid(&block->grid);
}

/* Verification */

static uint64_t grid_sum(const struct grid *grid)
{
    uint64_t sum = 0;
    for (int row = 1; row <= grid->rows; row++)
        for (int column = 1; column <= grid->columns; column++)
            sum += *cell_at(grid, row, column);
    return sum;
}

static uint64_t grid_hash(const struct grid *grid)
{
    uint64_t hash = 0;
    for (int row = 1; row <= grid->rows; row++)
        app_hash_add_words(&hash, cell_at(grid, row, 1), (size_t)grid->columns);
    return hash;
}

static void wrap_around(struct grid *grid)
{
    for (int row = 1; row <= grid->rows; row++) {
        *cell_at(grid, row, 0) = *cell_at(grid, row, grid->columns);
        *cell_at(grid, row, grid->columns + 1) = *cell_at(grid, row, 1);
    }
    size_t bytes = (size_t)(grid->columns + 2) * sizeof(uint64_t);
    memcpy(cell_at(grid, 0, 0), cell_at(grid, grid->rows, 0), bytes);
    memcpy(cell_at(grid, grid->rows + 1, 0), cell_at(grid, 1, 0), bytes);
}

static struct grid compute_serially(const struct block *block)
{
    struct grid whole =
        create_grid(block->shape[0] * block->grid.rows, block->shape[1] * block->grid.columns);
    initialise(&whole, block->app->seed, 0, 0);
    for (uint64_t step = 0; step < options[OPTION_SIZE].value; step++) {
        wrap_around(&whole);
        update(&whole);
    }
    return whole;
}

static void compare_with_serial(const struct block *block, const uint64_t *gathered)
{
    int edge = block->grid.rows;
    size_t cells = (size_t)edge * (size_t)edge;
    uint64_t *expected = app_allocate(cells, sizeof *expected);
    struct grid whole = compute_serially(block);
    for (int rank = 0; rank < block->app->ranks; rank++) {
        int row = rank / block->shape[1] * edge, column = rank % block->shape[1] * edge;
        cut_out(&whole, (struct rectangle){row + 1, row + edge, column + 1, column + edge},
                expected);
        bool same =
            memcmp(expected, gathered + (size_t)rank * cells, cells * sizeof *expected) == 0;
        app_verify(block->app, same, "rank %d's block is not what a serial run gives", rank);
    }
    free_grid(&whole);
    free(expected);
}

static void verify_against_serial(const struct block *block)
{
    int cells = block->grid.rows * block->grid.columns;
    uint64_t *own = app_allocate((size_t)cells, sizeof *own);
    uint64_t *gathered = NULL;
    if (block->app->rank == 0)
        gathered = app_allocate((size_t)cells * (size_t)block->app->ranks, sizeof *gathered);
    cut_out(&block->grid, interior(&block->grid), own);
    MPI_Gather(own, cells, MPI_UINT64_T, gathered, cells, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (block->app->rank == 0)
        compare_with_serial(block, gathered);
    free(gathered);
    free(own);
}

static bool serial_is_affordable(const struct block *block)
{
    uint64_t cells =
        (uint64_t)block->grid.rows * (uint64_t)block->grid.columns * (uint64_t)block->app->ranks;
    return options[OPTION_SIZE].value <= MOST_SERIAL_UPDATES / cells;
}

int main(int argc, char **argv)
{
    struct app app;
    struct block block;
    app_start(&app, &spec, &argc, &argv);
    create_block(&app, &block);
    uint64_t sum_before = app_sum(grid_sum(&block.grid));
    for (uint64_t step = 0; step < options[OPTION_SIZE].value; step++)
        run_step(&block);

    bool serial = serial_is_affordable(&block);
    app_verify(&app, app_sum(grid_sum(&block.grid)) == sum_before,
               "the sum of the field has changed");
    if (serial)
        verify_against_serial(&block);
    uint64_t field = app_combine(&app, grid_hash(&block.grid));
    free_block(&block);
    return app_result(&app, "field=%016" PRIx64 " checked=%s", field, serial ? "serial" : "sum");
}
