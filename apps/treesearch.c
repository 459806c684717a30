/* SPDX-License-Identifier: MIT */
/*
 * Unbalanced tree search with work stealing, after UTS (Olivier et al., LCPC 2006).
 *
 * The tree is binomial: the root has many children, every other node four with a probability a
 * little below a quarter, else none. A node's state is a hash of its parent's state and of its
 * number among the children, and says whether it has children: the tree follows from the seed, but
 * no subtree's size is known before it is searched. Rank 0 begins with the root. A rank searches
 * depth first on a stack of its own; one whose stack is empty asks up to two random others, who
 * give nodes from the bottom of their stacks, or none.
 *
 * Requests and tokens are found by probing any source and any tag every few nodes. Answers come
 * into receives from any source that are posted before the asking, so that an answer never waits
 * for its receiver.
 *
 * The end is found by Safra's algorithm (EWD 998). A rank counts the messages with nodes that it
 * sent, less those that it received, and is black once it received one. A token goes around the
 * ring of ranks, each of which keeps it until its stack is empty, adds its count and colour, and
 * turns white. When rank 0 gets a white token, is white and the sum is zero, no node is left. A
 * second token then stops the asking: a rank passes it on when all that it asked have answered, so
 * that when it is back no request is under way. A third one ends the loop.
 *
 * Who gets which nodes from whom, and after how many of its own, is a race; the hash records it.
 * The numbers of nodes and leaves, the depth and the sum of the nodes' values depend on the seed
 * only; rank 0 searches the tree again by itself to verify them.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_PER_POLL = 32, MESSAGE_NODES = 16, MOST_ASKED = 2, NOBODY = -1 };
enum { TAG_REQUEST = 1, TAG_COUNT = 2, TAG_STOP = 3, TAG_END = 4, TAG_ANSWER = 5 };
enum { OPTION_SIZE, OPTION_WORK };

/* A node but the root has CHILDREN children with probability 31/128, which makes 32 nodes of it on
 * average. */
enum { CHILDREN = 4, PROBABILITY_BITS = 7, PARENTS = 31, MEAN_SUBTREE = 32 };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "nodes of the tree, about", 1500000, 1, UINT64_C(1) << 32},
    [OPTION_WORK] = {"work", "arithmetic steps for a node, 1 to 2 ns each", 1000, 0,
                     UINT64_C(1) << 32},
    {0},
};

static const struct app_spec spec = {"treesearch", "Idle ranks steal parts of an unbalanced tree.",
                                     1, options};

struct node {
    uint64_t state;
    uint64_t depth;
};

struct stack {
    struct node *items;
    size_t bottom;
    size_t top; /* one past the last */
    size_t capacity;
};

/* What is known of the nodes searched so far. */
struct tally {
    uint64_t nodes;
    uint64_t leaves;
    uint64_t depth; /* the greatest */
    uint64_t sum;   /* of the nodes' values */
};

/* One rank asked for nodes. The answer in `incoming` need not be that of `victim` where several
 * were asked. */
struct ask {
    int victim; /* or NOBODY */
    MPI_Request request;
    MPI_Request answer;
    struct node incoming[MESSAGE_NODES];
};

struct token {
    int tag;       /* 0: not here */
    int64_t count; /* messages with nodes, sent less received */
    int64_t black;
};

struct search {
    struct app *app;
    MPI_Comm control; /* of requests and tokens */
    struct app_random random;
    struct stack stack;
    struct tally tally;
    struct ask asks[MOST_ASKED];
    uint64_t steals;

    struct token token;
    int64_t outgoing[2]; /* the token sent last */
    MPI_Request sending;
    int64_t count;
    bool black;
    bool stopping; /* no node is left: ask nobody */
    bool ended;
};

/* The tree */

static struct node root_node(const struct app *app)
{
    return (struct node){.state = app_mix(app_mix(app->seed) + 1)};
}

static struct node child_node(const struct node *parent, uint64_t number)
{
    struct node child = {parent->state, parent->depth + 1};
    app_hash_add(&child.state, number);
    return child;
}

static uint64_t child_count(const struct node *node)
{
    if (node->depth == 0)
        return 1 + options[OPTION_SIZE].value / MEAN_SUBTREE;
    return node->state >> (64 - PROBABILITY_BITS) < PARENTS ? CHILDREN : 0;
}

static size_t stack_count(const struct stack *stack)
{
    return stack->top - stack->bottom;
}

static void stack_make_room(struct stack *stack)
{
    size_t count = stack_count(stack);
    size_t capacity = 2 * count + MESSAGE_NODES;
    struct node *items = app_allocate(capacity, sizeof *items);
    if (count > 0)
        memcpy(items, stack->items + stack->bottom, count * sizeof *items);
    free(stack->items);
    *stack = (struct stack){items, 0, count, capacity};
}

static void stack_push(struct stack *stack, struct node node)
{
    if (stack->top == stack->capacity)
        stack_make_room(stack);
    stack->items[stack->top++] = node;
}

/* Takes the top node, puts its children in its place and returns it. Its value is for the caller to
 * add. */
static struct node search_node(struct stack *stack, struct tally *tally)
{
    struct node node = stack->items[--stack->top];
    uint64_t children = child_count(&node);
    for (uint64_t number = 0; number < children; number++)
        stack_push(stack, child_node(&node, number));
    tally->nodes++;
    tally->leaves += children == 0;
    if (tally->depth < node.depth)
        tally->depth = node.depth;
    return node;
}

static void search_nodes(struct search *search)
{
    for (int i = 0; i < NODES_PER_POLL && stack_count(&search->stack) > 0; i++) {
        struct node node = search_node(&search->stack, &search->tally);
        search->tally.sum += app_spin(node.state, options[OPTION_WORK].value);
    }
}

/* Requests and answers */

static bool awaits_answer(const struct search *search)
{
    for (int i = 0; i < MOST_ASKED; i++)
        if (search->asks[i].victim != NOBODY)
            return true;
    return false;
}

static struct ask *find_ask(struct search *search, int victim)
{
    for (int i = 0; i < MOST_ASKED; i++)
        if (search->asks[i].victim == victim)
            return &search->asks[i];
    return NULL;
}

static int random_other_rank(struct search *search)
{
    int other = (int)app_random_below(&search->random, (uint64_t)search->app->ranks - 1);
    return other < search->app->rank ? other : other + 1;
}

static void ask(struct search *search)
{
    struct ask *ask = find_ask(search, NOBODY);
    if (!ask || search->app->ranks == 1)
        return;
    int victim = random_other_rank(search);
    if (find_ask(search, victim))
        return;
    ask->victim = victim;
    MPI_Irecv(ask->incoming, 2 * MESSAGE_NODES, MPI_UINT64_T, MPI_ANY_SOURCE, TAG_ANSWER,
              MPI_COMM_WORLD, &ask->answer);
    MPI_Isend(NULL, 0, MPI_INT64_T, victim, TAG_REQUEST, search->control, &ask->request);
}

/* Gives at most half of the stack, so that nobody steals the last node and nodes do not wander. */
static void answer(struct search *search, int thief)
{
    struct stack *stack = &search->stack;
    size_t count = stack_count(stack) / 2;
    if (count > MESSAGE_NODES)
        count = MESSAGE_NODES;
    MPI_Send(stack->items + stack->bottom, 2 * (int)count, MPI_UINT64_T, thief, TAG_ANSWER,
             MPI_COMM_WORLD);
    stack->bottom += count;
    search->count += count > 0;
}

/* Completes the request that was answered, and moves the other one, if it stands here, into its
 * place. */
static void close_ask(struct search *search, struct ask *ask, int victim)
{
    struct ask *answered = find_ask(search, victim);
    app_verify(search->app, answered, "rank %d answered without being asked", victim);
    if (!answered)
        return;
    MPI_Wait(&answered->request, MPI_STATUS_IGNORE);
    answered->victim = ask->victim;
    answered->request = ask->request;
    ask->victim = NOBODY;
    ask->request = MPI_REQUEST_NULL;
}

static void take_answer(struct search *search, struct ask *ask, const MPI_Status *status)
{
    int words;
    MPI_Get_count(status, MPI_UINT64_T, &words);
    app_hash_add(&search->app->hash, (uint64_t)status->MPI_SOURCE);
    app_hash_add(&search->app->hash, (uint64_t)words);
    app_hash_add(&search->app->hash, search->tally.nodes);
    for (int i = 0; i < words / 2; i++) {
        app_hash_add(&search->app->hash, ask->incoming[i].state);
        stack_push(&search->stack, ask->incoming[i]);
    }
    app_verify(search->app, words == 0 || !search->stopping, "rank %d gave nodes after the end",
               status->MPI_SOURCE);
    if (words > 0) {
        search->count--;
        search->black = true;
        search->steals++;
    }
    close_ask(search, ask, status->MPI_SOURCE);
}

/* Returns whether there was an answer. */
static bool take_answers(struct search *search)
{
    bool any = false;
    for (int i = 0; i < MOST_ASKED; i++) {
        int completed;
        MPI_Status status;
        struct ask *ask = &search->asks[i];
        if (ask->victim == NOBODY)
            continue;
        MPI_Test(&ask->answer, &completed, &status);
        if (completed)
            take_answer(search, ask, &status);
        any |= completed;
    }
    return any;
}

/* Tokens */

static void send_token(struct search *search, int tag, int64_t count, bool black)
{
    MPI_Wait(&search->sending, MPI_STATUS_IGNORE);
    search->outgoing[0] = count;
    search->outgoing[1] = black;
    search->token.tag = 0;
    MPI_Isend(search->outgoing, 2, MPI_INT64_T, (search->app->rank + 1) % search->app->ranks, tag,
              search->control, &search->sending);
}

static void pass_count(struct search *search)
{
    int64_t count = search->token.count + search->count;
    bool black = search->token.black || search->black;
    search->black = false;
    if (search->app->rank != 0) {
        send_token(search, TAG_COUNT, count, black);
    } else if (black || count != 0) {
        send_token(search, TAG_COUNT, 0, false);
    } else {
        search->stopping = true;
        send_token(search, TAG_STOP, 0, false);
    }
}

static void pass_end(struct search *search)
{
    search->ended = true;
    if (search->app->rank != 0)
        send_token(search, TAG_END, 0, false);
}

/* Passes on the token that is here, if its time has come. */
static void pass_token(struct search *search)
{
    if (search->token.tag == TAG_COUNT && stack_count(&search->stack) == 0)
        pass_count(search);
    else if (search->token.tag == TAG_STOP && !awaits_answer(search))
        send_token(search, search->app->rank == 0 ? TAG_END : TAG_STOP, 0, false);
    else if (search->token.tag == TAG_END)
        pass_end(search);
}

static void stop_asking(struct search *search)
{
    size_t left = stack_count(&search->stack);
    app_verify(search->app, left == 0, "the end was found too early: %zu nodes are left", left);
    search->stopping = true;
}

/* Returns whether there was a request or a token. */
static bool take_control(struct search *search)
{
    int found;
    int64_t words[2] = {0, 0};
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, search->control, &found, &status);
    if (!found)
        return false;
    MPI_Recv(words, 2, MPI_INT64_T, status.MPI_SOURCE, status.MPI_TAG, search->control,
             MPI_STATUS_IGNORE);
    app_hash_add(&search->app->hash, (uint64_t)status.MPI_SOURCE);
    app_hash_add(&search->app->hash, (uint64_t)status.MPI_TAG);
    app_hash_add(&search->app->hash, search->tally.nodes);
    if (status.MPI_TAG == TAG_REQUEST)
        answer(search, status.MPI_SOURCE);
    else
        search->token = (struct token){status.MPI_TAG, words[0], words[1]};
    if (status.MPI_TAG == TAG_STOP)
        stop_asking(search);
    return true;
}

/* The search */

static struct search *create_search(struct app *app)
{
    struct search *search = app_allocate(1, sizeof *search);
    search->app = app;
    search->random = app_random_from(app->seed, (uint64_t)app->rank, 0);
    search->sending = MPI_REQUEST_NULL;
    for (int i = 0; i < MOST_ASKED; i++) {
        search->asks[i].victim = NOBODY;
        search->asks[i].request = search->asks[i].answer = MPI_REQUEST_NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &search->control);
    if (app->rank == 0) {
        stack_push(&search->stack, root_node(app));
        search->token =
            (struct token){.tag = TAG_COUNT, .black = true}; /* as if a first round had failed */
    } else {
        stack_make_room(&search->stack);
    }
    return search;
}

static void free_search(struct search *search)
{
    MPI_Comm_free(&search->control);
    free(search->stack.items);
    free(search);
}

static void run_search(struct search *search)
{
    while (!search->ended) {
        bool idle = stack_count(&search->stack) == 0;
        search_nodes(search);
        while (take_control(search))
            idle = false;
        if (take_answers(search))
            idle = false;
        pass_token(search);
        if (stack_count(&search->stack) == 0 && !search->stopping)
            ask(search);
        if (idle)
            app_yield();
    }
    MPI_Wait(&search->sending, MPI_STATUS_IGNORE);
}

/* Verification */

static struct tally sum_tallies(const struct tally *own)
{
    struct tally all = {.nodes = app_sum(own->nodes),
                        .leaves = app_sum(own->leaves),
                        .sum = app_sum(own->sum)};
    MPI_Allreduce(&own->depth, &all.depth, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static struct tally expected_tally(const struct app *app)
{
    struct stack stack = {0};
    struct tally tally = {0};
    stack_push(&stack, root_node(app));
    while (stack_count(&stack) > 0) {
        struct node node = search_node(&stack, &tally);
        tally.sum += app_spin_expected(node.state, options[OPTION_WORK].value);
    }
    free(stack.items);
    return tally;
}

static void verify_tally(struct app *app, const struct tally *tally)
{
    struct tally expected = expected_tally(app);
    app_verify(app, tally->nodes == expected.nodes, "%" PRIu64 " nodes of %" PRIu64, tally->nodes,
               expected.nodes);
    app_verify(app, tally->leaves == expected.leaves, "%" PRIu64 " leaves of %" PRIu64,
               tally->leaves, expected.leaves);
    app_verify(app, tally->depth == expected.depth, "depth %" PRIu64 ", not %" PRIu64, tally->depth,
               expected.depth);
    app_verify(app, tally->sum == expected.sum, "the sum of the nodes' values is wrong");
}

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    struct search *search = create_search(&app);
    run_search(search);

    struct tally tally = sum_tallies(&search->tally);
    if (app.rank == 0)
        verify_tally(&app, &tally);
    app_hash_add(&app.hash, search->tally.nodes);
    uint64_t steals = app_sum(search->steals);
    free_search(search);
    return app_result(&app,
                      "nodes=%" PRIu64 " leaves=%" PRIu64 " depth=%" PRIu64 " steals=%" PRIu64,
                      tally.nodes, tally.leaves, tally.depth, steals);
}
