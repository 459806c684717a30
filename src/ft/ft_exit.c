/* SPDX-License-Identifier: MIT */
/*
 * The program ends without MPI_Finalize. By exit, it ends the job, as without us; ULFM would wait for it for ever. By _exit or quick_exit, which is for those who cannot go on, it is as dead as by a signal: that is
 * what the launcher tells the others about, while of a status that is not 0 it says nothing, and never ends.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/message.h"
#include "ft/ft.h"

static pid_t rank_process; /* not one that it forked */

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
    rank_process = getpid();
    on_exit(exits, NULL);
    at_quick_exit(exits_quickly);
}

__attribute__((visibility("default"))) void _exit(int status)
{
    count_as_dead("_exit");
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}
