/* SPDX-License-Identifier: MIT */
/*
 * Symmetric successive over-relaxation on a cube, in wavefronts, after the NAS benchmark LU.
 *
 * Five unknowns at each point are coupled by a 5x5 matrix D = 6 I + g g^T, with a random g for each
 * point, and to those of the six neighbouring points by -I; outside the cube they are zero. The
 * system is symmetric and positive definite. An iteration computes the residual, sweeps through the
 * cube from one corner to the other, where each point needs the new values of three neighbours
 * (lower triangle), sweeps back (upper triangle), and adds the outcome to the solution. At each
 * point of a sweep a 5x5 system is solved by elimination.
 *
 * The cube is cut into columns on a 2-D grid of ranks. For each plane of a sweep a rank receives
 * one border from above and one from the left, computes, and sends its borders down and to the
 * right (or the reverse): the ranks work like a pipeline, each on another plane. Before a residual
 * is computed, the borders of the whole solution are exchanged with receives that are posted first.
 * All receives are from any source. The tag tells the direction in which a message travels, for
 * which a rank has one neighbour only, and messages of one sender do not overtake each
 * other: so the result is the same in every run.
 *
 * What two sweeps make of a field is a symmetric operator, which is verified with two fields. The
 * right-hand side belongs to a known random solution: the error's energy norm must fall in each
 * iteration, as it does for any over-relaxation factor between 0 and 2. A point's values depend on
 * those of its neighbours and on no order but the sweep's, so that the first iterations must agree
 * with a serial computation to the last bit.
 */
#include "app.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 5 };
enum { NORTH, SOUTH, WEST, EAST, SIDES }; /* the opposite of side s is s ^ 1 */
enum {
    TAG_WAVE = 1,
    TAG_BORDER = TAG_WAVE + SIDES
}; /* + the side towards which a message travels */
enum { OPTION_SIZE, OPTION_WORK };

#define MOST_SERIAL_UPDATES (UINT64_C(1) << 18)

static const double relaxation = 1.2;
static const double rounding = 1e-12;
static const double rounding_of_squares = 1e-24;

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "points along an edge of the cube", 32, 1, 1 << 10},
    [OPTION_WORK] = {"work", "iterations", 40, 1, UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {
    "lu", "Over-relaxation in wavefronts; wildcard receives, yet deterministic.", 1, options};

/*
 * A block of rows x columns x edge points. Rows and columns 1 to n are its own; around them lie
 * those of neighbours, or zeros. A block without neighbours never communicates: rank 0 verifies
 * with one.
 */
struct block {
    uint64_t seed;
    int edge;
    int rows, columns;
    int first_row, first_column; /* global numbers of row and column 1, from 0 */
    int neighbour[SIDES];        /* ranks, or MPI_PROC_NULL */
    double *coupling;            /* g */
    double *exact;
    double *source; /* the right-hand side */
    double *solution;
    double *residual; /* then what the sweeps make of it */
    double *border[2];
};

/* Points */

static double *at(const struct block *block, double *field, int plane, int row, int column)
{
    size_t line = (size_t)plane * (size_t)(block->rows + 2) + (size_t)row;
    return field + VALUES * (line * (size_t)(block->columns + 2) + (size_t)column);
}

static void add(double *to, double factor, const double *values)
{
    for (int i = 0; i < VALUES; i++)
        to[i] += factor * values[i];
}

/* Planes 0 to edge-1 are points; there are none before and after. */
static void add_plane_neighbour(const struct block *block, double *field, int plane, int row,
                                int column, double factor, double *to)
{
    if (plane >= 0 && plane < block->edge)
        add(to, factor, at(block, field, plane, row, column));
}

static void make_diagonal(const double *coupling, double matrix[VALUES][VALUES])
{
    for (int i = 0; i < VALUES; i++)
        for (int j = 0; j < VALUES; j++)
            matrix[i][j] = coupling[i] * coupling[j] + (i == j ? 6 : 0);
}

/* Replaces the values with the solution of D x = values. D is positive definite and needs no
 * pivots. */
static void solve_diagonal(const double *coupling, double *values)
{
    double matrix[VALUES][VALUES];
    make_diagonal(coupling, matrix);
    for (int pivot = 0; pivot < VALUES; pivot++)
        for (int row = pivot + 1; row < VALUES; row++) {
            double factor = matrix[row][pivot] / matrix[pivot][pivot];
            for (int column = pivot + 1; column < VALUES; column++)
                matrix[row][column] -= factor * matrix[pivot][column];
            values[row] -= factor * values[pivot];
        }
    for (int row = VALUES - 1; row >= 0; row--) {
        for (int column = row + 1; column < VALUES; column++)
            values[row] -= matrix[row][column] * values[column];
        values[row] /= matrix[row][row];
    }
}

/* Sets `to` to the system's matrix times the field, at one point. */
static void apply_system(const struct block *block, double *field, int plane, int row, int column,
                         double *to)
{
    double matrix[VALUES][VALUES];
    const double *here = at(block, field, plane, row, column);
    make_diagonal(at(block, block->coupling, plane, row, column), matrix);
    for (int i = 0; i < VALUES; i++) {
        to[i] = 0;
        for (int j = 0; j < VALUES; j++)
            to[i] += matrix[i][j] * here[j];
    }
    add(to, -1, at(block, field, plane, row - 1, column));
    add(to, -1, at(block, field, plane, row + 1, column));
    add(to, -1, at(block, field, plane, row, column - 1));
    add(to, -1, at(block, field, plane, row, column + 1));
    add_plane_neighbour(block, field, plane - 1, row, column, -1, to);
    add_plane_neighbour(block, field, plane + 1, row, column, -1, to);
}

/* (D + relaxation L) new = old, in place. */
static void relax_lower(const struct block *block, int plane, int row, int column)
{
    double *values = at(block, block->residual, plane, row, column);
    add(values, relaxation, at(block, block->residual, plane, row - 1, column));
    add(values, relaxation, at(block, block->residual, plane, row, column - 1));
    add_plane_neighbour(block, block->residual, plane - 1, row, column, relaxation, values);
    solve_diagonal(at(block, block->coupling, plane, row, column), values);
}

/* (D + relaxation U) new = D old, in place. */
static void relax_upper(const struct block *block, int plane, int row, int column)
{
    double *values = at(block, block->residual, plane, row, column), change[VALUES] = {0};
    add(change, relaxation, at(block, block->residual, plane, row + 1, column));
    add(change, relaxation, at(block, block->residual, plane, row, column + 1));
    add_plane_neighbour(block, block->residual, plane + 1, row, column, relaxation, change);
    solve_diagonal(at(block, block->coupling, plane, row, column), change);
    add(values, 1, change);
}

/* Borders */

static int side_length(const struct block *block, int side)
{
    return side == NORTH || side == SOUTH ? block->columns : block->rows;
}

/* Point number i of the side, inside the block or just outside. */
static double *side_point(const struct block *block, double *field, int plane, int side,
                          bool outside, int i)
{
    switch (side) {
    case NORTH:
        return at(block, field, plane, 1 - outside, 1 + i);
    case SOUTH:
        return at(block, field, plane, block->rows + outside, 1 + i);
    case WEST:
        return at(block, field, plane, 1 + i, 1 - outside);
    default:
        return at(block, field, plane, 1 + i, block->columns + outside);
    }
}

static void copy_out(const struct block *block, double *field, int plane, int side, double *to)
{
    for (int i = 0; i < side_length(block, side); i++)
        memcpy(to + VALUES * i, side_point(block, field, plane, side, false, i),
               VALUES * sizeof *to);
}

static void copy_in(const struct block *block, double *field, int plane, int side,
                    const double *from)
{
    for (int i = 0; i < side_length(block, side); i++)
        memcpy(side_point(block, field, plane, side, true, i), from + VALUES * i,
               VALUES * sizeof *from);
}

/* A message that comes in over a side travels towards the opposite one. */
static void receive_wave(const struct block *block, int plane, int side)
{
    if (block->neighbour[side] == MPI_PROC_NULL)
        return;
    MPI_Recv(block->border[0], VALUES * side_length(block, side), MPI_DOUBLE, MPI_ANY_SOURCE,
             TAG_WAVE + (side ^ 1), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    copy_in(block, block->residual, plane, side, block->border[0]);
}

static void send_wave(const struct block *block, int plane, int side)
{
    if (block->neighbour[side] == MPI_PROC_NULL)
        return;
    copy_out(block, block->residual, plane, side, block->border[0]);
    MPI_Send(block->border[0], VALUES * side_length(block, side), MPI_DOUBLE,
             block->neighbour[side], TAG_WAVE + side, MPI_COMM_WORLD);
}

/* Sends the solution over one side while the neighbour on the opposite side does the same. */
static void shift_borders(const struct block *block, int side)
{
    int length = VALUES * side_length(block, side), planes = block->edge, from = side ^ 1;
    MPI_Request request = MPI_REQUEST_NULL;
    if (block->neighbour[from] != MPI_PROC_NULL)
        MPI_Irecv(block->border[0], planes * length, MPI_DOUBLE, MPI_ANY_SOURCE, TAG_BORDER + side,
                  MPI_COMM_WORLD, &request);
    if (block->neighbour[side] != MPI_PROC_NULL) {
        for (int plane = 0; plane < planes; plane++)
            copy_out(block, block->solution, plane, side, block->border[1] + plane * length);
        MPI_Send(block->border[1], planes * length, MPI_DOUBLE, block->neighbour[side],
                 TAG_BORDER + side, MPI_COMM_WORLD);
    }
    if (block->neighbour[from] == MPI_PROC_NULL)
        return;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int plane = 0; plane < planes; plane++)
        copy_in(block, block->solution, plane, from, block->border[0] + plane * length);
}

/* Iterations */

static void sweep_lower(const struct block *block)
{
    for (int plane = 0; plane < block->edge; plane++) {
        receive_wave(block, plane, NORTH);
        receive_wave(block, plane, WEST);
        for (int row = 1; row <= block->rows; row++)
            for (int column = 1; column <= block->columns; column++)
                relax_lower(block, plane, row, column);
        send_wave(block, plane, SOUTH);
        send_wave(block, plane, EAST);
    }
}

static void sweep_upper(const struct block *block)
{
    for (int plane = block->edge - 1; plane >= 0; plane--) {
        receive_wave(block, plane, SOUTH);
        receive_wave(block, plane, EAST);
        for (int row = block->rows; row >= 1; row--)
            for (int column = block->columns; column >= 1; column--)
                relax_upper(block, plane, row, column);
        send_wave(block, plane, NORTH);
        send_wave(block, plane, WEST);
    }
}

/* Returns the square of the error's energy norm: this block's part of error times residual. */
static double compute_residual(const struct block *block)
{
    double energy = 0;
    for (int side = 0; side < SIDES; side++)
        shift_borders(block, side);
    for (int plane = 0; plane < block->edge; plane++)
        for (int row = 1; row <= block->rows; row++)
            for (int column = 1; column <= block->columns; column++) {
                double *residual = at(block, block->residual, plane, row, column), product[VALUES];
                const double *source = at(block, block->source, plane, row, column);
                const double *exact = at(block, block->exact, plane, row, column);
                const double *solution = at(block, block->solution, plane, row, column);
                apply_system(block, block->solution, plane, row, column, product);
                for (int i = 0; i < VALUES; i++) {
                    residual[i] = source[i] - product[i];
                    energy += residual[i] * (exact[i] - solution[i]);
                }
            }
    return energy;
}

static void correct_solution(const struct block *block)
{
    double factor = relaxation * (2 - relaxation);
    for (int plane = 0; plane < block->edge; plane++)
        for (int row = 1; row <= block->rows; row++)
            for (int column = 1; column <= block->columns; column++)
                add(at(block, block->solution, plane, row, column), factor,
                    at(block, block->residual, plane, row, column));
}

/* Returns this block's part of the energy before the iteration. */
static double iterate(const struct block *block)
{
    double energy = compute_residual(block);
    sweep_lower(block);
    sweep_upper(block);
    correct_solution(block);
    return energy;
}

/* Blocks */

static bool is_in_cube(const struct block *block, int row, int column)
{
    int global_row = block->first_row + row - 1, global_column = block->first_column + column - 1;
    return global_row >= 0 && global_row < block->edge && global_column >= 0 &&
           global_column < block->edge;
}

/* Random values that depend on the global place only; also around the block, where the exact
 * solution is needed. */
static void set_random(const struct block *block, double *field, uint64_t stream, int plane,
                       int row, int column)
{
    uint64_t edge = (uint64_t)block->edge;
    uint64_t place = ((uint64_t)plane * edge + (uint64_t)(block->first_row + row - 1)) * edge +
                     (uint64_t)(block->first_column + column - 1);
    struct app_random random = app_random_from(block->seed, place, stream);
    for (int i = 0; i < VALUES; i++)
        at(block, field, plane, row, column)[i] = app_random_unit(&random);
}

static void set_system(const struct block *block)
{
    for (int plane = 0; plane < block->edge; plane++)
        for (int row = 0; row <= block->rows + 1; row++)
            for (int column = 0; column <= block->columns + 1; column++)
                if (is_in_cube(block, row, column)) {
                    set_random(block, block->coupling, 0, plane, row, column);
                    set_random(block, block->exact, 1, plane, row, column);
                }
    for (int plane = 0; plane < block->edge; plane++)
        for (int row = 1; row <= block->rows; row++)
            for (int column = 1; column <= block->columns; column++)
                apply_system(block, block->exact, plane, row, column,
                             at(block, block->source, plane, row, column));
}

/* A block without fields. */
static struct block place_block(uint64_t seed, const int *shape, const int *place)
{
    int edge = (int)options[OPTION_SIZE].value;
    struct block block = {.seed = seed, .edge = edge};
    block.first_row = app_part_first(edge, shape[0], place[0]);
    block.first_column = app_part_first(edge, shape[1], place[1]);
    block.rows = app_part_first(edge, shape[0], place[0] + 1) - block.first_row;
    block.columns = app_part_first(edge, shape[1], place[1] + 1) - block.first_column;
    int rank = place[0] * shape[1] + place[1];
    block.neighbour[NORTH] = place[0] > 0 ? rank - shape[1] : MPI_PROC_NULL;
    block.neighbour[SOUTH] = place[0] < shape[0] - 1 ? rank + shape[1] : MPI_PROC_NULL;
    block.neighbour[WEST] = place[1] > 0 ? rank - 1 : MPI_PROC_NULL;
    block.neighbour[EAST] = place[1] < shape[1] - 1 ? rank + 1 : MPI_PROC_NULL;
    return block;
}

static struct block create_block(uint64_t seed, const int *shape, const int *place)
{
    struct block block = place_block(seed, shape, place);
    size_t edge = (size_t)block.edge,
           points = edge * (size_t)(block.rows + 2) * (size_t)(block.columns + 2);
    double **fields[] = {&block.coupling, &block.exact, &block.source, &block.solution,
                         &block.residual};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = app_allocate(points * VALUES, sizeof(double));
    for (int i = 0; i < 2; i++)
        block.border[i] =
            app_allocate(edge * (size_t)(block.rows + block.columns) * VALUES, sizeof(double));
    set_system(&block);
    return block;
}

static void free_block(struct block *block)
{
    free(block->coupling);
    free(block->exact);
    free(block->source);
    free(block->solution);
    free(block->residual);
    free(block->border[0]);
    free(block->border[1]);
}

/* Verification */

/* The hash of the solution in that part of the cube that is `part`, which `block` contains. */
static uint64_t solution_hash(const struct block *block, const struct block *part)
{
    uint64_t hash = 0;
    int rows_before = part->first_row - block->first_row,
        columns_before = part->first_column - block->first_column;
    for (int plane = 0; plane < block->edge; plane++)
        for (int row = 1; row <= part->rows; row++)
            for (int column = 1; column <= part->columns; column++) {
                const double *values =
                    at(block, block->solution, plane, rows_before + row, columns_before + column);
                for (int i = 0; i < VALUES; i++)
                    app_hash_add_double(&hash, values[i]);
            }
    return hash;
}

/* The product of one field with what the sweeps make of another. */
static double product_with_swept(const struct block *block, double *field, const double *swept)
{
    double product = 0;
    size_t points = (size_t)block->edge * (size_t)(block->rows + 2) * (size_t)(block->columns + 2);
    memcpy(block->residual, swept, points * VALUES * sizeof *swept);
    sweep_lower(block);
    sweep_upper(block);
    for (int plane = 0; plane < block->edge; plane++)
        for (int row = 1; row <= block->rows; row++)
            for (int column = 1; column <= block->columns; column++) {
                const double *left = at(block, field, plane, row, column);
                const double *right = at(block, block->residual, plane, row, column);
                for (int i = 0; i < VALUES; i++)
                    product += left[i] * right[i];
            }
    return app_sum_double(product);
}

static void verify_symmetry(struct app *app, const struct block *block)
{
    double one = product_with_swept(block, block->source, block->exact);
    double other = product_with_swept(block, block->exact, block->source);
    app_verify(app, fabs(one - other) <= rounding * fabs(one),
               "the sweeps are not symmetric: %.15g, %.15g", one, other);
}

static uint64_t serial_iterations(void)
{
    uint64_t edge = options[OPTION_SIZE].value,
             most = 1 + MOST_SERIAL_UPDATES / (edge * edge * edge);
    return most < options[OPTION_WORK].value ? most : options[OPTION_WORK].value;
}

static void compute_expected_hashes(const struct app *app, const int *shape, uint64_t *hashes)
{
    struct block whole = create_block(app->seed, (int[]){1, 1}, (int[]){0, 0});
    for (uint64_t i = 0; i < serial_iterations(); i++)
        iterate(&whole);
    for (int rank = 0; rank < app->ranks; rank++) {
        struct block part =
            place_block(app->seed, shape, (int[]){rank / shape[1], rank % shape[1]});
        hashes[rank] = solution_hash(&whole, &part);
    }
    free_block(&whole);
}

static void verify_against_serial(struct app *app, const int *shape, uint64_t hash)
{
    uint64_t *expected = app_allocate((size_t)app->ranks, sizeof *expected);
    if (app->rank == 0)
        compute_expected_hashes(app, shape, expected);
    app_verify_hashes(app, hash, expected, "the solution");
    free(expected);
}

/* Returns the square of the error's energy norm at the end, relative to that at the start. */
static double run_iterations(struct app *app, const struct block *block, uint64_t *early_hash)
{
    double first = 0, previous = INFINITY;
    for (uint64_t i = 0; i < options[OPTION_WORK].value; i++) {
        double energy = app_sum_double(iterate(block));
        app_verify(app, energy < previous || energy < rounding_of_squares * first,
                   "the error's norm grew from %g to %g at iteration %" PRIu64, sqrt(previous),
                   sqrt(energy), i);
        previous = energy;
        first = i ? first : energy;
        if (i + 1 == serial_iterations())
            *early_hash = solution_hash(block, block);
    }
    double last = app_sum_double(compute_residual(block));
    app_verify(app, last < previous || last < rounding_of_squares * first,
               "the error's norm grew to %g in the end", sqrt(last));
    return last / first;
}

int main(int argc, char **argv)
{
    struct app app;
    int shape[2] = {0, 0};
    uint64_t early_hash = 0;
    app_start(&app, &spec, &argc, &argv);
    MPI_Dims_create(app.ranks, 2, shape);
    if (options[OPTION_SIZE].value < (uint64_t)shape[0])
        app_usage_error(&app, "--size must be at least %d with %d ranks", shape[0], app.ranks);
    struct block block =
        create_block(app.seed, shape, (int[]){app.rank / shape[1], app.rank % shape[1]});
    verify_symmetry(&app, &block);
    double error = sqrt(run_iterations(&app, &block, &early_hash));
    verify_against_serial(&app, shape, early_hash);
    app_hash_add(&app.hash, solution_hash(&block, &block));
    free_block(&block);
    return app_result(&app, "error=%.6e", error);
}
