/* SPDX-License-Identifier: MIT */
/*
 * The largest eigenvalue of a random sparse matrix by inverse iteration with conjugate gradients,
 * after the NAS benchmark CG.
 *
 * A is a sum of outer products w x x^T of sparse random vectors with positive elements, as many as
 * it has rows, the weights w falling from 1 to 0.1 in a geometric sequence. B = shift I - A with a
 * shift a tenth above the greatest row sum of A is symmetric and positive definite, its condition
 * number no more than 11. A step of the outer iteration solves B z = x by 25 steps of conjugate
 * gradients and takes z / |z| as the next x; zeta = shift - 1 / (x z) tends to the largest
 * eigenvalue of A.
 *
 * --class 1, 2, 3 or 4 is the NAS problem itself, of class S, W, A or B: its vectors from its
 * random numbers, B = A + (0.1 - shift) I with its shift, a starting vector of ones, zeta = shift +
 * 1 / (x z), and its result after as many iterations.
 *
 * The ranks form a grid of R rows and C >= R columns. Rank (i, j) has the block of B where the
 * rows' part i meets the columns' part j, and part j of every vector, as have all ranks of column
 * j. A product with B is summed over the ranks of a row, which leaves part i of the rows with all
 * of them; then each rank gets part j of the columns from the ranks (k, i) whose rows meet it, in a
 * square grid from its mirror image. Scalar products are summed over a row too. These sums are
 * exchanges by pairs of ranks at distances 1, 2, 4 and so on; where their number is no power of
 * two, the ranks beyond it give their values away at first and get the sum in the end. All messages
 * are received by name.
 *
 * Before the iterations a random vector times B must be what the outer products say without any
 * matrix. The residual must be as small as the condition number says. zeta must not fall and must
 * stay below the greatest row sum. Where a serial computation is not too long, rank 0 does it and
 * zeta must be the same but for rounding. For the NAS problem the residual must be no more than
 * rounding leaves, and zeta, after the 15 (class B: 75) iterations of the NAS problem, the
 * published one to ten digits.
 */
#include "app.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "reprise.h"

enum { VECTOR_ELEMENTS = 8, MOST_ELEMENTS = 14, CG_STEPS = 25 };
enum { TAG_FOLD = 1, TAG_SUM = 2, TAG_UNFOLD = 3, TAG_TRANSPOSE = 4 };
enum { OPTION_SIZE, OPTION_WORK, OPTION_CLASS };

#define MOST_SERIAL_ELEMENTS (UINT64_C(1) << 25) /* multiplied in all */

static const double least_weight =
    0.1; /* and, in the NAS problem, the least eigenvalue before the shift */
static const double shift_factor = 1.1;
static const double condition = 11; /* shift_factor / (shift_factor - 1) */
static const double rounding = 1e-11;

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "rows of the matrix, at least one per rank", 20000, 1, 1 << 24},
    [OPTION_WORK] = {"work", "outer iterations", 15, 1, UINT64_C(1) << 32},
    [OPTION_CLASS] = {"class",
                      "1, 2, 3, 4: the NAS problem of class S, W, A, B, whatever the size; 0: none",
                      0, 0, 4},
    {0},
};

static const struct app_spec spec = {"cg", "Eigenvalue of a sparse matrix by conjugate gradients.",
                                     1, options};

/* The NAS problem. */
static const struct nas {
    int size, elements;
    uint64_t iterations;
    double shift, zeta;
} nas_classes[] = {
    {0, 0, 0, 0, 0},
    {1400, 7, 15, 10, 8.5971775078648},
    {7000, 8, 15, 12, 10.362595087124},
    {14000, 11, 15, 20, 17.130235054029},
    {75000, 13, 75, 60, 22.712745482631},
};

static const double nas_rounding = 1e-10;

struct range {
    int first, end;
};

/* Elements of row r are those from row_start[r] to row_start[r + 1]; rows and columns count from
 * the block's first. */
struct matrix {
    struct range rows, columns;
    size_t *row_start;
    int *column;
    double *value;
};

struct element {
    int row, column;
    double value;
};

struct element_list {
    struct element *items;
    size_t count, capacity;
};

struct random_vector {
    int count;
    int index[MOST_ELEMENTS];
    double value[MOST_ELEMENTS];
};

/* A solver with one rank in its grid never communicates: rank 0 verifies with one. */
struct solver {
    const struct app *app;
    int grid[2];
    int place[2];
    int size;
    struct matrix matrix;         /* A */
    double shift, identity, sign; /* B = identity I + sign A */
    double *x, *z, *r, *p, *q;    /* parts of columns */
    double *product;              /* a part of rows */
    double *exchange;             /* a copy of one, on its way in */
    double zeta;
    double residual;
};

static int length_of(struct range range)
{
    return range.end - range.first;
}

static struct range part_of(int total, int parts, int part)
{
    return (struct range){app_part_first(total, parts, part),
                          app_part_first(total, parts, part + 1)};
}

static struct range meet(struct range a, struct range b)
{
    struct range both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
    return both.first < both.end ? both : (struct range){0, 0};
}

/* The matrix */

static const struct nas *nas_class(void)
{
    return &nas_classes[options[OPTION_CLASS].value];
}

static bool is_nas(void)
{
    return options[OPTION_CLASS].value > 0;
}

/* The random numbers of the NAS benchmarks: x' = 5^13 x modulo 2^46. Products wrap at 2^64, which
 * it divides. */
static double nas_random(uint64_t *state)
{
    *state = (*state * UINT64_C(1220703125)) & ((UINT64_C(1) << 46) - 1);
    return (double)*state / (double)(UINT64_C(1) << 46);
}

static uint64_t nas_random_start(void)
{
    uint64_t state = 314159265;
    nas_random(&state);
    return state;
}

static int place_in(const struct random_vector *vector, int index)
{
    int i = 0;
    while (i < vector->count && vector->index[i] != index)
        i++;
    return i;
}

/*
 * As many elements as the class has, at different places, which are drawn below the next power of
 * two and taken if they are below the size; then the one at its own place is set to 1/2.
 */
static struct random_vector make_nas_vector(uint64_t *state, int number, int size)
{
    struct random_vector vector = {.count = 0};
    int power = 2;
    while (power < size)
        power *= 2;
    while (vector.count < nas_class()->elements) {
        double value = nas_random(state);
        int index = (int)(power * nas_random(state));
        if (index >= size || place_in(&vector, index) < vector.count)
            continue;
        vector.index[vector.count] = index;
        vector.value[vector.count++] = value;
    }
    int own = place_in(&vector, number);
    vector.index[own] = number;
    vector.value[own] = 0.5;
    vector.count += own == vector.count;
    return vector;
}

/* Vectors are asked for in order, the first with the start of the NAS problem's random numbers. */
static struct random_vector make_vector(uint64_t seed, uint64_t *state, int number, int size)
{
    if (is_nas())
        return make_nas_vector(state, number, size);
    struct random_vector vector = {.count = VECTOR_ELEMENTS, .index = {number}, .value = {0.5}};
    struct app_random random = app_random_from(seed, (uint64_t)number, 0);
    for (int i = 1; i < VECTOR_ELEMENTS; i++) {
        vector.index[i] = (int)app_random_below(&random, (uint64_t)size);
        vector.value[i] = app_random_unit(&random);
    }
    return vector;
}

static void list_append(struct element_list *list, struct element element)
{
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 1024;
        struct element *items = app_allocate(capacity, sizeof *items);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        free(list->items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = element;
}

static bool is_in(int index, struct range range)
{
    return index >= range.first && index < range.end;
}

/* Appends those elements of weight x x^T that are in the block. */
static void append_product(struct element_list *list, const struct matrix *block,
                           const struct random_vector *x, double weight)
{
    for (int i = 0; i < x->count; i++)
        for (int j = 0; j < x->count && is_in(x->index[i], block->rows); j++)
            if (is_in(x->index[j], block->columns))
                list_append(list, (struct element){x->index[i] - block->rows.first,
                                                   x->index[j] - block->columns.first,
                                                   weight * x->value[i] * x->value[j]});
}

static int compare_elements(const void *left, const void *right)
{
    const struct element *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static size_t merge_equal_places(struct element_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct element *element = &list->items[i];
        struct element *last = kept ? &list->items[kept - 1] : NULL;
        if (last && last->row == element->row && last->column == element->column)
            last->value += element->value;
        else
            list->items[kept++] = *element;
    }
    return kept;
}

static void store_rows(struct matrix *matrix, const struct element *elements, size_t count)
{
    int rows = length_of(matrix->rows);
    matrix->row_start = app_allocate((size_t)rows + 1, sizeof *matrix->row_start);
    matrix->column = app_allocate(count, sizeof *matrix->column);
    matrix->value = app_allocate(count, sizeof *matrix->value);
    for (size_t i = 0; i < count; i++) {
        matrix->row_start[elements[i].row + 1]++;
        matrix->column[i] = elements[i].column;
        matrix->value[i] = elements[i].value;
    }
    for (int row = 0; row < rows; row++)
        matrix->row_start[row + 1] += matrix->row_start[row];
}

static double weight_ratio(const struct solver *solver)
{
    return pow(least_weight, 1.0 / solver->size);
}

static void make_matrix(struct solver *solver)
{
    struct matrix *matrix = &solver->matrix;
    struct element_list list = {0};
    double weight = 1, ratio = weight_ratio(solver);
    uint64_t state = nas_random_start();
    matrix->rows = part_of(solver->size, solver->grid[0], solver->place[0]);
    matrix->columns = part_of(solver->size, solver->grid[1], solver->place[1]);
    for (int number = 0; number < solver->size; number++, weight *= ratio) {
        struct random_vector vector = make_vector(solver->app->seed, &state, number, solver->size);
        append_product(&list, matrix, &vector, weight);
    }
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, compare_elements);
    store_rows(matrix, list.items, merge_equal_places(&list));
    free(list.items);
}

static double multiply_row(const struct matrix *matrix, int row, const double *vector)
{
    double sum = 0;
    for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
        sum += matrix->value[i] * vector[matrix->column[i]];
    return sum;
}

/* Exchanges */

static int rank_at(const struct solver *solver, int row, int column)
{
    return row * solver->grid[1] + column;
}

static void receive_and_add(struct solver *solver, double *values, int count, int partner, int tag)
{
    MPI_Recv(solver->exchange, count, MPI_DOUBLE, partner, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        values[i] += solver->exchange[i];
}

static void swap_and_add(struct solver *solver, double *values, int count, int partner)
{
    MPI_Request request;
    MPI_Irecv(solver->exchange, count, MPI_DOUBLE, partner, TAG_SUM, MPI_COMM_WORLD, &request);
    MPI_Send(values, count, MPI_DOUBLE, partner, TAG_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        values[i] += solver->exchange[i];
}

static int power_of_two_below(int number)
{
    int power = 1;
    while (2 * power <= number)
        power *= 2;
    return power;
}

/* Puts the sum over the ranks of this row of the grid in the place of each rank's values. */
static void sum_over_row(struct solver *solver, double *values, int count)
{
    int row = solver->place[0], column = solver->place[1],
        power = power_of_two_below(solver->grid[1]);
    int outer = rank_at(solver, row, column + power), inner = rank_at(solver, row, column - power);
    if (column >= power) {
        MPI_Send(values, count, MPI_DOUBLE, inner, TAG_FOLD, MPI_COMM_WORLD);
        MPI_Recv(values, count, MPI_DOUBLE, inner, TAG_UNFOLD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (column + power < solver->grid[1])
        receive_and_add(solver, values, count, outer, TAG_FOLD);
    for (int distance = 1; distance < power; distance *= 2)
        swap_and_add(solver, values, count, rank_at(solver, row, column ^ distance));
    if (column + power < solver->grid[1])
        MPI_Send(values, count, MPI_DOUBLE, outer, TAG_UNFOLD, MPI_COMM_WORLD);
}

static struct range rows_of(const struct solver *solver, int row)
{
    return part_of(solver->size, solver->grid[0], row);
}

static struct range columns_of(const struct solver *solver, int column)
{
    return part_of(solver->size, solver->grid[1], column);
}

static double *product_at(const struct solver *solver, int row)
{
    return solver->product + (row - solver->matrix.rows.first);
}

/* Sends what rank (j, k) needs of this rank's rows, j being this rank's column, for each k. */
static int send_rows(struct solver *solver, MPI_Request *requests)
{
    int started = 0;
    for (int k = 0; k < solver->grid[1] && solver->place[1] < solver->grid[0]; k++) {
        struct range needed = meet(solver->matrix.rows, columns_of(solver, k));
        int receiver = rank_at(solver, solver->place[1], k);
        if (length_of(needed) > 0 && receiver != solver->app->rank)
            MPI_Isend(product_at(solver, needed.first), length_of(needed), MPI_DOUBLE, receiver,
                      TAG_TRANSPOSE, MPI_COMM_WORLD, &requests[started++]);
    }
    return started;
}

static int receive_columns(struct solver *solver, double *part, MPI_Request *requests)
{
    int started = 0;
    for (int k = 0; k < solver->grid[0]; k++) {
        struct range given = meet(rows_of(solver, k), solver->matrix.columns);
        double *to = part + (given.first - solver->matrix.columns.first);
        int sender = rank_at(solver, k, solver->place[0]);
        if (length_of(given) == 0)
            continue;
        if (k == solver->place[0] && solver->place[0] == solver->place[1])
            memcpy(to, product_at(solver, given.first), (size_t)length_of(given) * sizeof *to);
        else
            MPI_Irecv(to, length_of(given), MPI_DOUBLE, sender, TAG_TRANSPOSE, MPI_COMM_WORLD,
                      &requests[started++]);
    }
    return started;
}

/* Makes a part of columns of the product, which is a part of rows. */
static void transpose_product(struct solver *solver, double *part)
{
    size_t most = (size_t)(solver->grid[0] + solver->grid[1]);
    MPI_Request *requests = app_allocate(most, sizeof *requests);
    MPI_Status *unused = app_allocate(most, sizeof *unused);
    int started = receive_columns(solver, part, requests);
    started += send_rows(solver, requests + started);
    if (started > 0)
        MPI_Waitall(started, requests, unused);
    free(unused);
    free(requests);
}

/* Conjugate gradients */

static int part_length(const struct solver *solver)
{
    return length_of(solver->matrix.columns);
}

static double scalar_product(struct solver *solver, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < part_length(solver); i++)
        sum += a[i] * b[i];
    sum_over_row(solver, &sum, 1);
    return sum;
}

/* Sets `to` to B times `from`. */
static void multiply(struct solver *solver, const double *from, double *to)
{
    int rows = length_of(solver->matrix.rows);
    for (int row = 0; row < rows; row++)
        solver->product[row] = multiply_row(&solver->matrix, row, from);
    sum_over_row(solver, solver->product, rows);
    transpose_product(solver, to);
    for (int i = 0; i < part_length(solver); i++)
        to[i] = solver->identity * from[i] + solver->sign * to[i];
}

/* Sets `to` to a + factor * b. */
static void combine(const struct solver *solver, const double *a, double factor, const double *b,
                    double *to)
{
    for (int i = 0; i < part_length(solver); i++)
        to[i] = a[i] + factor * b[i];
}

/* Solves B z = x. */
static void solve(struct solver *solver)
{
    size_t bytes = (size_t)part_length(solver) * sizeof(double);
    memset(solver->z, 0, bytes);
    memcpy(solver->r, solver->x, bytes);
    memcpy(solver->p, solver->x, bytes);
    double rho = scalar_product(solver, solver->r, solver->r);
    for (int step = 0; step < CG_STEPS && rho > 0; step++) {
        multiply(solver, solver->p, solver->q);
        double alpha = rho / scalar_product(solver, solver->p, solver->q), previous = rho;
        combine(solver, solver->z, alpha, solver->p, solver->z);
        combine(solver, solver->r, -alpha, solver->q, solver->r);
        rho = scalar_product(solver, solver->r, solver->r);
        combine(solver, solver->r, rho / previous, solver->p, solver->p);
    }
    multiply(solver, solver->z, solver->q);
    combine(solver, solver->x, -1, solver->q, solver->q);
    solver->residual = sqrt(scalar_product(solver, solver->q, solver->q));
}

/* One step of the outer iteration. x has length 1 after it and, but for the NAS problem, before. */
static void iterate(struct solver *solver)
{
    solve(solver);
    solver->zeta = solver->shift + solver->sign / scalar_product(solver, solver->x, solver->z);
    double scale = 1 / sqrt(scalar_product(solver, solver->z, solver->z));
    for (int i = 0; i < part_length(solver); i++)
        solver->x[i] = scale * solver->z[i];
}

static double greatest_row_sum(struct solver *solver)
{
    double greatest = 0;
    int rows = length_of(solver->matrix.rows);
    for (int i = 0; i < part_length(solver); i++)
        solver->p[i] = 1;
    for (int row = 0; row < rows; row++)
        solver->product[row] = multiply_row(&solver->matrix, row, solver->p);
    sum_over_row(solver, solver->product, rows);
    for (int row = 0; row < rows; row++)
        greatest = fmax(greatest, solver->product[row]);
    if (solver->grid[0] > 1)
        MPI_Allreduce(MPI_IN_PLACE, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return greatest;
}

static struct solver create_solver(const struct app *app, int rows, int columns)
{
    struct solver solver = {.app = app,
                            .grid = {rows, columns},
                            .size = (int)options[OPTION_SIZE].value};
    solver.place[0] = app->rank / columns;
    solver.place[1] = app->rank % columns;
    make_matrix(&solver);
    size_t length = (size_t)part_length(&solver),
           product_length = (size_t)length_of(solver.matrix.rows);
    double **parts[] = {&solver.x, &solver.z, &solver.r, &solver.p, &solver.q};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        *parts[i] = app_allocate(length, sizeof(double));
    solver.product = app_allocate(product_length, sizeof(double));
    solver.exchange = app_allocate(product_length, sizeof(double));
    for (size_t i = 0; i < length; i++)
        solver.x[i] = is_nas() ? 1 : 1 / sqrt(solver.size);
    solver.shift = is_nas() ? nas_class()->shift : shift_factor * greatest_row_sum(&solver);
    solver.identity = is_nas() ? least_weight - solver.shift : solver.shift;
    solver.sign = is_nas() ? 1 : -1;
    return solver;
}

static void free_solver(struct solver *solver)
{
    double *memory[] = {solver->x, solver->z,       solver->r,       solver->p,
                        solver->q, solver->product, solver->exchange};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        free(memory[i]);
    free(solver->matrix.row_start);
    free(solver->matrix.column);
    free(solver->matrix.value);
}

/* Verification */

static double test_vector(const struct solver *solver, int index)
{
    struct app_random random = app_random_from(solver->app->seed, (uint64_t)index, 1);
    return app_random_unit(&random);
}

/* Adds A times the test vector to `whole`, a vector of full length. */
static void multiply_by_definition(const struct solver *solver, double *whole)
{
    double weight = 1, ratio = weight_ratio(solver);
    uint64_t state = nas_random_start();
    for (int number = 0; number < solver->size; number++, weight *= ratio) {
        struct random_vector vector = make_vector(solver->app->seed, &state, number, solver->size);
        double product = 0;
        for (int i = 0; i < vector.count; i++)
            product += vector.value[i] * test_vector(solver, vector.index[i]);
        for (int i = 0; i < vector.count; i++)
            whole[vector.index[i]] += weight * vector.value[i] * product;
    }
}

static void verify_product(struct app *app, struct solver *solver)
{
    double *expected = app_allocate((size_t)solver->size, sizeof *expected);
    int first = solver->matrix.columns.first, wrong = 0;
    for (int i = 0; i < part_length(solver); i++)
        solver->p[i] = test_vector(solver, first + i);
    multiply(solver, solver->p, solver->q);
    multiply_by_definition(solver, expected);
    for (int i = 0; i < part_length(solver); i++) {
        double difference =
            solver->identity * solver->p[i] + solver->sign * expected[first + i] - solver->q[i];
        wrong += !(fabs(difference) <= rounding * solver->shift);
    }
    app_verify(app, wrong == 0, "%d elements of a product with the matrix are wrong", wrong);
    free(expected);
}

/* x has length 1: what conjugate gradients leave of it in the worst case. */
static double greatest_residual(void)
{
    double root = sqrt(condition);
    return 2 * root * pow((root - 1) / (root + 1), CG_STEPS);
}

static void verify_step(struct app *app, const struct solver *solver, double previous)
{
    if (is_nas()) {
        app_verify(app, solver->residual <= nas_rounding, "the residual is %g", solver->residual);
        return;
    }
    app_verify(app, solver->residual <= greatest_residual(),
               "the residual is %g, but theory allows no more than %g", solver->residual,
               greatest_residual());
    app_verify(app, solver->zeta >= previous - rounding * fabs(previous),
               "zeta fell from %.15g to %.15g", previous, solver->zeta);
    app_verify(app, solver->zeta <= (1 + rounding) * solver->shift / shift_factor,
               "zeta is %g, above the greatest row sum", solver->zeta);
}

static bool serial_is_affordable(void)
{
    uint64_t elements = options[OPTION_SIZE].value * VECTOR_ELEMENTS * VECTOR_ELEMENTS;
    return !is_nas() && options[OPTION_WORK].value <= MOST_SERIAL_ELEMENTS / elements / CG_STEPS;
}

static void verify_against_serial(struct app *app, double zeta)
{
    struct solver solver = create_solver(app, 1, 1);
    for (uint64_t i = 0; i < options[OPTION_WORK].value; i++)
        iterate(&solver);
    app_verify(app, fabs(zeta - solver.zeta) <= rounding * fabs(solver.zeta),
               "zeta is %.15g, but %.15g serially", zeta, solver.zeta);
    free_solver(&solver);
}

static void verify_nas(struct app *app, double zeta)
{
    double expected = nas_class()->zeta;
    app_verify(app, fabs(zeta - expected) <= nas_rounding * expected,
               "zeta is %.13g instead of %.13g", zeta, expected);
}

int main(int argc, char **argv)
{
    struct app app;
    int grid[2] = {0, 0};
    app_start(&app, &spec, &argc, &argv);
    if (is_nas())
        options[OPTION_SIZE].value = (uint64_t)nas_class()->size;
    if (options[OPTION_SIZE].value < (uint64_t)app.ranks)
        app_usage_error(&app, "--size must be at least the number of ranks, %d", app.ranks);
    MPI_Dims_create(app.ranks, 2, grid);
    struct solver solver = create_solver(&app, grid[1], grid[0]);
    verify_product(&app, &solver);
    /* Copied at each checkpoint: x and four scalars; iterate makes the other vectors anew. */
    reprise_protect_array(0, solver.x, (size_t)part_length(&solver), sizeof *solver.x);
    reprise_protect(1, &solver.zeta, sizeof solver.zeta);
    reprise_protect(2, &app.hash, sizeof app.hash);
    reprise_protect(4, &app.failed, sizeof app.failed);
    reprise_protect(3, &solver.residual, sizeof solver.residual);
    REPRISE_LOOP(i, 0, (long)options[OPTION_WORK].value)
    {
        app_tick(&app, i);
        double previous = i ? solver.zeta : 0;
        iterate(&solver);
        verify_step(&app, &solver, previous);
        app_hash_add_double(&app.hash, solver.zeta);
    }

    bool serial = serial_is_affordable(),
         published = is_nas() && options[OPTION_WORK].value == nas_class()->iterations;
    if (serial && app.rank == 0)
        verify_against_serial(&app, solver.zeta);
    if (published)
        verify_nas(&app, solver.zeta);
    for (int i = 0; i < part_length(&solver); i++)
        app_hash_add_double(&app.hash, solver.x[i]);
    double zeta = solver.zeta, residual = solver.residual;
    free_solver(&solver);
    return app_result(&app, "zeta=%.13g residual=%.1e checked=%s", zeta, residual,
                      published ? "nas"
                      : serial  ? "serial"
                                : "theory");
}
