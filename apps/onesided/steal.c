/* SPDX-License-Identifier: MIT */
/*
 * Search of a tree with one-sided work stealing: an unbalanced one, as in the UTS benchmark; the
 * calls of fib(n); the boards of n queens. Each rank has a stack of its own, and a queue in a
 * window, from which others steal half while they hold its lock; the victim does not take part. Who
 * steals what from whom is a race, and a hash records it. A counter at rank 0 holds the nodes that
 * were found but not yet searched; when it is 0, all end. Nodes and results must be those of a
 * serial search.
 */
#include "app.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_SIZE, OPTION_ROOT, OPTION_WORK, OPTION_TREE };
enum { UNBALANCED, FIB, QUEENS };
enum { QUEUE = 4096, CHUNK = 16, CHILDREN = 5, PRIVATE_MOST = 1 << 20 };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size",
                     "chances in 1000 that a node has children, it has five then; or n of fib(n), "
                     "or of queens (at most 16)",
                     194, 1, 199},
    [OPTION_ROOT] = {"root", "children of the root", 400, 1, 1 << 20},
    [OPTION_WORK] = {"work", "steps of arithmetic that a node takes", 2000, 0, 1 << 30},
    [OPTION_TREE] = {"tree", "0: unbalanced, 1: fib, 2: queens", 0, 0, 2},
    {0},
};

static const struct app_spec spec = {"steal", "Tree search with one-sided work stealing.", 1,
                                     options};

struct queue {
    int64_t bottom, top; /* thieves take from the bottom */
    uint64_t node[QUEUE];
};

struct search {
    struct app *app;
    MPI_Win win, counter;
    struct queue *shared;
    uint64_t *stack, depth, searched, result, steals;
    int64_t found; /* not told to the counter yet */
    uint64_t random, work;
    FILE *truth; /* NULL, or of each MPI_Get of a queue: victim, first word, number of words, who
                    wrote each */
    uint32_t *writer; /* of each word of each queue, + 1; NULL: nobody asks */
};

enum { QUEUE_WORDS = 2 + QUEUE };

/* Who holds the lock of a queue wrote these words of it. */
static void tell_truth(struct search *s, int owner, int64_t first, int64_t count)
{
    for (int64_t i = first; s->writer && i < first + count; i++)
        s->writer[owner * QUEUE_WORDS + i] = (uint32_t)s->app->rank + 1;
}

/* And read these. */
static void ask_truth(struct search *s, int owner, int64_t first, int64_t count)
{
    if (!s->truth || !s->writer)
        return;
    fprintf(s->truth, "%d %lld %lld", owner, (long long)first, (long long)count);
    for (int64_t i = first; i < first + count; i++) {
        uint32_t writer = s->writer[owner * QUEUE_WORDS + i];
        fprintf(s->truth, " %d", writer ? (int)writer - 1 : owner);
    }
    fprintf(s->truth, "\n");
}

/* A board: rows that have a queen, and what the next row's columns are threatened by: columns and
 * the two diagonals, 16 bits each. */
static uint64_t free_columns(uint64_t board)
{
    uint64_t all = (UINT64_C(1) << options[OPTION_SIZE].value) - 1;

    return all & ~(board >> 16 | board >> 32 | board >> 48);
}

static uint64_t next_board(uint64_t board, uint64_t column)
{
    uint64_t columns = (board >> 16 & 0xffff) | column,
             left = ((board >> 32 & 0xffff) | column) << 1 & 0xffff,
             right = ((board >> 48 & 0xffff) | column) >> 1;

    return ((board & 0xffff) + 1) | columns << 16 | left << 32 | right << 48;
}

static int children_of(uint64_t node)
{
    switch (options[OPTION_TREE].value) {
    case FIB:
        return node >= 2 ? 2 : 0;
    case QUEENS:
        return (node & 0xffff) < options[OPTION_SIZE].value
                   ? __builtin_popcountll(free_columns(node))
                   : 0;
    default:
        return app_mix(node) % 1000 < options[OPTION_SIZE].value ? CHILDREN : 0;
    }
}

static uint64_t child_of(uint64_t node, int i)
{
    uint64_t columns;

    switch (options[OPTION_TREE].value) {
    case FIB:
        return node - 1 - (uint64_t)i;
    case QUEENS:
        for (columns = free_columns(node); i > 0; i--)
            columns &= columns - 1;
        return next_board(node, columns & -columns);
    default:
        return app_mix(node * 31 + (uint64_t)i + 1);
    }
}

/* What a node adds to the result. */
static uint64_t result_of(uint64_t node)
{
    switch (options[OPTION_TREE].value) {
    case FIB:
        return node == 1;
    case QUEENS:
        return (node & 0xffff) == options[OPTION_SIZE].value;
    default:
        return 1;
    }
}

static uint64_t roots(void)
{
    return options[OPTION_TREE].value == UNBALANCED ? options[OPTION_ROOT].value : 1;
}

static uint64_t root(uint64_t i)
{
    return options[OPTION_TREE].value == UNBALANCED ? app_mix(i + 77)
           : options[OPTION_TREE].value == FIB      ? options[OPTION_SIZE].value
                                                    : 0;
}

static void push(struct search *s, uint64_t node)
{
    if (s->depth == PRIVATE_MOST)
        MPI_Abort(MPI_COMM_WORLD, 9);
    s->stack[s->depth++] = node;
}

static int64_t tell(struct search *s, int64_t difference)
{
    int64_t before;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, s->counter);
    MPI_Fetch_and_op(&difference, &before, MPI_INT64_T, 0, 0, MPI_SUM, s->counter);
    MPI_Win_unlock(0, s->counter);
    return before + difference;
}

/* Half of a full stack is for others; what is left of the queue is for an empty one. */
static void share(struct search *s)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->app->rank, 0, s->win);
    struct queue *q = s->shared;
    if (q->bottom == q->top) {
        q->bottom = q->top = 0;
        tell_truth(s, s->app->rank, 0, 1);
    }
    int64_t before = q->top;
    while (s->depth > CHUNK && q->top < QUEUE && q->top - q->bottom < 4 * CHUNK)
        q->node[q->top++] = s->stack[--s->depth];
    tell_truth(s, s->app->rank, 1, 1);
    tell_truth(s, s->app->rank, 2 + before, q->top - before);
    MPI_Win_unlock(s->app->rank, s->win);
}

static void take_back(struct search *s)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->app->rank, 0, s->win);
    struct queue *q = s->shared;
    for (int i = 0; i < CHUNK && q->top > q->bottom; i++)
        push(s, q->node[--q->top]);
    MPI_Win_unlock(s->app->rank, s->win);
}

static bool steal(struct search *s, int victim)
{
    int64_t ends[2], count = 0;
    uint64_t nodes[2 * CHUNK];

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, victim, 0, s->win);
    MPI_Get(ends, 2, MPI_INT64_T, victim, 0, 2, MPI_INT64_T, s->win);
    MPI_Win_flush(victim, s->win);
    ask_truth(s, victim, 0, 2);
    if (ends[1] > ends[0]) {
        count = (ends[1] - ends[0] + 1) / 2;
        MPI_Get(nodes, (int)count, MPI_UINT64_T, victim, 2 + (MPI_Aint)ends[0], (int)count,
                MPI_UINT64_T, s->win);
        ask_truth(s, victim, 2 + ends[0], count);
        tell_truth(s, victim, 0, 1);
        ends[0] += count;
        MPI_Put(ends, 1, MPI_INT64_T, victim, 0, 1, MPI_INT64_T, s->win);
    }
    MPI_Win_unlock(victim, s->win);
    for (int64_t i = 0; i < count; i++) {
        push(s, nodes[i]);
        app_hash_add(&s->app->hash, nodes[i]);
    }
    app_hash_add(&s->app->hash, (uint64_t)victim << 32 | (uint64_t)count);
    s->steals += count > 0;
    return count > 0;
}

static void search(struct search *s)
{
    while (s->depth > 0) {
        uint64_t node = s->stack[--s->depth];
        int children = children_of(node);
        s->work ^= app_spin(node, options[OPTION_WORK].value);
        s->searched++;
        s->result += result_of(node);
        s->found += children - 1;
        for (int i = 0; i < children; i++)
            push(s, child_of(node, i));
        if (s->searched % 32 == 0)
            share(s);
    }
}

static void run(struct search *s)
{
    for (;;) {
        search(s);
        take_back(s);
        if (s->depth > 0)
            continue;
        int64_t left = tell(s, s->found);
        s->found = 0;
        if (left == 0)
            return;
        s->random = app_mix(s->random + 1);
        int victim = (int)(s->random % (uint64_t)s->app->ranks);
        if (victim == s->app->rank || !steal(s, victim))
            app_yield();
    }
}

static uint64_t serial(uint64_t *stack, uint64_t *result)
{
    uint64_t depth = 0, count = 0;

    *result = 0;
    for (uint64_t i = 0; i < roots(); i++)
        stack[depth++] = root(i);
    while (depth > 0) {
        uint64_t node = stack[--depth];
        count++;
        *result += result_of(node);
        for (int i = 0, n = children_of(node); i < n; i++)
            stack[depth++] = child_of(node, i);
    }
    return count;
}

int main(int argc, char **argv)
{
    struct app app;
    struct search s = {.app = &app};
    int64_t *counter;

    app_start(&app, &spec, &argc, &argv);
    if (options[OPTION_TREE].value == QUEENS && options[OPTION_SIZE].value > 16)
        app_usage_error(&app, "at most 16 queens");
    s.stack = app_allocate(PRIVATE_MOST + 8, sizeof *s.stack);
    s.random = app.seed * 1000 + (uint64_t)app.rank;
    s.truth = app_truth_file(&app);
    s.writer = app_truth_memory((size_t)app.ranks * QUEUE_WORDS * sizeof *s.writer);
    MPI_Win_allocate(sizeof *s.shared, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &s.shared,
                     &s.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, app.rank, 0, s.win);
    memset(s.shared, 0, sizeof *s.shared);
    MPI_Win_unlock(app.rank, s.win);
    MPI_Win_allocate(app.rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &counter, &s.counter);
    if (app.rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, s.counter);
        *counter = (int64_t)roots();
        MPI_Win_unlock(0, s.counter);
        for (uint64_t i = 0; i < roots(); i++)
            push(&s, root(i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    run(&s);
    MPI_Win_free(&s.win);
    MPI_Win_free(&s.counter);
    if (s.truth)
        fclose(s.truth);
    app_hash_add(&app.hash, s.searched);
    app_hash_add(&app.hash, s.work);
    uint64_t all = app_sum(s.searched), steals = app_sum(s.steals), result = app_sum(s.result),
             expected;
    if (app.rank == 0)
        app_verify(&app, all == serial(s.stack, &expected) && result == expected,
                   "%llu nodes were searched, with result %llu", (unsigned long long)all,
                   (unsigned long long)result);
    free(s.stack);
    return app_result(&app, "nodes=%llu result=%llu steals=%llu", (unsigned long long)all,
                      (unsigned long long)result, (unsigned long long)steals);
}
