/* SPDX-License-Identifier: MIT */
#include "interpose/debugger.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/job_names.h"
#include "job/settings.h"
#include "preload/constants.h"

bool rp_debugger_is_here(void)
{
    char line[256];
    int tracer = 0;
    FILE *status = fopen("/proc/self/status", "re");

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    return tracer != 0;
}

bool rp_debugger_wants(const char *list, int rank)
{
    for (const char *at = list; at && *at; at += strspn(at, ",")) {
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (rank >= first && rank <= last)
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

static bool is_command(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (const char *at = path; at && *at; at += strspn(at, ":")) {
        int length = (int)strcspn(at, ":");
        if (snprintf(file, sizeof file, "%.*s/%s", length, at, name) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

/* Starts a command. The debugger itself must not be debugged, nor count as a rank. */
static void start(char **words)
{
    if (fork() != 0)
        return;
    unsetenv("LD_PRELOAD");
    execvp(words[0], words);
    _exit(127);
}

static void start_gdb(int rank)
{
    char pid[16], window[32], session[PATH_MAX + 64];
    int self = (int)getpid();
    const char *set = rp_setting("REPRISE_GDB_SCRIPT"), *script = set ? set : "/dev/null";

    snprintf(pid, sizeof pid, "%d", self);
    snprintf(window, sizeof window, "rank %d", rank);
    snprintf(session, sizeof session, "gdb -x '%s' -p %d", script, self);
    if (getenv("TMUX") && is_command("tmux")) {
        start((char *[]){"tmux", "new-window", "-d", "-n", window, session, NULL});
        rp_note("gdb of rank %d is in the window '%s' of tmux", rank, window);
    } else if (getenv("STY") && is_command("screen")) {
        start((char *[]){"screen", "-t", window, "gdb", "-x", (char *)script, "-p", pid, NULL});
        rp_note("gdb of rank %d is in the window '%s' of screen", rank, window);
    } else if (is_command("gdbserver")) {
        char host[256] = "localhost";
        gethostname(host, sizeof host - 1);
        rp_note("rank %d waits for gdb: 'reprise gdb -ex \"target remote %s:PORT\"' with the port "
                "that gdbserver says next",
                rank, host);
        start((char *[]){"gdbserver", "--once", "--attach", ":0", pid, NULL});
    } else {
        rp_note("rank %d waits: 'reprise gdb -p %d' takes over", rank, self);
    }
}

void rp_debugger_open(int rank)
{
    static bool done;
    struct timespec pause = {0, 20000000};

    if (done || *rp_job_own() || !rp_debugger_wants(rp_setting("REPRISE_GDB"), rank))
        return;
    done = true;
    rp_diagnostics_process("rank", rank);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    start_gdb(rank);
    while (!rp_debugger_is_here())
        nanosleep(&pause, NULL);
}

/* Runs before main, only in the program itself: a shell or a launcher in between has no MPI
 * library. */
__attribute__((constructor)) static void open_before_main(void)
{
    const char *mode = rp_setting("REPRISE_MODE");
    int rank;

    if (mode && strcmp(mode, "replay") == 0 && rp_setting("REPRISE_GDB") &&
        rp_library_symbol("PMPI_Init") && rp_launched_rank(&rank))
        rp_debugger_open(rank);
}
