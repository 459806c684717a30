/* SPDX-License-Identifier: MIT */
/*
 * Failures by ULFM (Open MPI 5), whose functions are looked up when the program runs; without them
 * nobody learns of failures, and MPI ends the job.
 *
 * The communicator of the tasks stays in use, so that no message between living processes is lost.
 * A process that finds more dead ones in it than it knows of calls agree with 0, then shrink. Who
 * is not in the new communicator is dead; that is the same for all, and the communicator is freed.
 * A process at the end of its program calls agree with 1. If all do, that is the end; if one has
 * called with 0, all go on to shrink. In the end they agree once more on whether one of them knows
 * of a failure that happened since.
 */
#include "task/task_failures.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "recovery/ulfm.h"
#include "task/task_recovery.h"
#include "task/task_stall.h"
#include "task/task_watch.h"
#include "task/tasks.h"

static void *symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

MPI_Comm rp_failures_begin(bool wanted)
{
    MPI_Comm comm = MPI_COMM_NULL;
    bool survives = wanted && rp_ulfm_find(symbol);

    if (survives)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    /* Whatever the program wants for its own: a parcel that is lost would be waited for. */
    MPI_Comm_set_errhandler(comm, survives ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
    return comm;
}

static int count_failed(MPI_Comm comm)
{
    MPI_Group failed;
    int count = 0;

    if (rp_ulfm.get_failed(comm, &failed) != MPI_SUCCESS)
        return 0;
    MPI_Group_size(failed, &count);
    MPI_Group_free(&failed);
    return count;
}

/* An agreement of all the living. Returns false if there is none. */
static bool shrink(struct rp_tasks *tasks, MPI_Comm comm, MPI_Comm *living)
{
    enum { TRIES = 1000 };
    int result = MPI_SUCCESS;

    rp_task_watch_waits("all others to call MPIX_Comm_shrink, since a process died");
    for (int i = 0; i < TRIES; i++) {
        result = rp_ulfm.shrink(comm, living);
        if (result == MPI_SUCCESS)
            break;
    }
    rp_task_watch_did();
    if (result != MPI_SUCCESS)
        rp_tasks_fail(tasks,
                      "a process has died, but MPIX_Comm_shrink fails (error %d, %d times): who is "
                      "left cannot be found out",
                      result, TRIES);
    return result == MPI_SUCCESS;
}

/* Tells the runtime who is not in the shrunk communicator. `is_over`: nothing is left to be done
 * again. */
static void learn(struct rp_tasks *tasks, MPI_Comm comm, bool is_over)
{
    MPI_Comm living;
    MPI_Group all, rest;

    if (!shrink(tasks, comm, &living))
        return;
    MPI_Comm_group(comm, &all);
    MPI_Comm_group(living, &rest);
    for (int i = 0; i < tasks->processes; i++) {
        int at;
        MPI_Group_translate_ranks(all, 1, &i, rest, &at);
        if (at != MPI_UNDEFINED || tasks->dead[i])
            continue;
        rp_note("tasks: process %d has died", i);
        rp_task_watch_learnt(i);
        if (is_over) {
            tasks->dead[i] = true;
            tasks->dead_count++;
        } else
            rp_task_recovery_begin(tasks, i);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&rest);
    MPI_Comm_free(&living);
}

/* Whether all living processes say yes. */
static bool agree(MPI_Comm comm, bool yes, const char *why)
{
    int flag = yes;

    rp_task_watch_waits(why);
    rp_ulfm.agree(comm, &flag);
    rp_task_watch_did();
    return flag != 0;
}

void rp_failures_look(struct rp_tasks *tasks, MPI_Comm comm)
{
    if (!rp_ulfm.get_failed || count_failed(comm) <= tasks->dead_count)
        return;
    agree(comm, false, "all others to call MPIX_Comm_agree, since a process died");
    learn(tasks, comm, false);
}

static void recover(struct rp_tasks *tasks, MPI_Comm comm)
{
    while ((tasks->recovering || tasks->missing > 0) && !tasks->has_failed) {
        if (!rp_tasks_step(tasks)) {
            rp_task_stall_idle(tasks);
            sched_yield();
        }
        rp_failures_look(tasks, comm);
    }
    rp_task_watch_did();
}

void rp_failures_end(struct rp_tasks *tasks, MPI_Comm comm)
{
    if (!rp_ulfm.get_failed) {
        MPI_Comm_free(&comm);
        return;
    }
    while (!agree(comm, true, "all others to come to the end of reprise_tasks_end")) {
        learn(tasks, comm, false);
        recover(tasks, comm);
    }
    /* Who died in the meantime: the first of the living is to be the same for all. */
    if (!agree(comm, count_failed(comm) <= tasks->dead_count,
               "all others to tell who is dead, at the end of reprise_tasks_end"))
        learn(tasks, comm, true);
    if (tasks->dead_count == 0)
        MPI_Comm_free(&comm);
}

/* REPRISE_TASKS_KILL=PROCESS@MESSAGES,PROCESS@move,...: for tests. */
void rp_failures_inject(const struct rp_tasks *tasks)
{
    const char *at = rp_setting("REPRISE_TASKS_KILL");

    for (int used = 0; at && *at; at += used + (at[used] == ',')) {
        int process, moving = 0;
        unsigned long long messages = 0;
        used = 0;
        if (sscanf(at, "%d@move%n", &process, &moving) == 1 && moving > 0)
            used = moving;
        else if (sscanf(at, "%d@%llu%n", &process, &messages, &used) != 2)
            return;
        if (process == tasks->self && (moving > 0 ? tasks->phase_kind == RP_PHASE_MOVE
                                                  : tasks->counts[RP_COUNT_MESSAGES] >= messages))
            raise(SIGKILL);
    }
}
