/* SPDX-License-Identifier: MIT */
/*
 * A picture of the Mandelbrot set by a work farm, for docs/tutorial.md. Rank 0 hands out the rows
 * of the picture and collects them; the other ranks compute them. The rows are painted relative to
 * the border, which is row 0.
 *
 * The program has a bug. It shows in few runs.
 */
#include <mpi.h>
#include <stdio.h>

enum { WIDTH = 100, HEIGHT = 6, STEPS = 20000 };
enum tag { WORK, RESULT };

struct result {
    int row;
    int steps[WIDTH];
};

static int brightness_of_border;
static double picture[HEIGHT][WIDTH];

static int escape_time(double re, double im)
{
    double x = 0, y = 0;
    int steps = 0;
    for (; steps < STEPS && x * x + y * y <= 4; steps++) {
        double next = x * x - y * y + re;
        y = 2 * x * y + im;
        x = next;
    }
    return steps;
}

static void compute(struct result *result)
{
    for (int i = 0; i < WIDTH; i++)
        result->steps[i] = escape_time(-2 + 2.5 * i / WIDTH, -1.25 + 2.5 * result->row / HEIGHT);
}

static void paint(const struct result *result)
{
    for (int i = 0; i < WIDTH; i++)
        picture[result->row][i] = (double)result->steps[i] / brightness_of_border;
}

/* Rows from HEIGHT on mean that nothing is left to do. */
static void hand_out(int row, int worker)
{
    MPI_Send(&row, 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
}

static void collect(int next)
{
    struct result result;
    MPI_Status status;
    MPI_Recv(&result, 1 + WIDTH, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
    if (result.row == 0)
        brightness_of_border = result.steps[0];
    paint(&result);
    hand_out(next, status.MPI_SOURCE);
}

static double master(int workers)
{
    double sum = 0;
    for (int row = 0; row < workers; row++)
        hand_out(row, 1 + row);
    for (int done = 0; done < HEIGHT; done++)
        collect(workers + done);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        sum += picture[i / WIDTH][i % WIDTH];
    printf("mandel: brightness %g\n", sum);
    return sum;
}

static void work(void)
{
    struct result result;
    for (;;) {
        MPI_Recv(&result.row, 1, MPI_INT, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (result.row >= HEIGHT)
            return;
        compute(&result);
        MPI_Send(&result, 1 + WIDTH, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank > 0)
        work();
    else
        wrong = master(ranks - 1) > 1e9;
    MPI_Finalize();
    return wrong;
}
