/* SPDX-License-Identifier: MIT */
/*
 * Tasks in a ring that exchange halos. With an argument, entry "halo" says when it is ready;
 * without, halos that come early are lost.
 */
#include <mpi.h>

#include "reprise_tasks.h"

enum { TASKS = 16, STEPS = 4 };
struct node {
    long value, sum, step;
    int index;
};

static int nodes, is_right;

static void make(void *state, struct reprise_index index)
{
    struct node *node = state;

    node->index = index.x;
    node->value = 1 + index.x;
}

static struct reprise_index at(int index)
{
    return (struct reprise_index){(index + TASKS) % TASKS, 0, 0};
}

static void go(void *state, const struct reprise_message *message)
{
    struct node *node = state;

    node->step = (long)message->ref;
    node->sum = node->value; /* halos that came before are lost */
    reprise_send(nodes, at(node->index - 1), 1, message->ref, &node->value, sizeof node->value);
    reprise_send(nodes, at(node->index + 1), 1, message->ref, &node->value, sizeof node->value);
}

static bool awaits_halo(const void *state, uint64_t ref)
{
    return !is_right || (uint64_t)((const struct node *)state)->step == ref;
}

static size_t two(const void *state)
{
    (void)state;
    return 2;
}

static size_t one(const void *state)
{
    (void)state;
    return 1;
}

static void halo(void *state, const struct reprise_message *message)
{
    ((struct node *)state)->sum += *(const long *)message->data;
}

static void halos(void *state)
{
    struct node *node = state;

    node->value = node->sum % 100003;
    reprise_send(nodes, at(node->index + 5), 2, 0, &node->value, sizeof node->value);
}

static void note(void *state, const struct reprise_message *message)
{
    (void)state, (void)message;
}

int main(int argc, char **argv)
{
    static const struct reprise_entry entries[] = {{"go", REPRISE_ORDERED, go, 0, 0, 0},
                                                   {"halo", REPRISE_COMMUTATIVE, halo, awaits_halo,
                                                    two, halos},
                                                   {"note", REPRISE_COMMUTATIVE, note, 0, one, 0},
                                                   {0}};

    MPI_Init(&argc, &argv);
    is_right = argc > 1;
    reprise_tasks_begin();
    nodes = reprise_collection(&(struct reprise_collection_spec){.name = "node",
                                                                 .size = {TASKS, 1, 1},
                                                                 .state_bytes = sizeof(struct node),
                                                                 .entries = entries,
                                                                 .make = make});
    for (uint64_t step = 1; step <= STEPS; step++) {
        reprise_start(nodes, 0, step, NULL, 0);
        reprise_tasks_run();
    }
    int status = reprise_tasks_end();
    MPI_Finalize();
    return status;
}
