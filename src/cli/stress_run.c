/* SPDX-License-Identifier: MIT */
#include "cli/stress_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "cli/options.h"
#include "log/replaystate.h"
#include "reprise.h"

static volatile sig_atomic_t told_to_end;

static void note_signal(int signal)
{
    told_to_end = signal;
}

static void redirect(const char *directory, const char *suffix, int to)
{
    char *path = NULL;
    int fd = asprintf(&path, "%s%s", directory, suffix) > 0
                 ? open(path, O_WRONLY | O_CREAT | O_EXCL, RP_PRIVATE_FILE)
                 : -1;

    if (fd < 0) {
        rp_error("cannot record: %s: %s", path ? path : directory, strerror(errno));
        _exit(REPRISE_EXIT_INTERNAL);
    }
    dup2(fd, to);
    close(fd);
    free(path);
}

static char *state_path(const struct rp_stress_run *run)
{
    char *path = NULL;

    return asprintf(&path, "%s.state", run->directory) > 0 ? path : NULL;
}

/* In the child: the command `record`. */
static int record(const struct rp_stress_run *run)
{
    char seed[24], *path = state_path(run);
    int count = 0, words = 0, nothing = open("/dev/null", O_RDONLY);

    while (run->command[words])
        words++;
    char **all = calloc((size_t)words + 6, sizeof *all);
    if (!all || !path)
        return REPRISE_EXIT_INTERNAL;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    setenv("REPRISE_STRESS", seed, 1);
    setenv("REPRISE_STATE", path, 1);
    dup2(nothing, STDIN_FILENO);
    redirect(run->directory, ".out", STDOUT_FILENO);
    redirect(run->directory, ".err", STDERR_FILENO);
    all[count++] = "-o";
    all[count++] = (char *)run->directory;
    if (run->mpi) {
        all[count++] = "--mpi";
        all[count++] = (char *)run->mpi;
    }
    all[count++] = "--";
    memcpy(all + count, run->command, (size_t)words * sizeof *all);
    return rp_command_record.run(&rp_command_record, count + words, all);
}

static time_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Whether it ended before the time was over. */
static bool wait_for(pid_t child, uint64_t seconds, int *status)
{
    struct timespec pause = {0, 5000000};
    time_t end = seconds_now() + (time_t)seconds;

    for (;;) {
        pid_t done = waitpid(child, status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
            return true;
        if (told_to_end || seconds_now() >= end)
            return false;
        nanosleep(&pause, NULL);
    }
}

static void tell_stall(const struct rp_stress_run *run, struct rp_buffer *out)
{
    struct rp_replay_state *state;
    struct rp_problem ignored;
    char *path = state_path(run);

    if (path && rp_state_open(path, &state, &ignored) == RP_OK) {
        rp_state_print_waits(state, out);
        rp_state_unmap(state);
    }
    free(path);
}

/* The child outlives what ends its launcher, also without us, and reports what was recorded. */
static void end(pid_t child, int *status)
{
    kill(child, SIGTERM);
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
}

struct rp_stress_end rp_stress_run(const struct rp_stress_run *run)
{
    struct rp_stress_end result = {.status = REPRISE_EXIT_INTERNAL};
    struct sigaction note = {.sa_handler = note_signal};
    int status = 0;

    sigaction(SIGINT, &note, NULL);
    sigaction(SIGTERM, &note, NULL);
    sigaction(SIGHUP, &note, NULL);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        rp_error("cannot fork: %s", strerror(errno));
        return result;
    }
    if (child == 0)
        _exit(record(run));
    if (!wait_for(child, run->seconds, &status)) {
        result.interrupted = told_to_end;
        result.hung = !told_to_end;
        tell_stall(run, &result.stall);
        end(child, &status);
    }
    result.interrupted |= told_to_end != 0;
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    char *path = state_path(run);
    if (path)
        unlink(path);
    free(path);
    return result;
}
