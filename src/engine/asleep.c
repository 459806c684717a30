/* SPDX-License-Identifier: MIT */
/* A wait with a time-out ends and begins again: the thread has then been switched to, which the
 * system counts. */
#include "engine/asleep.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { MOST = 1024 }; /* threads that are remembered */

static struct {
    int thread;
    uint64_t switches;
} known[MOST];

static bool waits_for_futex(int thread)
{
    char path[64];
    long call = -1;

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    FILE *file = fopen(path, "re");
    bool is_one = file && fscanf(file, "%ld", &call) == 1 && call == SYS_futex;
    if (file)
        fclose(file);
    return is_one;
}

/* 0: not known. */
static uint64_t switches_of(int thread)
{
    char path[64], line[256];
    unsigned long long sum = 0, count;

    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &count) == 1)
            sum += count;
    if (file)
        fclose(file);
    return sum;
}

bool rp_asleep_is(int thread)
{
    if (!waits_for_futex(thread))
        return false;
    uint64_t switches = switches_of(thread);
    size_t place = (size_t)thread % MOST;
    bool is_same =
        known[place].thread == thread && known[place].switches == switches && switches > 0;
    known[place].thread = thread;
    known[place].switches = switches;
    return is_same;
}
