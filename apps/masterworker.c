/* SPDX-License-Identifier: MIT */
/*
 * Master and workers: rank 0 hands out tasks, first come, first served.
 *
 * A worker says that it is ready, then receives tasks from rank 0 by name and sends each result
 * back, the tag telling the task's kind. The master receives with ANY_SOURCE and ANY_TAG and
 * answers each message with the next task, or with a stop once all tasks are given out. Who
 * computes which task, and in what order results come in, is a race; the master's hash records it.
 * The value of a task depends on its number only, so the sum of all values is known beforehand.
 * Tasks differ in length: most are short, one in sixteen is several times as long.
 */
#include "app.h"

#include <inttypes.h>
#include <mpi.h>

enum { MASTER = 0, TASK_KINDS = 4 };
enum { TAG_TASK = 1, TAG_STOP = 2, TAG_READY = 3, TAG_RESULT = 4 }; /* TAG_RESULT + kind */
enum { OPTION_SIZE, OPTION_WORK, OPTION_SKEW };

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "tasks in all", 200000, 1, UINT64_C(1) << 40},
    [OPTION_WORK] = {"work", "arithmetic steps of a short task, 1 to 2 ns each", 2000, 0,
                     UINT64_C(1) << 32},
    [OPTION_SKEW] = {"skew", "one task in sixteen is so many times as long", 8, 1, 1 << 20},
    {0},
};

static const struct app_spec spec = {"masterworker",
                                     "Rank 0 hands out tasks to whoever asks first.", 2, options};

struct result {
    uint64_t task;
    uint64_t value;
};

struct master {
    uint64_t tasks_given;
    uint64_t results_in;
    uint64_t sum;
    int workers_left;
};

static uint64_t task_start(const struct app *app, uint64_t task)
{
    return app_mix(app->seed ^ app_mix(task));
}

static uint64_t task_steps(const struct app *app, uint64_t task)
{
    struct app_random random = app_random_from(app->seed, task, 0);
    uint64_t steps = options[OPTION_WORK].value;
    steps += app_random_below(&random, steps + 1);
    return app_random_below(&random, 16) == 0 ? options[OPTION_SKEW].value * steps : steps;
}

static uint64_t expected_sum(const struct app *app)
{
    uint64_t sum = 0;
    for (uint64_t task = 0; task < options[OPTION_SIZE].value; task++)
        sum += app_spin_expected(task_start(app, task), task_steps(app, task));
    return sum;
}

static void take_result(struct app *app, struct master *master, const struct result *result,
                        const MPI_Status *status)
{
    app_hash_add(&app->hash, (uint64_t)status->MPI_SOURCE);
    app_hash_add(&app->hash, (uint64_t)status->MPI_TAG);
    if (status->MPI_TAG == TAG_READY)
        return;
    app_hash_add(&app->hash, result->value);
    app_verify(app, status->MPI_TAG == (int)(TAG_RESULT + result->task % TASK_KINDS),
               "task %" PRIu64 " came back with tag %d", result->task, status->MPI_TAG);
    master->sum += result->value;
    master->results_in++;
}

static void give_task(struct master *master, int worker)
{
    bool stop = master->tasks_given == options[OPTION_SIZE].value;
    MPI_Send(&master->tasks_given, 1, MPI_UINT64_T, worker, stop ? TAG_STOP : TAG_TASK,
             MPI_COMM_WORLD);
    if (stop)
        master->workers_left--;
    else
        master->tasks_given++;
}

static void run_master(struct app *app)
{
    struct master master = {.workers_left = app->ranks - 1};
    while (master.workers_left > 0) {
        struct result result;
        MPI_Status status;
        MPI_Recv(&result, 2, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        take_result(app, &master, &result, &status);
        give_task(&master, status.MPI_SOURCE);
    }
    app_verify(app, master.results_in == options[OPTION_SIZE].value,
               "%" PRIu64 " results of %" PRIu64 " tasks", master.results_in,
               options[OPTION_SIZE].value);
    app_verify(app, master.sum == expected_sum(app), "the sum of the results is wrong");
}

/* Returns false when the master says stop. */
static bool work_on_task(const struct app *app)
{
    uint64_t task;
    MPI_Status status;
    MPI_Recv(&task, 1, MPI_UINT64_T, MASTER, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == TAG_STOP)
        return false;
    struct result result = {task, app_spin(task_start(app, task), task_steps(app, task))};
    MPI_Send(&result, 2, MPI_UINT64_T, MASTER, (int)(TAG_RESULT + task % TASK_KINDS),
             MPI_COMM_WORLD);
    return true;
}

static uint64_t run_worker(const struct app *app)
{
    uint64_t tasks_done = 0;
    MPI_Send(NULL, 0, MPI_UINT64_T, MASTER, TAG_READY, MPI_COMM_WORLD);
    while (work_on_task(app))
        tasks_done++;
    return tasks_done;
}

int main(int argc, char **argv)
{
    struct app app;
    uint64_t tasks_done = 0;
    app_start(&app, &spec, &argc, &argv);
    if (app.rank == MASTER)
        run_master(&app);
    else
        app_hash_add(&app.hash, tasks_done = run_worker(&app));
    app_verify(&app, app_sum(tasks_done) == options[OPTION_SIZE].value,
               "the workers did not do every task once");
    return app_result(&app, "tasks=%" PRIu64, options[OPTION_SIZE].value);
}
