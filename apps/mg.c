/* SPDX-License-Identifier: MIT */
/*
 * Poisson's equation on a periodic cube by multigrid V-cycles, after the NAS benchmark MG.
 *
 * The right-hand side is +1 at ten random points, -1 at ten others, and 0 elsewhere. The operator,
 * the smoother and the restriction are stencils of 27 points with one weight for the centre and one
 * each for the 6 faces, 12 edges and 8 corners around it; the interpolation is trilinear. A cycle
 * restricts the residual to coarser and coarser grids, each with half as many points along an edge,
 * and comes back: interpolate, compute the residual, smooth.
 *
 * The cube is cut into blocks on a 3-D grid of ranks. Before a stencil is applied the faces are
 * exchanged, axis after axis, so that edges and corners come along. For each axis two receives from
 * any source are posted, then the faces are sent; the tag tells axis and direction, for which a
 * rank has one neighbour only, so that the result is the same in every run. Point i of a coarse
 * grid lies at point 2i of the finer one, on the same rank. On the level below which ranks would
 * have too few points, all ranks gather the whole grid and do the rest of the cycle each by itself.
 *
 * Each cycle must divide the residual's norm by a good deal, and the residual's sum must stay zero.
 * A point's values depend on those around it alone, so that the first cycles must agree with a
 * serial computation to the last bit.
 */
#include "app.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3, CHARGES = 10, MOST_LEVELS = 12, COARSEST_EDGE = 2 };
enum { TAG_FACE = 1 }; /* + 2 * axis + direction */
enum { OPTION_SIZE, OPTION_WORK };

#define MOST_SERIAL_UPDATES (UINT64_C(1) << 20)

static const double greatest_factor = 0.5; /* of the residual's norm in a cycle */
static const double rounding = 1e-11;      /* relative to the first residual */

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "points along an edge of the cube, a power of two", 64, 4, 1 << 10},
    [OPTION_WORK] = {"work", "V-cycles", 20, 1, UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"mg", "Multigrid; wildcard receives, yet deterministic.", 1,
                                     options};

/* Weights of the centre, a face, an edge and a corner. */
struct stencil {
    double weight[4];
};

static const struct stencil laplacian = {{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}};
static const struct stencil smoother = {{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}};
static const struct stencil restriction = {{0.5, 0.25, 0.125, 0.0625}};

/* The ranks' grid. With one block only, nothing is ever sent: a rank uses one for the coarse grids
 * and to verify. */
struct layout {
    int shape[AXES];
    int place[AXES];
};

/* This block's part of the grid of one level: points 1 to length of each axis, and a layer around
 * them. */
struct level {
    const struct layout *layout;
    int edge; /* of the whole grid */
    int first[AXES];
    int length[AXES];
    double *residual;
    double *correction;
    double *outgoing, *incoming[2]; /* faces */
};

/* Level 0 is the coarsest. Where there are several blocks it is `coarse`'s finest one, in parts. */
struct grids {
    struct layout layout;
    struct level levels[MOST_LEVELS];
    int count;
    struct grids *coarse;
    int *counts, *offsets; /* of the gathered blocks of level 0 */
    double *gathered;
};

struct problem {
    struct grids *grids;
    double *source;
    double *solution;
};

/* Ranks */

static struct layout layout_at(const int *shape, int rank)
{
    struct layout layout = {
        .place = {rank / shape[2] / shape[1], rank / shape[2] % shape[1], rank % shape[2]}};
    memcpy(layout.shape, shape, sizeof layout.shape);
    return layout;
}

static int block_count(const struct layout *layout)
{
    return layout->shape[0] * layout->shape[1] * layout->shape[2];
}

static int neighbour_rank(const struct layout *layout, int axis, int step)
{
    int place[AXES];
    memcpy(place, layout->place, sizeof place);
    place[axis] = (place[axis] + step + layout->shape[axis]) % layout->shape[axis];
    return (place[0] * layout->shape[1] + place[1]) * layout->shape[2] + place[2];
}

/* Points */

static size_t index_of(const struct level *level, int x, int y, int z)
{
    return ((size_t)z * (size_t)(level->length[1] + 2) + (size_t)y) *
               (size_t)(level->length[0] + 2) +
           (size_t)x;
}

static size_t point_count(const struct level *level)
{
    return index_of(level, level->length[0] + 1, level->length[1] + 1, level->length[2] + 1) + 1;
}

/* Blocks are cut on the coarsest level, `coarse_edge`, and grow with the finer ones. */
static struct level place_level(const struct layout *layout, int coarse_edge, int edge)
{
    struct level level = {.layout = layout, .edge = edge};
    int scale = edge / coarse_edge;
    for (int axis = 0; axis < AXES; axis++) {
        int shape = layout->shape[axis], place = layout->place[axis];
        level.first[axis] = scale * app_part_first(coarse_edge, shape, place);
        level.length[axis] =
            scale * app_part_first(coarse_edge, shape, place + 1) - level.first[axis];
    }
    return level;
}

/* The stencil's sum around a point, given the distances between neighbours along y and z. */
static double weigh(const struct stencil *stencil, const double *point, ptrdiff_t y, ptrdiff_t z)
{
    double faces = point[-1] + point[1] + point[-y] + point[y] + point[-z] + point[z];
    double edges = point[-y - 1] + point[-y + 1] + point[y - 1] + point[y + 1] + point[-z - 1] +
                   point[-z + 1] + point[z - 1] + point[z + 1] + point[-z - y] + point[-z + y] +
                   point[z - y] + point[z + y];
    double corners = point[-z - y - 1] + point[-z - y + 1] + point[-z + y - 1] + point[-z + y + 1] +
                     point[z - y - 1] + point[z - y + 1] + point[z + y - 1] + point[z + y + 1];
    return stencil->weight[0] * *point + stencil->weight[1] * faces + stencil->weight[2] * edges +
           stencil->weight[3] * corners;
}

/* Adds factor times the stencil of `from` to `to`, whose layers around the points are not
 * touched. */
static void add_stencil(const struct level *level, const struct stencil *stencil, double factor,
                        const double *from, double *to)
{
    ptrdiff_t y_step = (ptrdiff_t)index_of(level, 0, 1, 0),
              z_step = (ptrdiff_t)index_of(level, 0, 0, 1);
    for (int z = 1; z <= level->length[2]; z++)
        for (int y = 1; y <= level->length[1]; y++) {
            size_t line = index_of(level, 0, y, z);
            for (int x = 1; x <= level->length[0]; x++)
                to[line + (size_t)x] += factor * weigh(stencil, from + line + x, y_step, z_step);
        }
}

/* The coarse grid's point i lies at the fine grid's point 2i, counted from 0: from 1, at 2i - 1. */
static void restrict_residual(const struct level *fine, const struct level *coarse)
{
    ptrdiff_t y_step = (ptrdiff_t)index_of(fine, 0, 1, 0),
              z_step = (ptrdiff_t)index_of(fine, 0, 0, 1);
    for (int z = 1; z <= coarse->length[2]; z++)
        for (int y = 1; y <= coarse->length[1]; y++)
            for (int x = 1; x <= coarse->length[0]; x++) {
                const double *same_place =
                    fine->residual + index_of(fine, 2 * x - 1, 2 * y - 1, 2 * z - 1);
                coarse->residual[index_of(coarse, x, y, z)] =
                    weigh(&restriction, same_place, y_step, z_step);
            }
}

/* The mean of the eight coarse points around a fine one, some of which are the same. */
static double interpolated(const struct level *coarse, int x, int y, int z)
{
    double sum = 0;
    for (int corner = 0; corner < 8; corner++)
        sum += coarse->correction[index_of(coarse, (x + 1) / 2 + (corner & 1 && x % 2 == 0),
                                           (y + 1) / 2 + (corner & 2 && y % 2 == 0),
                                           (z + 1) / 2 + (corner & 4 && z % 2 == 0))];
    return sum / 8;
}

static void interpolate_correction(const struct level *coarse, const struct level *fine)
{
    for (int z = 1; z <= fine->length[2]; z++)
        for (int y = 1; y <= fine->length[1]; y++)
            for (int x = 1; x <= fine->length[0]; x++)
                fine->correction[index_of(fine, x, y, z)] = interpolated(coarse, x, y, z);
}

/* Faces. A face spans the two other axes with the layers around them. */

static int face_length(const struct level *level, int axis)
{
    int length = 1;
    for (int other = 0; other < AXES; other++)
        if (other != axis)
            length *= level->length[other] + 2;
    return length;
}

/* Copies the points whose coordinate on the axis is `layer` from the field to the face or back. */
static void copy_face(const struct level *level, double *field, int axis, int layer, double *face,
                      bool out)
{
    int begin[AXES] = {0, 0, 0}, end[AXES];
    for (int other = 0; other < AXES; other++)
        end[other] = level->length[other] + 1;
    begin[axis] = end[axis] = layer;
    for (int z = begin[2]; z <= end[2]; z++)
        for (int y = begin[1]; y <= end[1]; y++)
            for (int x = begin[0]; x <= end[0]; x++, face++) {
                double *point = &field[index_of(level, x, y, z)];
                *(out ? face : point) = *(out ? point : face);
            }
}

static void wrap_axis(const struct level *level, double *field, int axis)
{
    copy_face(level, field, axis, 1, level->outgoing, true);
    copy_face(level, field, axis, level->length[axis] + 1, level->outgoing, false);
    copy_face(level, field, axis, level->length[axis], level->outgoing, true);
    copy_face(level, field, axis, 0, level->outgoing, false);
}

static void post_face(const struct level *level, int axis, int direction, MPI_Request *request)
{
    MPI_Irecv(level->incoming[direction], face_length(level, axis), MPI_DOUBLE, MPI_ANY_SOURCE,
              TAG_FACE + 2 * axis + direction, MPI_COMM_WORLD, request);
}

/* Direction 0 is down the axis, 1 is up. */
static void give_face(const struct level *level, double *field, int axis, int direction)
{
    copy_face(level, field, axis, direction ? level->length[axis] : 1, level->outgoing, true);
    MPI_Send(level->outgoing, face_length(level, axis), MPI_DOUBLE,
             neighbour_rank(level->layout, axis, direction ? 1 : -1),
             TAG_FACE + 2 * axis + direction, MPI_COMM_WORLD);
}

static void take_face(const struct level *level, double *field, int axis, int direction,
                      MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    copy_face(level, field, axis, direction ? 0 : level->length[axis] + 1,
              level->incoming[direction], false);
}

static void exchange_axis(const struct level *level, double *field, int axis)
{
    MPI_Request requests[2];
    for (int direction = 0; direction < 2; direction++)
        post_face(level, axis, direction, &requests[direction]);
    for (int direction = 0; direction < 2; direction++)
        give_face(level, field, axis, direction);
    for (int direction = 0; direction < 2; direction++)
        take_face(level, field, axis, direction, &requests[direction]);
}

/* Makes the layers around the points right. */
static void exchange_faces(const struct level *level, double *field)
{
    for (int axis = 0; axis < AXES; axis++)
        if (level->layout->shape[axis] == 1)
            wrap_axis(level, field, axis);
        else
            exchange_axis(level, field, axis);
}

/* Cycles */

static void compute_correction(struct grids *grids, int number);

/* Copies a block of points, without the layers around it, out of a field or into it. */
static void copy_block(const struct level *level, double *field, const int *first,
                       const int *length, double *block, bool out)
{
    for (int z = 0; z < length[2]; z++)
        for (int y = 0; y < length[1]; y++, block += length[0]) {
            double *line =
                &field[index_of(level, first[0] + 1, first[1] + y + 1, first[2] + z + 1)];
            memcpy(out ? block : line, out ? line : block, (size_t)length[0] * sizeof *line);
        }
}

static void gather_residual(struct grids *grids)
{
    static const int origin[AXES] = {0, 0, 0};
    struct level *own = &grids->levels[0],
                 *whole = &grids->coarse->levels[grids->coarse->count - 1];
    int rank = neighbour_rank(&grids->layout, 0, 0);
    copy_block(own, own->residual, origin, own->length, grids->gathered + grids->offsets[rank],
               true);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, grids->gathered, grids->counts,
                   grids->offsets, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int other = 0; other < block_count(&grids->layout); other++) {
        struct layout layout = layout_at(grids->layout.shape, other);
        struct level part = place_level(&layout, own->edge, own->edge);
        copy_block(whole, whole->residual, part.first, part.length,
                   grids->gathered + grids->offsets[other], false);
    }
}

static void use_coarse_grids(struct grids *grids)
{
    static const int origin[AXES] = {0, 0, 0};
    struct level *own = &grids->levels[0],
                 *whole = &grids->coarse->levels[grids->coarse->count - 1];
    gather_residual(grids);
    compute_correction(grids->coarse, grids->coarse->count - 1);
    copy_block(whole, whole->correction, own->first, own->length, grids->gathered, true);
    copy_block(own, own->correction, origin, own->length, grids->gathered, false);
}

static void smooth(const struct level *level)
{
    exchange_faces(level, level->residual);
    add_stencil(level, &smoother, 1, level->residual, level->correction);
}

/* Makes a correction that removes most of the level's residual, and spoils the residual. */
static void compute_correction(struct grids *grids, int number)
{
    struct level *level = &grids->levels[number];
    memset(level->correction, 0, point_count(level) * sizeof *level->correction);
    if (number == 0 && grids->coarse) {
        use_coarse_grids(grids);
        return;
    }
    if (number > 0) {
        exchange_faces(level, level->residual);
        restrict_residual(level, level - 1);
        compute_correction(grids, number - 1);
        exchange_faces(level - 1, level[-1].correction);
        interpolate_correction(level - 1, level);
        exchange_faces(level, level->correction);
        add_stencil(level, &laplacian, -1, level->correction, level->residual);
    }
    smooth(level);
}

static struct level *finest(const struct problem *problem)
{
    return &problem->grids->levels[problem->grids->count - 1];
}

static void compute_residual(const struct problem *problem)
{
    struct level *level = finest(problem);
    exchange_faces(level, problem->solution);
    memcpy(level->residual, problem->source, point_count(level) * sizeof *level->residual);
    add_stencil(level, &laplacian, -1, problem->solution, level->residual);
}

/* Needs the residual and leaves the next one. */
static void run_cycle(const struct problem *problem)
{
    struct level *level = finest(problem);
    compute_correction(problem->grids, problem->grids->count - 1);
    for (size_t i = 0; i < point_count(level); i++)
        problem->solution[i] += level->correction[i];
    compute_residual(problem);
}

/* Setting up */

static struct level create_level(const struct layout *layout, int coarse_edge, int edge)
{
    struct level level = place_level(layout, coarse_edge, edge);
    int longest_face = 0;
    for (int axis = 0; axis < AXES; axis++)
        if (face_length(&level, axis) > longest_face)
            longest_face = face_length(&level, axis);
    level.residual = app_allocate(point_count(&level), sizeof(double));
    level.correction = app_allocate(point_count(&level), sizeof(double));
    level.outgoing = app_allocate((size_t)longest_face, sizeof(double));
    for (int direction = 0; direction < 2; direction++)
        level.incoming[direction] = app_allocate((size_t)longest_face, sizeof(double));
    return level;
}

static void plan_gather(struct grids *grids)
{
    int blocks = block_count(&grids->layout), edge = grids->levels[0].edge, before = 0;
    grids->counts = app_allocate((size_t)blocks, sizeof *grids->counts);
    grids->offsets = app_allocate((size_t)blocks, sizeof *grids->offsets);
    grids->gathered =
        app_allocate((size_t)edge * (size_t)edge * (size_t)edge, sizeof *grids->gathered);
    for (int rank = 0; rank < blocks; rank++) {
        struct layout layout = layout_at(grids->layout.shape, rank);
        struct level part = place_level(&layout, edge, edge);
        grids->counts[rank] = part.length[0] * part.length[1] * part.length[2];
        grids->offsets[rank] = before;
        before += grids->counts[rank];
    }
}

static int longest_axis(const int *shape)
{
    int longest = 1;
    for (int axis = 0; axis < AXES; axis++)
        longest = shape[axis] > longest ? shape[axis] : longest;
    return longest;
}

/* The edge of the level on which several blocks gather: two points for each at least, if two levels
 * are to be. */
static int gathering_edge(const int *shape, int edge)
{
    int coarse_edge = edge / 2;
    while (coarse_edge / 2 >= 2 * longest_axis(shape))
        coarse_edge /= 2;
    return coarse_edge;
}

static struct grids *create_grids(struct layout layout, int edge)
{
    struct grids *grids = app_allocate(1, sizeof *grids);
    bool alone = longest_axis(layout.shape) == 1;
    int coarse_edge = alone ? COARSEST_EDGE : gathering_edge(layout.shape, edge);
    grids->layout = layout;
    for (int level_edge = coarse_edge; level_edge <= edge; level_edge *= 2)
        grids->levels[grids->count++] = create_level(&grids->layout, coarse_edge, level_edge);
    if (!alone) {
        grids->coarse = create_grids((struct layout){{1, 1, 1}, {0, 0, 0}}, coarse_edge);
        plan_gather(grids);
    }
    return grids;
}

static void free_grids(struct grids *grids)
{
    for (int i = 0; i < grids->count; i++) {
        free(grids->levels[i].residual);
        free(grids->levels[i].correction);
        free(grids->levels[i].outgoing);
        free(grids->levels[i].incoming[0]);
        free(grids->levels[i].incoming[1]);
    }
    if (grids->coarse)
        free_grids(grids->coarse);
    free(grids->counts);
    free(grids->offsets);
    free(grids->gathered);
    free(grids);
}

/* Adds a charge at a random point, if it is in this block. Two at one point add up. */
static void place_charge(const struct level *level, struct app_random *random, double charge,
                         double *source)
{
    int point[AXES];
    bool inside = true;
    for (int axis = 0; axis < AXES; axis++) {
        point[axis] = (int)app_random_below(random, (uint64_t)level->edge) - level->first[axis];
        inside &= point[axis] >= 0 && point[axis] < level->length[axis];
    }
    if (inside)
        source[index_of(level, point[0] + 1, point[1] + 1, point[2] + 1)] += charge;
}

static struct problem create_problem(uint64_t seed, struct layout layout)
{
    struct problem problem = {.grids = create_grids(layout, (int)options[OPTION_SIZE].value)};
    struct app_random random = app_random_from(seed, 0, 0);
    struct level *level = finest(&problem);
    problem.source = app_allocate(point_count(level), sizeof(double));
    problem.solution = app_allocate(point_count(level), sizeof(double));
    for (int i = 0; i < 2 * CHARGES; i++)
        place_charge(level, &random, i % 2 ? 1 : -1, problem.source);
    compute_residual(&problem);
    return problem;
}

static void free_problem(struct problem *problem)
{
    free_grids(problem->grids);
    free(problem->source);
    free(problem->solution);
}

/* Verification */

static uint64_t solution_hash(const struct problem *problem, const struct level *part)
{
    uint64_t hash = 0;
    const struct level *level = finest(problem);
    int first[AXES];
    for (int axis = 0; axis < AXES; axis++)
        first[axis] = part->first[axis] - level->first[axis] + 1;
    for (int z = 0; z < part->length[2]; z++)
        for (int y = 0; y < part->length[1]; y++)
            for (int x = 0; x < part->length[0]; x++) {
                size_t point = index_of(level, first[0] + x, first[1] + y, first[2] + z);
                app_hash_add_double(&hash, problem->solution[point]);
            }
    return hash;
}

static uint64_t serial_cycles(void)
{
    uint64_t edge = options[OPTION_SIZE].value,
             most = 1 + MOST_SERIAL_UPDATES / (edge * edge * edge);
    return most < options[OPTION_WORK].value ? most : options[OPTION_WORK].value;
}

static struct layout layout_of(const struct app *app, int rank)
{
    int shape[AXES] = {0, 0, 0};
    MPI_Dims_create(app->ranks, AXES, shape);
    return layout_at(shape, rank);
}

static void compute_expected_hashes(const struct app *app, uint64_t *hashes)
{
    struct problem whole = create_problem(app->seed, (struct layout){{1, 1, 1}, {0, 0, 0}});
    for (uint64_t i = 0; i < serial_cycles(); i++)
        run_cycle(&whole);
    for (int rank = 0; rank < app->ranks; rank++) {
        struct layout layout = layout_of(app, rank);
        int edge = finest(&whole)->edge, coarse_edge = gathering_edge(layout.shape, edge);
        struct level part = place_level(&layout, app->ranks == 1 ? edge : coarse_edge, edge);
        hashes[rank] = solution_hash(&whole, &part);
    }
    free_problem(&whole);
}

static void verify_against_serial(struct app *app, uint64_t hash)
{
    uint64_t *expected = app_allocate((size_t)app->ranks, sizeof *expected);
    if (app->rank == 0)
        compute_expected_hashes(app, expected);
    app_verify_hashes(app, hash, expected, "the solution");
    free(expected);
}

/* The norm of the residual. Its sum is verified. */
static double measure_residual(struct app *app, const struct problem *problem)
{
    const struct level *level = finest(problem);
    double squares = 0, sum = 0;
    for (int z = 1; z <= level->length[2]; z++)
        for (int y = 1; y <= level->length[1]; y++)
            for (int x = 1; x <= level->length[0]; x++) {
                double value = level->residual[index_of(level, x, y, z)];
                squares += value * value;
                sum += value;
            }
    sum = app_sum_double(sum);
    app_verify(app, fabs(sum) < rounding, "the sum of the residual is %g", sum);
    return sqrt(app_sum_double(squares));
}

/* Returns the norm of the residual in the end, relative to that at the start. */
static double run_cycles(struct app *app, const struct problem *problem, uint64_t *early_hash)
{
    double first = measure_residual(app, problem), previous = first;
    for (uint64_t i = 0; i < options[OPTION_WORK].value; i++) {
        run_cycle(problem);
        double norm = measure_residual(app, problem);
        app_verify(app, norm < greatest_factor * previous || norm < rounding * first,
                   "the residual went from %g to %g only in cycle %" PRIu64, previous, norm, i);
        previous = norm;
        if (i + 1 == serial_cycles())
            *early_hash = solution_hash(problem, finest(problem));
    }
    return previous / first;
}

static void check_size(const struct app *app, const struct layout *layout)
{
    uint64_t edge = options[OPTION_SIZE].value, least = 2 * (uint64_t)longest_axis(layout->shape);
    if (edge & (edge - 1))
        app_usage_error(app, "--size must be a power of two");
    if (edge < least)
        app_usage_error(app, "--size must be at least %" PRIu64 " with %d ranks", least,
                        app->ranks);
}

int main(int argc, char **argv)
{
    struct app app;
    uint64_t early_hash = 0;
    app_start(&app, &spec, &argc, &argv);
    struct layout layout = layout_of(&app, app.rank);
    check_size(&app, &layout);
    struct problem problem = create_problem(app.seed, layout);
    double residual = run_cycles(&app, &problem, &early_hash);
    verify_against_serial(&app, early_hash);
    app_hash_add(&app.hash, solution_hash(&problem, finest(&problem)));
    free_problem(&problem);
    return app_result(&app, "residual=%.6e", residual);
}
