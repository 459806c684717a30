/* SPDX-License-Identifier: MIT */
// ranks: 5
// native: same
// events: none
// about: reductions of doubles whose sum depends on the order; in place too; under `det
//     --reductions fixed` they are those of the order of ranks
#include "check.h"

enum { COUNT = 37 };

static double value(int rank, int index)
{
    return (index % 2 ? 1.0 : -1.0) * (1 + rank * 7 % 5) * 1e15 / (1 + (rank + index) % 9) +
           0.1 * (rank + 1);
}

// In the order of ranks, from the first to the last.
static double sum(int first, int last, int index)
{
    double all = value(first, index);

    for (int rank = first + 1; rank <= last; rank++)
        all += value(rank, index);
    return all;
}

static int is_fixed(void)
{
    const char *how = getenv("REPRISE_REDUCTIONS");

    return how && strcmp(how, "fixed") == 0;
}

static void compare(double got, double wanted, const char *what)
{
    double error = got > wanted ? got - wanted : wanted - got;

    CHECK(is_fixed() ? error == 0 : error < 1e3, "%s: %.17g, not %.17g", what, got, wanted);
}

int main(int argc, char **argv)
{
    double own[COUNT], all[COUNT], part[COUNT];
    int counts[8] = {1, 0, COUNT - 6, 2, 3}, places[8] = {0, 1, 1, COUNT - 5, COUNT - 3};

    check_start(&argc, &argv);
    for (int i = 0; i < COUNT; i++)
        own[i] = all[i] = value(check.rank, i);
    MPI_Allreduce(MPI_IN_PLACE, all, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        compare(all[i], sum(0, check.size - 1, i), "Allreduce");
    MPI_Reduce(own, part, COUNT, MPI_DOUBLE, MPI_SUM, 3, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT && check.rank == 3; i++)
        compare(part[i], all[i], "Reduce");
    MPI_Reduce_scatter(own, part, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < counts[check.rank]; i++)
        compare(part[i], all[places[check.rank] + i], "Reduce_scatter");
    MPI_Reduce_scatter_block(own, part, COUNT / 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT / 5; i++)
        compare(part[i], all[check.rank * (COUNT / 5) + i], "Reduce_scatter_block");
    MPI_Scan(own, part, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        compare(part[i], sum(0, check.rank, i), "Scan");
    MPI_Exscan(own, part, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT && check.rank > 0; i++)
        compare(part[i], sum(0, check.rank - 1, i), "Exscan");
    check_note(1);
    return check_end();
}
