/* SPDX-License-Identifier: MIT */
/*
 * Tasks that add up numbers in commutative regions of the size in the first argument. With a
 * second, the order matters.
 */
#include <mpi.h>
#include <stdlib.h>

#include "reprise_tasks.h"

enum { TASKS = 16, EACH = 8 };
struct node {
    double value;
    int index;
};

static int nodes, size, order_matters;

static void make(void *state, struct reprise_index index)
{
    struct node *node = state;

    node->index = index.x;
    node->value = 1 + index.x;
}

static void kick(void *state, const struct reprise_message *message)
{
    struct node *node = state;

    (void)message;
    for (int i = 0; i < EACH; i++) {
        double d = node->index * 16 + i;
        reprise_send(nodes, (struct reprise_index){(node->index + 1 + i) % TASKS, 0, 0}, 1, 0, &d,
                     sizeof d);
    }
}

static void add(void *state, const struct reprise_message *message)
{
    struct node *node = state;
    double d = *(const double *)message->data;

    node->value = order_matters ? node->value * 0.5 + d : node->value + d;
}

static void nothing(void *state, const struct reprise_message *message)
{
    (void)state, (void)message;
}

static size_t count(const void *state)
{
    (void)state;
    return (size_t)size;
}

static void finish(void *state)
{
    (void)state;
}

int main(int argc, char **argv)
{
    static const struct reprise_entry entries[] = {{"kick", REPRISE_ORDERED, kick, 0, 0, 0},
                                                   {"add", REPRISE_COMMUTATIVE, add, 0, count,
                                                    finish},
                                                   {"never", REPRISE_COMMUTATIVE, nothing, 0, count,
                                                    0},
                                                   {0}};
    struct reprise_collection_spec spec = {.name = "node",
                                           .size = {TASKS, 1, 1},
                                           .state_bytes = sizeof(struct node),
                                           .entries = entries,
                                           .make = make};

    MPI_Init(&argc, &argv);
    size = atoi(argv[1]);
    order_matters = argc > 2;
    reprise_tasks_begin();
    nodes = reprise_collection(&spec);
    for (int step = 0; step < 3; step++) {
        reprise_start(nodes, 0, (uint64_t)step, NULL, 0);
        reprise_tasks_run();
    }
    int status = reprise_tasks_end();
    MPI_Finalize();
    return status;
}
