/* SPDX-License-Identifier: MIT */
/*
 * A partial differential equation by 3-D fast Fourier transforms, after the NAS benchmark FT.
 *
 * A random complex field on a periodic cube is transformed once. In each time step its spectrum is
 * multiplied by exp(-4 alpha pi^2 |k|^2 t), which is what diffusion does until time t, and
 * transformed back; a checksum of some points is summed over the ranks.
 *
 * The cube is cut into slabs of planes. A rank transforms along the two axes that lie in its
 * planes, then all ranks exchange pieces (Alltoall) so that first and last index change places, and
 * transform along the third. Slabs have the same number of planes but for the last ranks, which may
 * have fewer or none; messages are padded.
 *
 * The transform back of the unchanged spectrum must give the initial field, one random mode must be
 * what the definition of the Fourier transform says, and in each step the field must have the mean
 * of the initial one and the energy of its spectrum (Parseval).
 */
#include "app.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKSUM_POINTS = 1024 };
enum { OPTION_SIZE, OPTION_WORK };

static const double alpha = 1e-6;
static const double pi = 3.14159265358979323846;
static const double rounding = 1e-11;

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "points along an edge of the cube, a power of two", 64, 2, 1 << 9},
    [OPTION_WORK] = {"work", "time steps", 12, 1, UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"ft", "Fourier transforms of a cube; all-to-all exchanges.", 1,
                                     options};

struct number {
    double re, im;
};

/* Points lie in memory as [plane][row][column]. Planes are z and columns x, in the spectrum the
 * reverse. */
struct slab {
    struct app *app;
    int edge;
    int most_planes; /* of any rank */
    int first_plane;
    int planes;
    struct number *field;
    struct number *spectrum;
    struct number *outgoing, *incoming; /* of an exchange, a piece for each rank */
    struct number *line;                /* scratch for one transform */
    struct number *roots;               /* exp(-2 pi i n / edge) */
};

/* Numbers */

static struct number plus(struct number a, struct number b)
{
    return (struct number){a.re + b.re, a.im + b.im};
}

static struct number minus(struct number a, struct number b)
{
    return (struct number){a.re - b.re, a.im - b.im};
}

static struct number times(struct number a, struct number b)
{
    return (struct number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct number scaled(double factor, struct number a)
{
    return (struct number){factor * a.re, factor * a.im};
}

static double square_of(struct number a)
{
    return a.re * a.re + a.im * a.im;
}

static struct number sum_over_ranks(struct number a)
{
    return (struct number){app_sum_double(a.re), app_sum_double(a.im)};
}

/* Transforms of one line */

static void reverse_bits(struct number *line, int count)
{
    for (int i = 1, reversed = 0; i < count; i++) {
        int bit = count >> 1;
        for (; reversed & bit; bit >>= 1)
            reversed ^= bit;
        reversed ^= bit;
        if (i < reversed) {
            struct number swapped = line[i];
            line[i] = line[reversed];
            line[reversed] = swapped;
        }
    }
}

/* Joins transforms of `half` points each, which lie one after the other, to transforms of twice as
 * many. */
static void join_halves(const struct slab *slab, struct number *line, int half, bool inverse)
{
    int step = slab->edge / (2 * half);
    for (int start = 0; start < slab->edge; start += 2 * half)
        for (int i = 0; i < half; i++) {
            struct number root = slab->roots[i * step], *even = &line[start + i],
                          *odd = even + half;
            root.im = inverse ? -root.im : root.im;
            struct number turned = times(root, *odd);
            *odd = minus(*even, turned);
            *even = plus(*even, turned);
        }
}

/* Without a factor: there and back again multiplies by the number of points. */
static void transform_line(const struct slab *slab, struct number *line, bool inverse)
{
    reverse_bits(line, slab->edge);
    for (int half = 1; half < slab->edge; half *= 2)
        join_halves(slab, line, half, inverse);
}

/* Transforms of slabs */

static struct number *row_of(const struct slab *slab, struct number *points, int plane, int row)
{
    return points + ((size_t)plane * (size_t)slab->edge + (size_t)row) * (size_t)slab->edge;
}

static void transform_rows(const struct slab *slab, struct number *points, bool inverse)
{
    for (int plane = 0; plane < slab->planes; plane++)
        for (int row = 0; row < slab->edge; row++)
            transform_line(slab, row_of(slab, points, plane, row), inverse);
}

static void transform_columns(const struct slab *slab, struct number *points, bool inverse)
{
    for (int plane = 0; plane < slab->planes; plane++)
        for (int column = 0; column < slab->edge; column++) {
            for (int row = 0; row < slab->edge; row++)
                slab->line[row] = row_of(slab, points, plane, row)[column];
            transform_line(slab, slab->line, inverse);
            for (int row = 0; row < slab->edge; row++)
                row_of(slab, points, plane, row)[column] = slab->line[row];
        }
}

/* In the piece for another rank, whose planes are this one's columns: [its plane][row][plane]. */
static struct number *piece_point(const struct slab *slab, struct number *pieces, int rank,
                                  int plane, int row, int column)
{
    size_t most = (size_t)slab->most_planes;
    size_t line = ((size_t)rank * most + (size_t)column) * (size_t)slab->edge + (size_t)row;
    return pieces + line * most + (size_t)plane;
}

static void cut_pieces(const struct slab *slab, struct number *points)
{
    for (int plane = 0; plane < slab->planes; plane++)
        for (int row = 0; row < slab->edge; row++)
            for (int column = 0; column < slab->edge; column++)
                *piece_point(slab, slab->outgoing, column / slab->most_planes, plane, row,
                             column % slab->most_planes) = row_of(slab, points, plane, row)[column];
}

static void join_pieces(const struct slab *slab, struct number *points)
{
    for (int plane = 0; plane < slab->planes; plane++)
        for (int row = 0; row < slab->edge; row++)
            for (int column = 0; column < slab->edge; column++)
                row_of(slab, points, plane, row)[column] =
                    *piece_point(slab, slab->incoming, column / slab->most_planes,
                                 column % slab->most_planes, row, plane);
}

/* Exchanges the first and the last index. */
static void transpose(const struct slab *slab, struct number *points)
{
    int doubles = 2 * slab->most_planes * slab->most_planes * slab->edge;
    cut_pieces(slab, points);
    MPI_Alltoall(slab->outgoing, doubles, MPI_DOUBLE, slab->incoming, doubles, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    join_pieces(slab, points);
}

static void transform_forward(const struct slab *slab, struct number *points)
{
    transform_rows(slab, points, false);
    transform_columns(slab, points, false);
    transpose(slab, points);
    transform_rows(slab, points, false);
}

static void transform_back(const struct slab *slab, struct number *points)
{
    transform_rows(slab, points, true);
    transpose(slab, points);
    transform_columns(slab, points, true);
    transform_rows(slab, points, true);
}

/* Setting up */

static size_t point_count(const struct slab *slab)
{
    return (size_t)slab->planes * (size_t)slab->edge * (size_t)slab->edge;
}

static double all_points(const struct slab *slab)
{
    return (double)slab->edge * slab->edge * slab->edge;
}

static void set_initial_field(const struct slab *slab, struct number *points)
{
    size_t plane_points = (size_t)slab->edge * (size_t)slab->edge;
    for (int plane = 0; plane < slab->planes; plane++) {
        struct app_random random =
            app_random_from(slab->app->seed, (uint64_t)(slab->first_plane + plane), 0);
        struct number *point = row_of(slab, points, plane, 0);
        for (size_t i = 0; i < plane_points; i++, point++) {
            point->re = app_random_unit(&random);
            point->im = app_random_unit(&random);
        }
    }
}

static struct slab create_slab(struct app *app)
{
    int edge = (int)options[OPTION_SIZE].value, most_planes = (edge + app->ranks - 1) / app->ranks;
    int first = app->rank * most_planes < edge ? app->rank * most_planes : edge;
    struct slab slab = {.app = app, .edge = edge, .most_planes = most_planes, .first_plane = first};
    slab.planes = first + most_planes < edge ? most_planes : edge - first;
    size_t padded = (size_t)app->ranks * (size_t)most_planes * (size_t)most_planes * (size_t)edge;
    slab.field = app_allocate(point_count(&slab), sizeof *slab.field);
    slab.spectrum = app_allocate(point_count(&slab), sizeof *slab.spectrum);
    slab.outgoing = app_allocate(padded, sizeof *slab.outgoing);
    slab.incoming = app_allocate(padded, sizeof *slab.incoming);
    slab.line = app_allocate((size_t)edge, sizeof *slab.line);
    slab.roots = app_allocate((size_t)edge, sizeof *slab.roots);
    for (int i = 0; i < edge; i++)
        slab.roots[i] = (struct number){cos(2 * pi * i / edge), -sin(2 * pi * i / edge)};
    return slab;
}

static void free_slab(struct slab *slab)
{
    free(slab->field);
    free(slab->spectrum);
    free(slab->outgoing);
    free(slab->incoming);
    free(slab->line);
    free(slab->roots);
}

/* Time steps */

/* Wave numbers above half of the edge stand for negative ones. */
static double wave_number(const struct slab *slab, int index)
{
    return index < slab->edge / 2 ? index : index - slab->edge;
}

/* Sets the field to the spectrum at the given time and returns this slab's part of its energy. */
static double evolve(const struct slab *slab, double time)
{
    double energy = 0;
    for (int plane = 0; plane < slab->planes; plane++)
        for (int row = 0; row < slab->edge; row++) {
            const struct number *from = row_of(slab, slab->spectrum, plane, row);
            struct number *to = row_of(slab, slab->field, plane, row);
            double x = wave_number(slab, slab->first_plane + plane), y = wave_number(slab, row);
            for (int column = 0; column < slab->edge; column++) {
                double z = wave_number(slab, column);
                to[column] = scaled(exp(-4 * alpha * pi * pi * (x * x + y * y + z * z) * time),
                                    from[column]);
                energy += square_of(to[column]);
            }
        }
    return energy;
}

static void divide_by_points(const struct slab *slab)
{
    double factor = 1 / all_points(slab);
    for (size_t i = 0; i < point_count(slab); i++)
        slab->field[i] = scaled(factor, slab->field[i]);
}

static struct number checksum(const struct slab *slab)
{
    struct number sum = {0, 0};
    for (int i = 1; i <= CHECKSUM_POINTS; i++) {
        int plane = 5 * i % slab->edge - slab->first_plane, row = 3 * i % slab->edge,
            column = i % slab->edge;
        if (plane >= 0 && plane < slab->planes)
            sum = plus(sum, row_of(slab, slab->field, plane, row)[column]);
    }
    return sum_over_ranks(sum);
}

/* Verification */

static struct number field_sum(const struct slab *slab)
{
    struct number sum = {0, 0};
    for (size_t i = 0; i < point_count(slab); i++)
        sum = plus(sum, slab->field[i]);
    return sum_over_ranks(sum);
}

static double field_energy(const struct slab *slab)
{
    double energy = 0;
    for (size_t i = 0; i < point_count(slab); i++)
        energy += square_of(slab->field[i]);
    return app_sum_double(energy);
}

static bool are_close(struct number a, struct number b, double scale)
{
    return sqrt(square_of(minus(a, b))) <= rounding * scale;
}

/* The field's mode at the given wave numbers by definition, this slab's part of it. */
static struct number mode_by_definition(const struct slab *slab, const int *wave)
{
    struct number sum = {0, 0};
    for (int plane = 0; plane < slab->planes; plane++)
        for (int row = 0; row < slab->edge; row++)
            for (int column = 0; column < slab->edge; column++) {
                int turns =
                    wave[0] * column + wave[1] * row + wave[2] * (slab->first_plane + plane);
                double phase = -2 * pi * (turns % slab->edge) / slab->edge;
                struct number root = {cos(phase), sin(phase)};
                sum = plus(sum, times(root, row_of(slab, slab->field, plane, row)[column]));
            }
    return sum;
}

/* Needs the initial field and its spectrum. */
static void verify_mode(const struct slab *slab)
{
    struct app_random random = app_random_from(slab->app->seed, 0, 1);
    struct number found = {0, 0};
    int wave[3];
    for (int axis = 0; axis < 3; axis++)
        wave[axis] = (int)app_random_below(&random, (uint64_t)slab->edge);
    struct number expected = sum_over_ranks(mode_by_definition(slab, wave));
    int plane = wave[0] - slab->first_plane;
    if (plane >= 0 && plane < slab->planes)
        found = row_of(slab, slab->spectrum, plane, wave[1])[wave[2]];
    found = sum_over_ranks(found);
    app_verify(slab->app, are_close(found, expected, all_points(slab)),
               "mode %d,%d,%d is %g%+gi, but must be %g%+gi", wave[0], wave[1], wave[2], found.re,
               found.im, expected.re, expected.im);
}

static void verify_inverse(const struct slab *slab)
{
    size_t wrong = 0;
    struct number *initial = app_allocate(point_count(slab), sizeof *initial);
    set_initial_field(slab, initial);
    memcpy(slab->field, slab->spectrum, point_count(slab) * sizeof *slab->field);
    transform_back(slab, slab->field);
    divide_by_points(slab);
    for (size_t i = 0; i < point_count(slab); i++)
        wrong += !are_close(slab->field[i], initial[i], 1);
    app_verify(slab->app, wrong == 0,
               "%zu points are not what they were after transforms there and back", wrong);
    free(initial);
}

static struct number run_step(const struct slab *slab, uint64_t step, struct number initial_sum)
{
    double energy = app_sum_double(evolve(slab, (double)step));
    transform_back(slab, slab->field);
    divide_by_points(slab);
    double found = field_energy(slab) * all_points(slab);
    app_verify(slab->app, fabs(found - energy) <= rounding * energy,
               "the energy is %.15g, in the spectrum %.15g", found, energy);
    app_verify(slab->app, are_close(field_sum(slab), initial_sum, all_points(slab)),
               "the field's mean has changed");
    struct number sum = checksum(slab);
    app_hash_add_double(&slab->app->hash, sum.re);
    app_hash_add_double(&slab->app->hash, sum.im);
    return sum;
}

int main(int argc, char **argv)
{
    struct app app;
    struct number sum = {0, 0};
    app_start(&app, &spec, &argc, &argv);
    if (options[OPTION_SIZE].value & (options[OPTION_SIZE].value - 1))
        app_usage_error(&app, "--size must be a power of two");
    struct slab slab = create_slab(&app);
    set_initial_field(&slab, slab.field);
    struct number initial_sum = field_sum(&slab);
    memcpy(slab.spectrum, slab.field, point_count(&slab) * sizeof *slab.field);
    transform_forward(&slab, slab.spectrum);
    verify_mode(&slab);
    verify_inverse(&slab);
    for (uint64_t step = 1; step <= options[OPTION_WORK].value; step++)
        sum = run_step(&slab, step, initial_sum);

    for (size_t i = 0; i < point_count(&slab); i++)
        app_hash_add_double(&app.hash, slab.field[i].re);
    free_slab(&slab);
    return app_result(&app, "checksum=%.10e,%.10e", sum.re, sum.im);
}
