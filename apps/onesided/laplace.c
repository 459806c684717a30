/* SPDX-License-Identifier: MIT */
/*
 * Laplace's equation on a square by Jacobi's method. Each rank owns some rows, and puts its first
 * and last row into the halos of its neighbours' windows, between two fences. Integers stand for
 * the field, so that the result does not depend on the number of ranks; rank 0 compares with a
 * serial computation.
 */
#include "app.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_SIZE, OPTION_EDGE };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "steps", 200, 1, 1 << 30},
    [OPTION_EDGE] = {"edge", "cells along an edge of the square", 128, 8, 1 << 14},
    {0},
};

static const struct app_spec spec = {"laplace",
                                     "Jacobi's method with halos by MPI_Put and MPI_Win_fence.", 1,
                                     options};

static int64_t border(int row, int column, int edge)
{
    return row < 0 ? 1000000 * (int64_t)column : row >= edge ? 500000 : column * 1000;
}

/* Rows -1 and `rows` are halos. */
static void relax(const int64_t *from, int64_t *to, int rows, int edge)
{
    for (int r = 1; r <= rows; r++)
        for (int c = 0; c < edge; c++) {
            const int64_t *at = from + (size_t)r * edge + c;
            int64_t left = c > 0 ? at[-1] : 250000, right = c < edge - 1 ? at[1] : 750000;
            to[(size_t)r * edge + c] = (at[-edge] + at[edge] + left + right) >> 2;
        }
}

static void set_borders(int64_t *field, int rows, int edge, int first, int total)
{
    for (int c = 0; c < edge; c++) {
        if (first == 0)
            field[c] = border(-1, c, edge);
        if (first + rows == total)
            field[(size_t)(rows + 1) * edge + c] = border(edge, c, edge);
    }
}

static uint64_t hash_rows(const int64_t *field, int rows, int edge)
{
    uint64_t hash = 0;

    for (size_t i = (size_t)edge; i < (size_t)(rows + 1) * edge; i++)
        app_hash_add(&hash, (uint64_t)field[i]);
    return hash;
}

/* The hash of each rank's rows, computed serially. */
static void expect(int steps, int edge, int ranks, uint64_t *expected)
{
    int64_t *a = app_allocate((size_t)(edge + 2) * edge, sizeof *a),
            *b = app_allocate((size_t)(edge + 2) * edge, sizeof *b);

    set_borders(a, edge, edge, 0, edge);
    set_borders(b, edge, edge, 0, edge);
    for (int s = 0; s < steps; s++) {
        relax(a, b, edge, edge);
        int64_t *swap = a;
        a = b;
        b = swap;
    }
    for (int r = 0; r < ranks; r++) {
        int first = app_part_first(edge, ranks, r),
            rows = app_part_first(edge, ranks, r + 1) - first;
        expected[r] = hash_rows(a + (size_t)first * edge, rows, edge);
    }
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    struct app app;

    app_start(&app, &spec, &argc, &argv);
    int edge = (int)options[OPTION_EDGE].value, steps = (int)options[OPTION_SIZE].value;
    if (app.ranks > edge)
        app_usage_error(&app, "at most %d ranks", edge);
    int first = app_part_first(edge, app.ranks, app.rank),
        rows = app_part_first(edge, app.ranks, app.rank + 1) - first;
    MPI_Aint bytes = (MPI_Aint)sizeof(int64_t) * (rows + 2) * edge;
    int64_t *field[2];
    MPI_Win win[2];
    for (int i = 0; i < 2; i++) {
        MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &field[i], &win[i]);
        memset(field[i], 0, (size_t)bytes);
        set_borders(field[i], rows, edge, first, edge);
        MPI_Win_fence(0, win[i]);
    }
    for (int s = 0; s < steps; s++) {
        int64_t *from = field[s % 2];
        MPI_Win w = win[s % 2];
        if (app.rank > 0) {
            int above = first - app_part_first(edge, app.ranks, app.rank - 1);
            MPI_Put(from + edge, edge, MPI_INT64_T, app.rank - 1, (MPI_Aint)(above + 1) * edge,
                    edge, MPI_INT64_T, w);
        }
        if (app.rank < app.ranks - 1)
            MPI_Put(from + (size_t)rows * edge, edge, MPI_INT64_T, app.rank + 1, 0, edge,
                    MPI_INT64_T, w);
        MPI_Win_fence(0, w);
        relax(from, field[(s + 1) % 2], rows, edge);
    }
    uint64_t *expected = app_allocate((size_t)app.ranks, sizeof *expected);
    if (app.rank == 0)
        expect(steps, edge, app.ranks, expected);
    uint64_t mine = hash_rows(field[steps % 2], rows, edge);
    app_verify_hashes(&app, mine, expected, "the field is not that of one process");
    app_hash_add(&app.hash, mine);
    free(expected);
    MPI_Win_free(&win[0]);
    MPI_Win_free(&win[1]);
    return app_result(&app, "steps=%d edge=%d", steps, edge);
}
