/* SPDX-License-Identifier: MIT */
/*
 * How the program ends, and how far it has come: until it is out of MPI_Init it cannot be replaced,
 * and the command ends the job if it dies, and starts it again if nobody was out of it
 * (job/job_progress.h). To the launcher the death of a process is no failure, even if all die:
 * marks in the directory of the run tell the command whether there was a process with MPI, and
 * whether one came to an end by itself.
 *
 * It may end without MPI_Finalize. By exit, it ends the job, as without us; ULFM would wait for it
 * for ever. By _exit or quick_exit, which is for those who cannot go on, it is as dead as by a
 * signal: that is what the launcher tells the others about, while of a status that is not 0 it says
 * nothing, and never ends.
 */
#include "ft/ft_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/file.h"
#include "ft/ft_abort.h"
#include "ft/ft_respawn.h"
#include "ft/ft_state.h"
#include "job/settings.h"

static struct {
    pid_t id;                             /* not of one that it forked; 0: without MPI */
    struct rp_process_progress *progress; /* what the command sees; NULL: it does not watch */
    size_t number;                        /* of that in the job's progress */
} process;

static void leave_mark(const char *name)
{
    const char *directory = rp_setting("REPRISE_FT_DIR");
    char path[4096];

    if (!directory)
        return;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd >= 0)
        close(fd);
}

__attribute__((constructor)) static void begins(void)
{
    if (!getenv("OMPI_COMM_WORLD_RANK"))
        return;
    leave_mark("started"); /* something runs, such as a shell */
    if (!MPI_COMM_WORLD)
        return;
    process.id = getpid();
    leave_mark("began");
    process.number = (size_t)strtoul(getenv("OMPI_COMM_WORLD_RANK"), NULL, 10);
    if (rp_setting("REPRISE_FT_DIR") && !rp_ft_respawn_environment())
        process.progress = rp_job_progress_open(rp_setting("REPRISE_FT_DIR"), process.number);
    if (process.progress) {
        process.progress->process = (int32_t)process.id;
        process.progress->left = RP_PROCESS_NO_WORD;
        process.progress->state = RP_PROCESS_BEGAN;
        rp_job_progress_note_term(process.progress);
    }
}

__attribute__((destructor)) static void ends(void)
{
    if (process.id != 0 && getpid() == process.id)
        leave_mark("ended");
    if (process.progress && getpid() == process.id)
        process.progress->left = RP_PROCESS_LEFT;
}

void rp_ft_process_note_state(enum rp_process_state state)
{
    if (process.progress && getpid() == process.id)
        process.progress->state = (int32_t)state;
    if (state == RP_PROCESS_INSIDE)
        rp_job_progress_let_term();
}

void rp_ft_process_note_iteration(void)
{
    if (!process.progress)
        return;
    process.progress->rank = rp_ft.rank + 1;
    process.progress->iteration = rp_ft.iteration + 1;
}

bool rp_ft_process_is_watched(void)
{
    return process.progress != NULL;
}

/* Who finds the gate closed waits for the command, which ends the job. */
void rp_ft_process_leave_init(void)
{
    while (process.progress && !rp_job_progress_open_gate(process.progress, process.number))
        pause();
    rp_ft_process_note_state(RP_PROCESS_INSIDE);
}

/* The launcher takes the death of a process that was started later for the end of a program, and
 * its signal for the status of all. The command believes the ranks instead. */
static void leave_status(int status)
{
    char path[4096];

    if (!rp_ft.finished || rp_ft.on || getpid() != process.id || rp_ft_respawn_limit() == 0 ||
        !rp_setting("REPRISE_FT_DIR"))
        return;
    snprintf(path, sizeof path, "%s/exit-%d", rp_setting("REPRISE_FT_DIR"), rp_ft.rank);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd >= 0) {
        dprintf(fd, "%d\n", status);
        close(fd);
    }
}

static void exits(int status, void *unused)
{
    (void)unused;
    leave_status(status);
    if (rp_ft.on && getpid() == process.id)
        rp_ft_die(status, "the program ended without MPI_Finalize, with status %d: so the job does",
                  status);
}

static void count_as_dead(const char *by)
{
    if (!rp_ft.on || getpid() != process.id)
        return;
    rp_note("the program ended by %s, without MPI_Finalize: that counts as a death", by);
    kill(process.id, SIGKILL);
}

static void exits_quickly(void)
{
    count_as_dead("quick_exit");
}

/* A connection to a process that died is no reason to die as well; Open MPI leaves that to the
 * signal's handler. */
static void survive_broken_pipes(void)
{
    struct sigaction action;

    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

void rp_ft_process_start(void)
{
    survive_broken_pipes();
    on_exit(exits, NULL);
    at_quick_exit(exits_quickly);
}

__attribute__((visibility("default"))) void _exit(int status)
{
    count_as_dead("_exit");
    leave_status(status);
    ends();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}
