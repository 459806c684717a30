/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job/job_names.h"
#include "job/settings.h"
#include "preload/constants.h"
#include "stress/stress.h"

enum { SECOND = 1000000000 };

uint64_t rp_stress_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

void rp_stress_pause(uint64_t nanoseconds)
{
    struct timespec pause = {(time_t)(nanoseconds / SECOND), (long)(nanoseconds % SECOND)};

    if (nanoseconds > 0)
        nanosleep(&pause, NULL);
}

/* Of the children of a spawn other numbers than of their parents. */
static uint64_t own_number(int rank)
{
    uint32_t number = (uint32_t)rank;

    for (const char *at = rp_job_own(); *at; at++)
        number = number * 31 + (uint32_t)*at;
    return number;
}

/* The launcher said which rank this is: MPI cannot be asked before it is initialised, and with
 * sessions it never is. */
static void start(struct rp_chance *chance)
{
    static _Atomic uint64_t threads;
    struct rp_problem ignored;
    long longest;
    int rank = 0;

    rp_next_resolve();
    rp_constants_find();
    rp_launched_rank(&rank);
    rp_setting_number("REPRISE_DELAY", 1, 10000, &longest, &ignored);
    rp_chance_init(chance, strtoull(rp_setting("REPRISE_STRESS"), NULL, 10),
                   own_number(rank) | atomic_fetch_add(&threads, 1) << 32, (uint64_t)longest * 1000,
                   rp_stress_now());
}

struct rp_chance *rp_stress_chance(void)
{
    static __thread struct rp_chance chance;
    static __thread enum { UNKNOWN, ON, OFF } state;

    if (state == UNKNOWN) {
        state = rp_setting("REPRISE_STRESS") ? ON : OFF;
        if (state == ON)
            start(&chance);
    }
    return state == ON ? &chance : NULL;
}

bool rp_stress_may_probe(void)
{
    static enum { UNKNOWN, YES, NO } may;
    int is_initialised = 0, level = MPI_THREAD_MULTIPLE;

    if (may == UNKNOWN) {
        if (rp_pmpi.Initialized(&is_initialised) == MPI_SUCCESS && is_initialised)
            rp_pmpi.Query_thread(&level);
        may = level < MPI_THREAD_MULTIPLE ? YES : NO;
    }
    return may == YES;
}

void rp_stress_before_send(void)
{
    struct rp_chance *chance = rp_stress_chance();

    if (chance)
        rp_stress_pause(rp_chance_delay(chance, rp_stress_now()));
}
