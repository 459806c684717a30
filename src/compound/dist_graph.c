/* SPDX-License-Identifier: MIT */
/*
 * Each rank tells each other how many edges out of it and into it there are, and then which: so
 * many pairs of a neighbour and a weight, those out of it first. What comes from one rank after
 * another are the neighbours.
 */
#include "compound/dist_graph.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "compound/compound_start.h"
#include "preload/constants.h"

enum { OUT, IN, WAYS, PAIR = 2 };

struct edges {
    int count;
    const int *sources, *degrees, *destinations;
    const int *weights; /* NULL: none */
};

/* What one rank has for all others, or has from them. */
struct pairs {
    int (*counts)[WAYS]; /* of each rank */
    int *numbers;        /* how many int for each rank: PAIR for each pair */
    int *places;         /* where they begin */
    int *all;
    size_t length;
};

struct neighbours {
    int count, *ranks, *weights;
};

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory) {
        rp_error("MPI_Dist_graph_create: out of memory");
        abort();
    }
    return memory;
}

/* Arguments that MPI does not take: it is to say so itself. */
static bool is_wrong(const struct edges *e, int size)
{
    const int *to = e->destinations;

    if (e->count < 0 || (e->count > 0 && (!e->sources || !e->degrees)))
        return true;
    for (int i = 0; i < e->count; i++) {
        if (e->sources[i] < 0 || e->sources[i] >= size || e->degrees[i] < 0 ||
            (e->degrees[i] > 0 && !to))
            return true;
        for (int j = 0; j < e->degrees[i]; j++, to++)
            if (*to < 0 || *to >= size)
                return true;
    }
    return false;
}

static void count_edges(const struct edges *e, struct pairs *p)
{
    const int *to = e->destinations;

    for (int i = 0; i < e->count; i++) {
        p->counts[e->sources[i]][OUT] += e->degrees[i];
        for (int j = 0; j < e->degrees[i]; j++)
            p->counts[*to++][IN]++;
    }
}

static void lay_out(struct pairs *p, int size)
{
    for (int r = 0; r < size; r++) {
        size_t numbers = ((size_t)p->counts[r][OUT] + (size_t)p->counts[r][IN]) * PAIR;
        if (p->length + numbers > INT_MAX)
            rp_compound_refuse("MPI_Dist_graph_create", "so many edges");
        p->places[r] = (int)p->length;
        p->numbers[r] = (int)numbers;
        p->length += numbers;
    }
    p->all = room(p->length, sizeof *p->all);
}

static void put(struct pairs *p, int *next, int way, int rank, int neighbour, int weight)
{
    int *at = &p->all[p->places[rank] + next[rank * WAYS + way]++ * PAIR];

    if (way == IN)
        at += p->counts[rank][OUT] * PAIR;
    at[0] = neighbour;
    at[1] = weight;
}

static void put_edges(const struct edges *e, struct pairs *p, int size)
{
    int *next = room((size_t)size, WAYS * sizeof *next), edge = 0;

    for (int i = 0; i < e->count; i++)
        for (int j = 0; j < e->degrees[i]; j++, edge++) {
            int to = e->destinations[edge], weight = e->weights ? e->weights[edge] : 0;
            put(p, next, OUT, e->sources[i], to, weight);
            put(p, next, IN, to, e->sources[i], weight);
        }
    free(next);
}

static struct neighbours take(const struct pairs *p, int size, int way)
{
    size_t count = 0;

    for (int r = 0; r < size; r++)
        count += (size_t)p->counts[r][way];
    struct neighbours n = {0, room(count, sizeof *n.ranks), room(count, sizeof *n.weights)};
    for (int r = 0; r < size; r++) {
        const int *from = &p->all[p->places[r] + (way == IN ? p->counts[r][OUT] * PAIR : 0)];
        for (int i = 0; i < p->counts[r][way]; i++, n.count++) {
            n.ranks[n.count] = from[i * PAIR];
            n.weights[n.count] = from[i * PAIR + 1];
        }
    }
    return n;
}

static struct pairs begin(int size)
{
    size_t ranks = (size_t)size;
    struct pairs p = {.counts = room(ranks, sizeof *p.counts),
                      .numbers = room(ranks, sizeof *p.numbers),
                      .places = room(ranks, sizeof *p.places)};

    return p;
}

static void end(struct pairs *p)
{
    free(p->counts);
    free(p->numbers);
    free(p->places);
    free(p->all);
}

static int exchange(const struct rp_next *next, MPI_Comm comm, int size, struct pairs *mine,
                    struct pairs *theirs)
{
    int rc = next->Alltoall(mine->counts, WAYS, rp_constant.int32, theirs->counts, WAYS,
                            rp_constant.int32, comm);

    if (rc != MPI_SUCCESS)
        return rc;
    lay_out(theirs, size);
    return next->Alltoallv(mine->all, mine->numbers, mine->places, rp_constant.int32, theirs->all,
                           theirs->numbers, theirs->places, rp_constant.int32, comm);
}

int rp_dist_graph_create(const struct rp_next *next, MPI_Comm comm, int count, const int *sources,
                         const int *degrees, const int *destinations, const int *weights,
                         MPI_Info info, int reorder, MPI_Comm *graph)
{
    rp_compound_prepare();
    bool is_weighted = weights != rp_constant.unweighted;
    struct edges e = {count, sources, degrees, destinations, is_weighted ? weights : NULL};
    int size = 0, is_inter = 0;
    if (comm == rp_constant.comm_null || next->Comm_test_inter(comm, &is_inter) != MPI_SUCCESS ||
        is_inter || next->Comm_size(comm, &size) != MPI_SUCCESS || is_wrong(&e, size))
        return next->Dist_graph_create(comm, count, sources, degrees, destinations, weights, info,
                                       reorder, graph);

    struct pairs mine = begin(size), theirs = begin(size);
    count_edges(&e, &mine);
    lay_out(&mine, size);
    put_edges(&e, &mine, size);
    int rc = exchange(next, comm, size, &mine, &theirs);
    if (rc == MPI_SUCCESS) {
        struct neighbours in = take(&theirs, size, IN), out = take(&theirs, size, OUT);
        rc = next->Dist_graph_create_adjacent(comm, in.count, in.ranks,
                                              is_weighted ? in.weights : rp_constant.unweighted,
                                              out.count, out.ranks,
                                              is_weighted ? out.weights : rp_constant.unweighted,
                                              info, reorder, graph);
        free(in.ranks);
        free(in.weights);
        free(out.ranks);
        free(out.weights);
    }
    end(&mine);
    end(&theirs);
    return rc;
}
