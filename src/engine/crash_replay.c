/* SPDX-License-Identifier: MIT */
#include "engine/crash_replay.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/caller.h"
#include "base/visibility.h"
#include "entry/engine.h"
#include "entry/thread_state.h"

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction usual[NSIG];
static void (*waits)(bool is_crash);
static void (*real_exit)(int);
static pid_t owner; /* a forked child has our handlers, but is not the rank */

static pid_t own_pid(void)
{
    return (pid_t)syscall(SYS_getpid); /* getpid() may be fed from the record */
}

static void crashed(int signal)
{
    sigaction(signal, &usual[signal], NULL);
    if (own_pid() == owner)
        waits(true);
    raise(signal);
}

__attribute__((noreturn)) static void leave(int status, uintptr_t caller)
{
    if (waits && rp_engine && own_pid() == owner && !rp_is_inside() &&
        rp_caller_is_program(caller)) {
        rp_thread_state.depth++;
        waits(false);
    }
    if (real_exit)
        real_exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

RP_ENTRY void _exit(int status)
{
    leave(status, RP_CALLER);
}

RP_ENTRY void _Exit(int status)
{
    leave(status, RP_CALLER);
}

/* Open MPI and UCX print a stack on a crash. */
static bool is_of_mpi(const struct sigaction *action)
{
    static const char *const libraries[] = {"/libopen-pal", "/libopen_", "/libmpi", "/libucs"};
    Dl_info info;

    if (!dladdr((void *)action->sa_handler, &info) || !info.dli_fname)
        return false;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(info.dli_fname, libraries[i]))
            return true;
    return false;
}

void rp_crash_replay_handle(void (*wait)(bool is_crash))
{
    struct sigaction first = {.sa_handler = crashed, .sa_flags = SA_NODEFER};

    waits = wait;
    owner = own_pid();
    *(void **)&real_exit = rp_caller_real("_exit");
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction *now = &usual[crashes[i]];
        if (sigaction(crashes[i], NULL, now) == 0 && (now->sa_handler == SIG_DFL || is_of_mpi(now)))
            sigaction(crashes[i], &first, NULL);
    }
}
