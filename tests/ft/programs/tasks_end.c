// SPDX-License-Identifier: MIT
// A program of tasks that ends as its argument says: how does `reprise ft --tasks` report it? Each
// task adds up numbers that all others send it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reprise_tasks.h"

enum { TASKS = 12, RUNS = 4 };

struct node {
    double sum;
    int index, run;
};

static int nodes, result;
static const char *how = "";

static void make(void *state, struct reprise_index index)
{
    ((struct node *)state)->index = index.x;
}

static void go(void *state, const struct reprise_message *message)
{
    struct node *node = state;
    double number = node->index + 1;

    node->run = (int)message->ref;
    for (int i = 0; i < TASKS; i++)
        reprise_send(nodes, (struct reprise_index){i, 0, 0}, 1, message->ref, &number,
                     sizeof number);
}

static bool awaits_number(const void *state, uint64_t ref)
{
    return (uint64_t)((const struct node *)state)->run == ref;
}

static size_t all(const void *state)
{
    (void)state;
    return TASKS;
}

static void add(void *state, const struct reprise_message *message)
{
    struct node *node = state;

    node->sum += *(const double *)message->data;
    if (node->run == 2 && node->index == 5 && strcmp(how, "exit") == 0)
        exit(3);
    if (node->run == 2 && node->index == 5 && strcmp(how, "crash") == 0)
        raise(SIGSEGV);
}

static void added(void *state)
{
    struct node *node = state;

    reprise_contribute(result, (uint64_t)node->run - 1, &node->sum);
}

/* As often as the file has bytes left. */
static void die_early(int process, const char *path)
{
    FILE *file = process == 1 && strcmp(how, "early") == 0 ? fopen(path, "r+") : NULL;

    if (!file)
        return;
    fseek(file, 0, SEEK_END);
    long left = ftell(file);
    if (left > 0 && ftruncate(fileno(file), left - 1) == 0)
        raise(SIGKILL);
    fclose(file);
}

int main(int argc, char **argv)
{
    static const struct reprise_entry entries[] = {{"go", REPRISE_ORDERED, go, NULL, NULL, NULL},
                                                   {"add", REPRISE_COMMUTATIVE, add, awaits_number,
                                                    all, added},
                                                   {0}};
    double sum = 0;

    how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "before") == 0)
        return 4;
    die_early(atoi(getenv("OMPI_COMM_WORLD_RANK")), argc > 2 ? argv[2] : NULL);
    MPI_Init(&argc, &argv);
    reprise_tasks_begin();
    nodes = reprise_collection(&(struct reprise_collection_spec){.name = "node",
                                                                 .size = {TASKS, 0, 0},
                                                                 .state_bytes = sizeof(struct node),
                                                                 .entries = entries,
                                                                 .make = make});
    result = reprise_reduction(nodes, 1, REPRISE_SUM, -1);
    for (uint64_t run = 1; run <= RUNS; run++) {
        reprise_start(nodes, 0, run, NULL, 0);
        reprise_tasks_run();
    }
    reprise_result(result, NULL, &sum);
    int process = reprise_process(), status = reprise_tasks_end();
    if (process == 1 && strcmp(how, "late") == 0)
        raise(SIGKILL);
    if (reprise_is_first())
        printf("RESULT sum=%g\n", sum);
    MPI_Finalize();
    if (process == 0 && strcmp(how, "after") == 0)
        sleep(7); /* it does something else yet */
    return process == 2 && strcmp(how, "status") == 0 ? 5 : status;
}
