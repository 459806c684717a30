/* SPDX-License-Identifier: MIT */
/*
 * How a process of a fault-tolerant job begins and ends. Before MPI_Init it sets what Open MPI
 * needs to survive failures, for jobs that were started by hand: with the usual MPI_Finalize, which
 * waits for all, survivors would wait for the dead.
 *
 * To a launcher that knows of ULFM the end of a process is no failure. So each leaves its
 * state and its status for the command that started the job (job/job_progress.h,
 * job/task_progress.h). Who exits in the middle of the run, without MPI_Finalize, ends the job:
 * nobody would learn of it, and the others would wait for it.
 */
#include "task/task_failures_exit.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "recovery/survivor.h"
#include "task/task_watch.h"

static void (*stop)(int status); /* NULL: the program may exit */

static bool is_fault_tolerant(void)
{
    const char *mode = rp_setting("REPRISE_TASKS");

    return mode && getenv("OMPI_COMM_WORLD_RANK") && rp_list_has("partial,full,restart", mode);
}

static bool is_inside_mpi(void)
{
    int began = 0, ended = 0;

    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    return began && !ended;
}

static void exits(int status, void *unused)
{
    (void)unused;
    if (!rp_survivor_is_this())
        return;
    rp_task_watch_left(status);
    rp_survivor_left();
    if (!stop || !is_inside_mpi())
        return;
    rp_error(
        "tasks: the program called exit with status %d before reprise_tasks_end: so the job ends",
        status);
    stop(status);
}

__attribute__((constructor)) static void begins(void)
{
    const char *directory = rp_setting("REPRISE_FT_DIR");

    if (!is_fault_tolerant())
        return;
    rp_survivor_begin();
    setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
    setenv("OMPI_MCA_pml", "ob1", 0); /* the only one that learns of failures */
    rp_survivor_ignore_broken_pipes();
    on_exit(exits, NULL);
    if (!directory)
        return;
    rp_task_watch_open(directory, rp_survivor.number);
    if (rp_task_watch.own)
        rp_task_watch.own->process = (int32_t)rp_survivor.id;
    rp_task_watch_state(RP_TASK_STARTED);
    rp_survivor_watch(directory, RP_PROCESS_ENTERS);
}

/* In front of the one of MPI, or of whoever stands before that, so that the command knows who waits
 * in there. Weak: a program may have one of its own. */
__attribute__((weak)) int MPI_Finalize(void)
{
    int (*next)(void);

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
    rp_task_watch_state(RP_TASK_FINALIZES);
    int result = next ? next() : PMPI_Finalize();
    rp_task_watch_state(RP_TASK_FINALIZED);
    return result;
}

void rp_failures_exit_arm(void (*stop_job)(int status))
{
    if (!rp_survivor.id)
        return;
    stop = stop_job;
    rp_task_watch_state(RP_TASK_RUNS);
    rp_survivor_leave_init();
}

void rp_failures_exit_disarm(void)
{
    stop = NULL;
    rp_task_watch_state(RP_TASK_ENDED);
}
