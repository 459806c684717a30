/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: MPI_Dist_graph_create, where MPI takes the edges as they arrive: the order of neighbours,
//     with and without weights, of ranks that give edges of others, and of none
#include "check.h"

enum { ROUNDS = 5, MOST = 64 };

static void note_neighbours(MPI_Comm graph)
{
    int in, out, weighted, sources[MOST], in_weights[MOST], destinations[MOST], out_weights[MOST];

    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    check_note(in);
    check_note(out);
    check_note(weighted != 0);
    MPI_Dist_graph_neighbors(graph, in, sources, in_weights, out, destinations, out_weights);
    for (int i = 0; i < in; i++) {
        check_note(sources[i]);
        check_note(weighted ? in_weights[i] : 0);
    }
    for (int i = 0; i < out; i++) {
        check_note(destinations[i]);
        check_note(weighted ? out_weights[i] : 0);
    }
}

// What each neighbour sends comes in their order.
static void exchange(MPI_Comm graph)
{
    int all[MOST], in, out, weighted;

    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    MPI_Neighbor_allgather(&check.rank, 1, MPI_INT, all, 1, MPI_INT, graph);
    for (int i = 0; i < in; i++)
        check_note(all[i]);
    for (int i = 1; i < check.size && check.rank == 0; i++) {
        MPI_Status status;
        MPI_Recv(all, 1, MPI_INT, MPI_ANY_SOURCE, 1, graph, &status);
        check_note(status.MPI_SOURCE);
    }
    check_pace(77);
    if (check.rank > 0)
        MPI_Send(&check.rank, 1, MPI_INT, 0, 1, graph);
    MPI_Barrier(graph);
}

// Each rank gives an edge of each rank to the next but `round`, with a weight of its own.
static void make(int round, int is_weighted, int reorder)
{
    int sources[MOST], degrees[MOST], destinations[MOST], weights[MOST], count = check.size;
    MPI_Comm graph;

    if (round % 2 == 1 && check.rank == 0)
        count = 0;
    for (int i = 0; i < count; i++) {
        sources[i] = (i + check.rank) % check.size;
        degrees[i] = 1;
        destinations[i] = (sources[i] + round) % check.size;
        weights[i] = 10 * check.rank + i;
    }
    check_pace(round);
    MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, destinations,
                          is_weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &graph);
    note_neighbours(graph);
    exchange(graph);
    MPI_Comm_free(&graph);
}

// The usual way: each rank gives its own edges, here to all others.
static void make_own(void)
{
    int degree = check.size - 1, destinations[MOST];
    MPI_Comm graph;

    for (int i = 0; i < degree; i++)
        destinations[i] = (check.rank + 1 + i) % check.size;
    check_pace(99);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check.rank, &degree, destinations, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &graph);
    note_neighbours(graph);
    exchange(graph);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        make(round, 0, 0);
        make(round, 1, round == 2);
        make_own();
    }
    return check_end();
}
