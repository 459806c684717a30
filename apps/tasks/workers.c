/* SPDX-License-Identifier: MIT */
/*
 * Master and workers by tasks: the hybrid of Lifflander et al., Scalable Replay with Partial-Order
 * Dependencies, section V-D. A worker asks, the master gives it the next unit, which takes time; so
 * the master's messages come in any order, and who gets which unit depends on it: they need
 * determinants, one less than there are, since it is known how many come: a question for each unit,
 * and one more of each worker. A worker waits for one message at a time, and needs none.
 */
#include <string.h>

#include "taskapp.h"

enum { UNITS_MOST = 100000 };

struct master {
    uint64_t given, order; /* a hash of who asked, in the order of asking */
};

struct worker {
    uint64_t work, waits, units, sum;
};

static struct app_option options[] = {{"size", "units of work", 400, 1, UNITS_MOST},
                                      {"workers", "tasks that work", 12, 1, 10000},
                                      {"spin", "steps of arithmetic a unit", 2000, 0, 1000000000},
                                      {0}};
enum { SIZE, WORKERS, SPIN };
static const struct app_spec spec = {"workers", "master and workers by tasks", 1, options};
static struct app app;
static int masters, workers, result;

static void ask(void)
{
    int self = reprise_self().x;

    reprise_send(masters, (struct reprise_index){0, 0, 0}, 0, 0, &self, sizeof self);
}

static void master_asked(void *state, const struct reprise_message *message)
{
    struct master *master = state;
    int who;
    uint64_t unit = 0;

    memcpy(&who, message->data, sizeof who);
    if (master->given < options[SIZE].value) {
        unit = ++master->given;
        app_hash_add(&master->order, (uint64_t)who);
    }
    reprise_send(workers, (struct reprise_index){who, 0, 0}, 1, 0, &unit,
                 sizeof unit); /* 0: no more */
}

static size_t questions(const void *state)
{
    (void)state;
    return options[SIZE].value + options[WORKERS].value;
}

static void worker_start(void *state, const struct reprise_message *message)
{
    (void)message;
    ((struct worker *)state)->waits = 1;
    ask();
}

static bool worker_waits(const void *state, uint64_t ref)
{
    (void)ref;
    return ((const struct worker *)state)->waits;
}

static void worker_work(void *state, const struct reprise_message *message)
{
    struct worker *worker = state;
    uint64_t unit;

    memcpy(&unit, message->data, sizeof unit);
    worker->waits = 0;
    if (unit == 0)
        return;
    worker->sum += app_spin(unit + app.seed, options[SPIN].value);
    worker->units++;
    worker->waits = 1;
    ask();
}

static void worker_end(void *state, const struct reprise_message *message)
{
    struct worker *worker = state;

    (void)message;
    taskapp_contribute(result, 0, &worker->sum, sizeof worker->sum, (double)worker->units);
}

static const struct reprise_entry master_entries[] = {{"asked", REPRISE_ORDER_DEPENDENT,
                                                       master_asked, NULL, questions, NULL},
                                                      {0}};
static const struct reprise_entry worker_entries[] = {
    {"start", REPRISE_ORDERED, worker_start, NULL, NULL, NULL},
    {"work", REPRISE_ORDERED, worker_work, worker_waits, NULL, NULL},
    {"end", REPRISE_ORDERED, worker_end, NULL, NULL, NULL},
    {0}};

int main(int argc, char **argv)
{
    app_start(&app, &spec, &argc, &argv);
    reprise_tasks_begin();
    masters =
        reprise_collection(&(struct reprise_collection_spec){.name = "master",
                                                             .state_bytes = sizeof(struct master),
                                                             .entries = master_entries});
    workers = reprise_collection(
        &(struct reprise_collection_spec){.name = "worker",
                                          .size = {(int)options[WORKERS].value, 0, 0},
                                          .state_bytes = sizeof(struct worker),
                                          .entries = worker_entries});
    result = reprise_reduction(workers, TASKAPP_WIDTH, REPRISE_SUM, -1);
    reprise_start(workers, 0, 0, NULL, 0);
    reprise_tasks_run();
    reprise_start(workers, 2, 0, NULL, 0);
    reprise_tasks_run();
    double found[TASKAPP_WIDTH];
    if (reprise_is_first() && reprise_result(result, NULL, found))
        app_verify(&app, found[2] == (double)options[SIZE].value, "%g units were done, not %g",
                   found[2], (double)options[SIZE].value);
    return taskapp_result(&app, result, NULL, "units");
}
