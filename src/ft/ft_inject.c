/* SPDX-License-Identifier: MIT */
/*
 * Faults on purpose: REPRISE_FT_KILL is a list RANK@ITERATION[:CALL], RANK@setup:CALL,
 * RANK@recovery:STEP or RANK@init:MICROSECONDS, with commas. The process that has the rank kills
 * itself at the CALL-th MPI call of the iteration (0: its beginning) or, if it has not so many, at
 * the beginning of the next; or at a step of a recovery; or so long after it entered MPI_Init, but
 * before it leaves it. Each happens once: the process leaves a file, which the next process of the
 * rank finds.
 */
#include "ft/ft_inject.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "ft/ft_abort.h"
#include "ft/ft_events.h"
#include "ft/ft_state.h"
#include "job/settings.h"
#include "reprise.h"

enum { MOST = 64, SETUP = -1, RECOVERY = -2, INIT = -3 };

struct fault {
    int rank;
    long iteration, call;
};

static struct {
    struct fault list[MOST];
    int count;
    int in_init; /* the number of the fault by which this process dies there, or -1 */
} faults = {.in_init = -1};

static void bad(const char *text)
{
    rp_ft_give_up(REPRISE_EXIT_USAGE,
                  "--kill %s: RANK@ITERATION[:CALL], RANK@setup:CALL, "
                  "RANK@recovery:STEP or RANK@init:MICROSECONDS is expected, with commas between "
                  "several",
                  text);
}

static void parse(const char *text, int ranks)
{
    char *copy = strdup(text), *rest = NULL;

    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        struct fault fault = {0};
        char *at = strchr(word, '@'), *end;
        if (!at || faults.count == MOST)
            bad(text);
        fault.rank = (int)strtol(word, &end, 10);
        if (end != at)
            bad(text);
        at++;
        if (strncmp(at, "setup", 5) == 0) {
            fault.iteration = SETUP;
            end = at + 5;
        } else if (strncmp(at, "recovery", 8) == 0) {
            fault.iteration = RECOVERY;
            end = at + 8;
        } else if (strncmp(at, "init", 4) == 0) {
            fault.iteration = INIT;
            end = at + 4;
        } else {
            fault.iteration = strtol(at, &end, 10);
        }
        if (end == at || (*end && *end != ':'))
            bad(text);
        if (*end == ':')
            fault.call = strtol(end + 1, &end, 10);
        if (*end || fault.rank < 0 || fault.rank >= ranks)
            bad(text);
        faults.list[faults.count++] = fault;
    }
    free(copy);
}

void rp_ft_inject_start(void)
{
    const char *text = rp_setting("REPRISE_FT_KILL");

    if (text)
        parse(text,
              (int)strtol(rp_setting("REPRISE_FT_RANKS") ? rp_setting("REPRISE_FT_RANKS") : "0",
                          NULL, 10));
    rp_ft.has_work |= faults.count > 0;
}

static bool is_first_time(int which)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/kill-%d", rp_setting("REPRISE_FT_DIR"), which);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void die_once(int which)
{
    if (!is_first_time(which))
        return;
    rp_ft_event("killed", "\"iteration\": %ld, \"call\": %ld, \"iterations\": %ld", rp_ft.iteration,
                rp_ft.calls, rp_ft.iterations);
    raise(SIGKILL);
}

bool rp_ft_inject_call(void)
{
    for (int i = 0; i < faults.count; i++) {
        const struct fault *fault = &faults.list[i];
        bool is_time = fault->iteration < rp_ft.iteration ||
                       (fault->iteration == rp_ft.iteration && fault->call <= rp_ft.calls);
        if (fault->rank == rp_ft.rank && fault->iteration > RECOVERY && is_time && rp_ft.on)
            die_once(i);
    }
    return faults.count > 0;
}

void rp_ft_inject_recovery(int step)
{
    for (int i = 0; i < faults.count; i++)
        if (faults.list[i].rank == rp_ft.rank && faults.list[i].iteration == RECOVERY &&
            faults.list[i].call == step && !rp_ft.finished)
            die_once(i);
}

static void die_in_init(void)
{
    if (faults.in_init >= 0 && is_first_time(faults.in_init))
        kill(getpid(), SIGKILL);
}

static void *die_later(void *unused)
{
    usleep((useconds_t)faults.list[faults.in_init].call);
    die_in_init();
    return unused;
}

/* The rank is the launcher's here: processes that are started later have none. */
void rp_ft_inject_init(bool by_launcher)
{
    const char *text = by_launcher ? getenv("OMPI_COMM_WORLD_RANK") : NULL;
    int rank = text ? (int)strtol(text, NULL, 10) : -1;
    pthread_t thread;

    for (int i = 0; i < faults.count; i++)
        if (faults.list[i].iteration == INIT && faults.list[i].rank == rank &&
            faults.list[i].call >= 0)
            faults.in_init = i;
    if (faults.in_init >= 0)
        pthread_create(&thread, NULL, die_later, NULL);
}

void rp_ft_inject_leaves_init(void)
{
    die_in_init();
}
