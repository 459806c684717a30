/* SPDX-License-Identifier: MIT */
/*
 * What the command sees of this process, and how the program ends.
 *
 * Until a process is out of MPI_Init it cannot be replaced: if it dies, the command ends the job,
 * and starts it again if no process was out of it (job/job_progress.h). To the launcher the death
 * of a process is no failure, even if all die. So files in the directory of the run show the
 * command whether there was a process with MPI, and whether one ended by itself.
 *
 * The program may end without MPI_Finalize. If it calls exit, it ends the job, as without this
 * library; ULFM would wait for it for ever. If it calls _exit or quick_exit, which is for programs
 * that cannot go on, it is as dead as by a signal: of that the launcher informs the others, while a
 * status that is not 0 leads to nothing, and the launcher never ends. Behind its last session a
 * program may end so, without MPI_Finalize: the end of MPI comes then.
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
#include "ft/ft_sessions.h"
#include "ft/ft_state.h"
#include "job/settings.h"
#include "preload/unknown_functions.h"
#include "recovery/survivor.h"

static void (*end_mpi)(void);

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
    rp_unknown_functions_refuse(rp_ft_refuse);
    rp_survivor_begin();
    leave_mark("began");
    if (rp_setting("REPRISE_FT_DIR") && !rp_ft_respawn_environment())
        rp_survivor_watch(rp_setting("REPRISE_FT_DIR"), RP_PROCESS_BEGAN);
}

__attribute__((destructor)) static void ends(void)
{
    if (rp_survivor_is_this())
        leave_mark("ended");
    rp_survivor_left();
}

void rp_ft_process_note_iteration(void)
{
    if (!rp_survivor.progress)
        return;
    rp_survivor.progress->rank = rp_ft.rank + 1;
    rp_survivor.progress->iteration = rp_ft.iteration + 1;
}

/* The launcher takes the death of a process that was started later for the end of a program, and
 * its signal for the status of all. The command believes the ranks instead. */
static void leave_status(int status)
{
    char path[4096];

    if (!rp_ft.finished || rp_ft.on || !rp_survivor_is_this() || rp_ft_respawn_limit() == 0 ||
        !rp_setting("REPRISE_FT_DIR"))
        return;
    snprintf(path, sizeof path, "%s/exit-%d", rp_setting("REPRISE_FT_DIR"), rp_ft.rank);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd >= 0) {
        dprintf(fd, "%d\n", status);
        close(fd);
    }
}

static void end_behind_program(void)
{
    if (rp_ft.on && rp_survivor_is_this())
        end_mpi();
}

static void exits(int status, void *unused)
{
    (void)unused;
    end_behind_program();
    leave_status(status);
    if (rp_ft.on && rp_survivor_is_this())
        rp_ft_die(status, "the program ended without %s, with status %d: so the job does",
                  rp_ft_sessions_are_open() ? "MPI_Session_finalize" : "MPI_Finalize", status);
}

static void count_as_dead(const char *by)
{
    end_behind_program();
    if (!rp_ft.on || !rp_survivor_is_this())
        return;
    rp_note("the program ended by %s, without MPI_Finalize: that counts as a death", by);
    kill(rp_survivor.id, SIGKILL);
}

static void exits_quickly(void)
{
    count_as_dead("quick_exit");
}

void rp_ft_process_start(void (*end)(void))
{
    end_mpi = end;
    rp_survivor_ignore_broken_pipes();
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
