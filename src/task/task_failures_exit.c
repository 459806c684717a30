/* SPDX-License-Identifier: MIT */
/*
 * How a process of a fault-tolerant job begins and ends. Before MPI_Init it sets what Open MPI
 * needs to survive failures, for jobs that were started by hand: with the usual MPI_Finalize, which
 * waits for all, survivors would wait for the dead.
 *
 * To a launcher that was report of ULFM the end of a process is no failure. So each leaves its
 * state and its status for the command that started the job (job/job_progress.h,
 * job/task_progress.h). Who exits in the middle of the run, without MPI_Finalize, ends the job:
 * nobody would be report, and the others would wait for it.
 */
#include "task/task_failures_exit.h"

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/job_progress.h"
#include "job/settings.h"
#include "task/task_watch.h"

static struct {
    pid_t process; /* not one that it forked; 0: this is no fault-tolerant job */
    struct rp_process_progress *progress;
    size_t number; /* of the process in the job */
    void (*stop)(int status);
} rank;

/* A connection to a process that died is no reason to die as well. */
static void survive_broken_pipes(void)
{
    struct sigaction action;

    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

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
    if (getpid() != rank.process)
        return;
    rp_task_watch_left(status);
    if (rank.progress)
        rank.progress->left = RP_PROCESS_LEFT;
    if (!rank.stop || !is_inside_mpi())
        return;
    rp_error(
        "tasks: the program called exit with status %d before reprise_tasks_end: so the job ends",
        status);
    rank.stop(status);
}

__attribute__((constructor)) static void begins(void)
{
    const char *directory = rp_setting("REPRISE_FT_DIR");

    if (!is_fault_tolerant())
        return;
    rank.process = getpid();
    setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
    setenv("OMPI_MCA_pml", "ob1", 0); /* the only one that learns of failures */
    survive_broken_pipes();
    on_exit(exits, NULL);
    if (!directory)
        return;
    rank.number = (size_t)strtoul(getenv("OMPI_COMM_WORLD_RANK"), NULL, 10);
    rp_task_watch_open(directory, rank.number);
    if (rp_task_watch.own)
        rp_task_watch.own->process = (int32_t)rank.process;
    rp_task_watch_state(RP_TASK_STARTED);
    rank.progress = rp_job_progress_open(directory, rank.number);
    if (!rank.progress)
        return;
    rank.progress->process = (int32_t)rank.process;
    rank.progress->state = RP_PROCESS_ENTERS;
    rp_job_progress_note_term(rank.progress);
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

void rp_failures_exit_arm(void (*stop)(int status))
{
    if (!rank.process)
        return;
    rank.stop = stop;
    rp_task_watch_state(RP_TASK_RUNS);
    while (rank.progress && !rp_job_progress_open_gate(rank.progress, rank.number))
        pause(); /* the command ends the job */
    if (rank.progress)
        rank.progress->state = RP_PROCESS_INSIDE;
    rp_job_progress_let_term();
}

void rp_failures_exit_disarm(void)
{
    rank.stop = NULL;
    rp_task_watch_state(RP_TASK_ENDED);
}
