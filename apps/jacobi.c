/* SPDX-License-Identifier: MIT */
/*
 * Jacobi iteration for Poisson's equation on the unit square, its rows dealt out to the ranks in
 * slabs.
 *
 * This is hidden determinism: the border rows are received from any source, but each of the two
 * receives has a tag that only one rank uses towards this one, and Waitall makes the order of
 * completion invisible. The result is the same in every run, and a recorder that understands this
 * has nothing to store.
 *
 * The right-hand side belongs to u(x,y) = x(1-x) y(1-y), for which the 5-point stencil is exact.
 * From any start (here small random values) the residual must never grow, since the iteration
 * matrix is symmetric. Its slowest mode is sin(pi x) sin(pi y): each iteration multiplies that part
 * of the error by cos(pi h), h being the mesh width, and the 2-norm of the whole error by no more.
 */
#include "app.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum { TAG_UPWARD = 1, TAG_DOWNWARD = 2 };
enum { ITERATIONS_PER_RESIDUAL = 10 };
enum { OPTION_SIZE, OPTION_EDGE };

static const double pi = 3.14159265358979323846;
static const double start_height = 0.01; /* the solution's is 1/16 */
static const double rounding =
    1e-10; /* relative to the start, where convergence ends in rounding errors */

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "iterations", 1500, 1, UINT64_C(1) << 40},
    [OPTION_EDGE] = {"edge", "unknowns along an edge of the square, at least one per rank", 512, 1,
                     1 << 15},
    {0},
};

static const struct app_spec spec = {"jacobi",
                                     "Poisson's equation; wildcard receives, yet deterministic.", 1,
                                     options};

/* Rows 1 to `rows` and columns 1 to `edge` are unknowns; around them lie neighbours' rows and the
 * boundary, 0. */
struct slab {
    const struct app *app;
    int edge;
    int rows;
    int first_row; /* global number of row 1, from 1 */
    double *values;
    double *next;
};

struct error {
    double norm;
    double slowest_mode;
};

static double *row_of(double *values, const struct slab *slab, int row)
{
    return values + (size_t)row * (size_t)(slab->edge + 2);
}

static double coordinate(const struct slab *slab, int index)
{
    return (double)index / (slab->edge + 1);
}

static double hill(double x)
{
    return x * (1 - x);
}

static double wave(const struct slab *slab, int index)
{
    return sin(pi * coordinate(slab, index));
}

static double exact_solution(const struct slab *slab, int row, int column)
{
    return hill(coordinate(slab, column)) * hill(coordinate(slab, slab->first_row + row - 1));
}

/* The right-hand side times h^2. */
static double scaled_source(const struct slab *slab, int row, int column)
{
    double h = coordinate(slab, 1);
    double source =
        2 * (hill(coordinate(slab, column)) + hill(coordinate(slab, slab->first_row + row - 1)));
    return h * h * source;
}

static struct slab create_slab(const struct app *app)
{
    int edge = (int)options[OPTION_EDGE].value;
    if (edge < app->ranks)
        app_usage_error(app, "--edge must be at least the number of ranks, %d", app->ranks);
    int rows = edge / app->ranks, longer_slabs = edge % app->ranks;
    struct slab slab = {.app = app, .edge = edge, .rows = rows + (app->rank < longer_slabs)};
    slab.first_row = 1 + app->rank * rows + (app->rank < longer_slabs ? app->rank : longer_slabs);
    size_t cells = (size_t)(slab.rows + 2) * (size_t)(edge + 2);
    slab.values = app_allocate(cells, sizeof *slab.values);
    slab.next = app_allocate(cells, sizeof *slab.next);
    return slab;
}

static void set_random_start(struct slab *slab)
{
    for (int row = 1; row <= slab->rows; row++) {
        struct app_random random =
            app_random_from(slab->app->seed, (uint64_t)(slab->first_row + row), 0);
        for (int column = 1; column <= slab->edge; column++)
            row_of(slab->values, slab, row)[column] = start_height * app_random_unit(&random);
    }
}

static void free_slab(struct slab *slab)
{
    free(slab->values);
    free(slab->next);
}

/* Rank 0 has the lowest rows; "upward" messages go to the next higher rank. */
static void exchange_rows(struct slab *slab)
{
    MPI_Request requests[4];
    MPI_Status unused[4];
    int count = 0, rank = slab->app->rank, top = slab->app->ranks - 1;
    if (rank > 0)
        MPI_Irecv(row_of(slab->values, slab, 0), slab->edge + 2, MPI_DOUBLE, MPI_ANY_SOURCE,
                  TAG_UPWARD, MPI_COMM_WORLD, &requests[count++]);
    if (rank < top)
        MPI_Irecv(row_of(slab->values, slab, slab->rows + 1), slab->edge + 2, MPI_DOUBLE,
                  MPI_ANY_SOURCE, TAG_DOWNWARD, MPI_COMM_WORLD, &requests[count++]);
    if (rank < top)
        MPI_Isend(row_of(slab->values, slab, slab->rows), slab->edge + 2, MPI_DOUBLE, rank + 1,
                  TAG_UPWARD, MPI_COMM_WORLD, &requests[count++]);
    if (rank > 0)
        MPI_Isend(row_of(slab->values, slab, 1), slab->edge + 2, MPI_DOUBLE, rank - 1, TAG_DOWNWARD,
                  MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, unused);
}

/* Updates one row and returns the sum of the squares of its changes, each a quarter of the
 * residual. */
static double relax_row(struct slab *slab, int row)
{
    const double *below = row_of(slab->values, slab, row - 1),
                 *above = row_of(slab->values, slab, row + 1);
    const double *here = row_of(slab->values, slab, row);
    double *next = row_of(slab->next, slab, row);
    double sum = 0;
    for (int column = 1; column <= slab->edge; column++) {
        double neighbours = here[column - 1] + here[column + 1] + below[column] + above[column];
        next[column] = 0.25 * (neighbours + scaled_source(slab, row, column));
        double change = next[column] - here[column];
        sum += change * change;
    }
    return sum;
}

static double relax(struct slab *slab)
{
    double sum = 0;
    exchange_rows(slab);
    for (int row = 1; row <= slab->rows; row++)
        sum += relax_row(slab, row);
    double *old = slab->values;
    slab->values = slab->next;
    slab->next = old;
    return sum;
}

static struct error measure_error(struct slab *slab)
{
    double squares = 0, slowest_mode = 0;
    for (int row = 1; row <= slab->rows; row++)
        for (int column = 1; column <= slab->edge; column++) {
            double error =
                row_of(slab->values, slab, row)[column] - exact_solution(slab, row, column);
            squares += error * error;
            slowest_mode += error * wave(slab, column) * wave(slab, slab->first_row + row - 1);
        }
    return (struct error){sqrt(app_sum_double(squares)), app_sum_double(slowest_mode)};
}

/* The state between two iterations, for `reprise ft`: the values, in whichever of the two arrays
 * they are. */

static size_t values_size(void *data)
{
    const struct slab *slab = data;
    return (size_t)(slab->rows + 2) * (size_t)(slab->edge + 2) * sizeof *slab->values;
}

static void values_save(void *data, void *out)
{
    memcpy(out, ((struct slab *)data)->values, values_size(data));
}

static void values_restore(void *data, const void *in, size_t bytes)
{
    memcpy(((struct slab *)data)->values, in, bytes);
}

static const struct reprise_state values_state = {values_size, values_save, values_restore};

/* Returns the last residual seen. */
static double iterate(struct app *app, struct slab *slab)
{
    double first = 0, residual = 0;
    reprise_protect_state(0, &values_state, slab);
    reprise_protect(1, &first, sizeof first);
    reprise_protect(2, &residual, sizeof residual);
    reprise_protect(3, &app->failed, sizeof app->failed);
    REPRISE_LOOP(i, 0, (long)options[OPTION_SIZE].value)
    {
        app_tick(app, i);
        double local = relax(slab);
        if (i % ITERATIONS_PER_RESIDUAL != 0)
            continue;
        double previous = residual;
        residual = 4 * sqrt(app_sum_double(local));
        if (i == 0)
            first = residual;
        else
            app_verify(app, residual < previous || residual < rounding * first,
                       "the residual grew from %g to %g at iteration %ld", previous, residual, i);
    }
    return residual;
}

static void verify_error(struct app *app, struct slab *slab, struct error before)
{
    double contraction = pow(cos(pi * coordinate(slab, 1)), (double)options[OPTION_SIZE].value);
    struct error after = measure_error(slab);
    double most = contraction * before.norm, expected = contraction * before.slowest_mode;
    app_verify(app, after.norm <= most + rounding * before.norm,
               "the error is %g, but theory allows no more than %g", after.norm, most);
    app_verify(app, fabs(after.slowest_mode - expected) <= rounding * fabs(before.slowest_mode),
               "the slowest mode of the error is %.12g, but must be %.12g", after.slowest_mode,
               expected);
}

static void hash_field(struct app *app, struct slab *slab)
{
    for (int row = 1; row <= slab->rows; row++)
        for (int column = 1; column <= slab->edge; column++)
            app_hash_add_double(&app->hash, row_of(slab->values, slab, row)[column]);
}

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    struct slab slab = create_slab(&app);
    set_random_start(&slab);
    struct error error_before = measure_error(&slab);
    double residual = iterate(&app, &slab);
    verify_error(&app, &slab, error_before);
    hash_field(&app, &slab);
    free_slab(&slab);
    return app_result(&app, "residual=%.6e", residual);
}
