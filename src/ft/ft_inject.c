/* SPDX-License-Identifier: MIT */
/*
 * Faults on purpose: REPRISE_FT_KILL is a list RANK@ITERATION[:CALL], RANK@setup:CALL or RANK@recovery:STEP, with commas. The process that has the rank kills itself at the CALL-th MPI call of the iteration
 * (0: its beginning) or, if it has not so many, at the beginning of the next; or at a step of a recovery. Each happens once: a file tells who takes over the rank that it was done.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/settings.h"
#include "ft/ft.h"
#include "reprise.h"

enum { MOST = 64, SETUP = -1, RECOVERY = -2 };

static struct fault {
    int rank;
    long iteration, call;
} faults[MOST];
static int count;

static void bad(const char *text)
{
    rp_ft_die(REPRISE_EXIT_USAGE, "--kill %s: RANK@ITERATION[:CALL], RANK@setup:CALL or RANK@recovery:STEP is expected, with commas between several", text);
}

static void parse(const char *text)
{
    char *copy = strdup(text), *rest = NULL;

    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        struct fault fault = {0};
        char *at = strchr(word, '@'), *end;
        if (!at || count == MOST)
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
        } else {
            fault.iteration = strtol(at, &end, 10);
        }
        if (end == at || (*end && *end != ':'))
            bad(text);
        if (*end == ':')
            fault.call = strtol(end + 1, &end, 10);
        if (*end || fault.rank < 0 || fault.rank >= rp_ft.ranks)
            bad(text);
        faults[count++] = fault;
    }
    free(copy);
}

void rp_ft_inject_start(void)
{
    const char *text = rp_setting("REPRISE_FT_KILL");

    if (text)
        parse(text);
    rp_ft_attends |= count > 0;
}

static void die_once(int which)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/kill-%d", rp_setting("REPRISE_FT_DIR"), which);
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, RP_PRIVATE_FILE);
    if (fd < 0)
        return;
    rp_ft_event("killed", "\"iteration\": %ld, \"call\": %ld, \"iterations\": %ld", rp_ft.iteration, rp_ft.calls, rp_ft.iterations);
    raise(SIGKILL);
}

bool rp_ft_inject_call(void)
{
    for (int i = 0; i < count; i++) {
        const struct fault *fault = &faults[i];
        bool is_time = fault->iteration < rp_ft.iteration || (fault->iteration == rp_ft.iteration && fault->call <= rp_ft.calls);
        if (fault->rank == rp_ft.rank && fault->iteration != RECOVERY && is_time && rp_ft.on)
            die_once(i);
    }
    return count > 0;
}

void rp_ft_inject_recovery(int step)
{
    for (int i = 0; i < count; i++)
        if (faults[i].rank == rp_ft.rank && faults[i].iteration == RECOVERY && faults[i].call == step && !rp_ft.finished)
            die_once(i);
}
