/* SPDX-License-Identifier: MIT */
/*
 * How the program ends, and how far it has come: until it is out of MPI_Init it cannot be replaced, and the command ends the job if it dies (base/roll.h). To the launcher the death of a process is no failure, even if all die: marks in the directory of the run tell the command whether there was a process with MPI, and whether one came to an end by itself.
 *
 * It may end without MPI_Finalize. By exit, it ends the job, as without us; ULFM would wait for it for ever. By _exit or quick_exit, which is for those who cannot go on, it is as dead as by a signal: that is
 * what the launcher tells the others about, while of a status that is not 0 it says nothing, and never ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/message.h"
#include "base/roll.h"
#include "base/settings.h"
#include "ft/ft.h"

static pid_t rank_process; /* not one that it forked; 0: without MPI */
static struct rp_roll_line *roll;

static void leave_mark(const char *name)
{
    const char *directory = rp_setting("REPRISE_FT_DIR");
    char path[4096];

    if (!directory || rank_process == 0 || getpid() != rank_process)
        return;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
}

__attribute__((constructor)) static void begins(void)
{
    if (!MPI_COMM_WORLD || !getenv("OMPI_COMM_WORLD_RANK"))
        return;
    rank_process = getpid();
    leave_mark("began");
    if (rp_setting("REPRISE_FT_DIR"))
        roll = rp_roll_open(rp_setting("REPRISE_FT_DIR"), (size_t)strtoul(getenv("OMPI_COMM_WORLD_RANK"), NULL, 10));
    if (roll) {
        roll->process = (int32_t)rank_process;
        roll->left = 0;
        roll->state = RP_ROLL_BEGAN;
    }
}

__attribute__((destructor)) static void ends(void)
{
    leave_mark("ended");
    if (roll && getpid() == rank_process)
        roll->left = 1;
}

void rp_ft_roll(enum rp_roll_state state)
{
    if (roll && getpid() == rank_process)
        roll->state = (int32_t)state;
}

static void exits(int status, void *unused)
{
    (void)unused;
    if (rp_ft.on && getpid() == rank_process)
        rp_ft_die(status, "the program ended without MPI_Finalize, with status %d: so the job does", status);
}

static void count_as_dead(const char *by)
{
    if (!rp_ft.on || getpid() != rank_process)
        return;
    rp_note("the program ended by %s, without MPI_Finalize: that counts as a death", by);
    kill(rank_process, SIGKILL);
}

static void exits_quickly(void)
{
    count_as_dead("quick_exit");
}

void rp_ft_exit_start(void)
{
    on_exit(exits, NULL);
    at_quick_exit(exits_quickly);
}

__attribute__((visibility("default"))) void _exit(int status)
{
    count_as_dead("_exit");
    ends();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}
