/* SPDX-License-Identifier: MIT */
/*
 * Signals to process ids of the record. A replay with captured ids returns to the program the
 * process id that it had in the recording, and in a partial replay a rank knows the recorded ids of
 * other ranks from their messages. Now such a number belongs to no process, or to an unrelated one.
 * So the recorded ids of the rank and of its parent are replaced by the real ones. A signal to any
 * other process is left out, unless it is our parent or our descendant.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "preload/caller.h"
#include "interpose/capture.h"
#include "entry/entry.h"
#include "entry/thread_state.h"

static pid_t self(void)
{
    return (pid_t)syscall(SYS_getpid);
}

static pid_t real_pid(pid_t pid)
{
    if (rp_capture_told_pid && pid == rp_capture_told_pid)
        return self();
    return rp_capture_told_parent && pid == rp_capture_told_parent ? (pid_t)syscall(SYS_getppid)
                                                                   : pid;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512] = "";
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_related(pid_t pid)
{
    if (pid == (pid_t)syscall(SYS_getppid))
        return true;
    for (; pid > 1; pid = parent_of(pid))
        if (pid == self())
            return true;
    return false;
}

/* Returns whether the signal is to be sent; may change *pid to the real id. *pid is as in the real
 * functions. Signal 0 only asks, and harms nobody. */
static bool is_meant(pid_t *pid, int signal, uintptr_t caller)
{
    if (!rp_capture_has_old_pids() || rp_is_inside() || !rp_caller_is_program(caller))
        return true;
    *pid = *pid < -1 ? -real_pid(-*pid) : real_pid(*pid);
    if (signal == 0 || *pid == 0 || *pid == -1 || is_related(*pid < 0 ? -*pid : *pid))
        return true;
    rp_note("signal %d to process %d is left out: that is a number of the record", signal,
            (int)*pid);
    return false;
}

/* The signals are sent by system calls: programs send signals in handlers, where the real functions
 * cannot be looked up. */

RP_ENTRY int kill(pid_t pid, int signal)
{
    return is_meant(&pid, signal, RP_CALLER) ? (int)syscall(SYS_kill, pid, signal) : 0;
}

RP_ENTRY int killpg(pid_t group, int signal)
{
    pid_t pid = -group;

    if (group < 0) {
        errno = EINVAL;
        return -1;
    }
    return is_meant(&pid, signal, RP_CALLER) ? (int)syscall(SYS_kill, pid, signal) : 0;
}

RP_ENTRY int sigqueue(pid_t pid, int signal, const union sigval value)
{
    siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};

    info.si_pid = self();
    info.si_uid = getuid();
    info.si_value = value;
    return is_meant(&pid, signal, RP_CALLER) ? (int)syscall(SYS_rt_sigqueueinfo, pid, signal, &info)
                                             : 0;
}

RP_ENTRY int tgkill(pid_t pid, pid_t thread, int signal)
{
    return is_meant(&pid, signal, RP_CALLER) ? (int)syscall(SYS_tgkill, pid, thread, signal) : 0;
}
