/* SPDX-License-Identifier: MIT */
/*
 * Failures by ULFM (Open MPI 5), whose functions are looked up when the program runs; without them nobody learns of failures, and MPI ends the job.
 *
 * The communicator of the tasks stays in use, so that no message between the living is lost. Who finds that it has more dead processes than are known calls agree with 0, then shrink: the new communicator tells all who is dead, the same to
 * all, and is thrown away. Who is at the end of its program calls agree with 1: if all do, that is the end; if somebody has called with 0, everybody goes on to shrink.
 */
#include "task/task_failures.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include "base/message.h"
#include "base/settings.h"

static int (*get_failed)(MPI_Comm, MPI_Group *);
static int (*comm_shrink)(MPI_Comm, MPI_Comm *);
static int (*comm_agree)(MPI_Comm, int *);

static void find(const char *name, void *function)
{
    *(void **)function = dlsym(RTLD_DEFAULT, name);
}

MPI_Comm rp_failures_begin(bool wanted)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL); /* whatever the program wants for its own: a parcel that is lost would be waited for */
    if (!wanted)
        return comm;
    find("MPIX_Comm_get_failed", &get_failed);
    find("MPIX_Comm_shrink", &comm_shrink);
    find("MPIX_Comm_agree", &comm_agree);
    if (!get_failed || !comm_shrink || !comm_agree) {
        get_failed = NULL;
        return comm;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static int count_failed(MPI_Comm comm)
{
    MPI_Group failed;
    int count = 0;

    if (get_failed(comm, &failed) != MPI_SUCCESS)
        return 0;
    MPI_Group_size(failed, &count);
    MPI_Group_free(&failed);
    return count;
}

/* Tells the runtime who is not in the shrunk communicator. */
static void learn(struct rp_tasks *tasks, MPI_Comm comm)
{
    MPI_Comm living;
    MPI_Group all, rest;

    while (comm_shrink(comm, &living) != MPI_SUCCESS)
        ;
    MPI_Comm_group(comm, &all);
    MPI_Comm_group(living, &rest);
    for (int i = 0; i < tasks->processes; i++) {
        int at;
        MPI_Group_translate_ranks(all, 1, &i, rest, &at);
        if (at == MPI_UNDEFINED && !tasks->dead[i]) {
            rp_note("tasks: process %d has died", i);
            rp_tasks_ft_failed(tasks, i);
        }
    }
    MPI_Group_free(&all);
    MPI_Group_free(&rest);
    MPI_Comm_free(&living);
}

void rp_failures_look(struct rp_tasks *tasks, MPI_Comm comm)
{
    int flag = 0;

    if (!get_failed || count_failed(comm) <= tasks->dead_count)
        return;
    comm_agree(comm, &flag);
    learn(tasks, comm);
}

void rp_failures_end(struct rp_tasks *tasks, MPI_Comm comm)
{
    int flag;

    if (!get_failed) {
        MPI_Comm_free(&comm);
        return;
    }
    while (flag = 1, comm_agree(comm, &flag), flag == 0) {
        learn(tasks, comm);
        while ((tasks->recovering || tasks->wanted > 0) && !tasks->is_lost) {
            if (!rp_tasks_step(tasks))
                sched_yield();
            rp_failures_look(tasks, comm);
        }
    }
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
        if (process == tasks->self && (moving > 0 ? tasks->kind == RP_STAGE_MOVE : tasks->counts[RP_COUNT_MESSAGES] >= messages))
            raise(SIGKILL);
    }
}
