/* SPDX-License-Identifier: MIT */
/*
 * The public functions that need MPI: they begin, end, and wait. REPRISE_TASKS says what is done:
 * record, replay, partial, full or restart.
 */
#include <malloc.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "reprise.h"
#include "task/task_check.h"
#include "task/task_failures.h"
#include "task/task_failures_exit.h"
#include "task/task_file.h"
#include "task/task_mpi_times.h"
#include "task/task_mpi_transport.h"
#include "task/task_moves.h"
#include "task/task_phases.h"
#include "task/task_stall.h"
#include "task/task_trace.h"
#include "task/task_watch.h"
#include "task/tasks.h"

static struct {
    MPI_Comm comm;
    struct rp_tasks tasks;
    bool is_open, has_record, kills;
} here;

/* Launchers lose the status of an aborting job now and then: the command that started the job looks
 * here, too. */
static void leave_verdict(int status)
{
    const char *path = rp_setting("REPRISE_TASKS_VERDICT");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (!file)
        return;
    fprintf(file, "%d\n", status);
    fclose(file);
}

static void stop(int status)
{
    leave_verdict(status);
    fflush(NULL);
    MPI_Abort(here.is_open ? here.comm : MPI_COMM_WORLD, status);
    abort();
}

/* One process after another: a launcher that several processes ask to end the job at once may never
 * end. */
static void fail(void *data, const char *why)
{
    enum { MOST_SECONDS = 10 };
    int rank = here.tasks.self;

    (void)data;
    rp_error("tasks: %s", why);
    sleep(rank < MOST_SECONDS ? (unsigned)rank : MOST_SECONDS);
    stop(REPRISE_EXIT_UNSUPPORTED);
}

static void wrong(const char *what)
{
    rp_error("tasks: %s", what);
    stop(REPRISE_EXIT_USAGE);
}

static enum rp_task_mode asked_mode(void)
{
    static const char *const names[] = {"plain", "record", "replay", "partial", "full", "restart"};
    const char *asked = rp_setting("REPRISE_TASKS");

    for (int i = 0; asked && i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(asked, names[i]) == 0)
            return (enum rp_task_mode)i;
    if (asked)
        wrong("REPRISE_TASKS: plain, record, replay, partial, full or restart is expected");
    return RP_TASKS_PLAIN;
}

static long asked_number(const char *name, long least, long usual)
{
    struct rp_problem why;
    long number;

    if (rp_setting_number(name, least, usual, &number, &why) != RP_OK)
        wrong(why.text);
    return number;
}

void reprise_tasks_begin(void)
{
    int rank, ranks;

    if (here.is_open)
        wrong("reprise_tasks_begin was called before");
    enum rp_task_mode mode = asked_mode();
    here.comm = rp_failures_begin(mode >= RP_TASKS_PARTIAL);
    if (here.comm == MPI_COMM_NULL) {
        rp_error("tasks: a process died before all had come out of reprise_tasks_begin: nobody can "
                 "take over its tasks");
        stop(REPRISE_EXIT_INTERNAL);
    }
    MPI_Comm_rank(here.comm, &rank);
    MPI_Comm_size(here.comm, &ranks);
    rp_diagnostics_process("rank", rank);
    struct rp_transport transport = rp_mpi_transport(here.comm, fail);
    rp_tasks_init(&here.tasks, mode, rank, ranks, &transport);
    rp_tasks_now = &here.tasks;
    here.is_open = true;
    here.kills = rp_setting("REPRISE_TASKS_KILL") != NULL;
    rp_task_times_begin(asked_number("REPRISE_TASKS_TIMES", 1, 0));
#ifdef M_TRIM_THRESHOLD
    if (mode >= RP_TASKS_PARTIAL) /* what a log takes is taken again after each checkpoint */
        mallopt(M_TRIM_THRESHOLD, 1 << 30), mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
    here.tasks.directory = rp_setting("REPRISE_RUN");
    here.tasks.spread = (int)asked_number("REPRISE_TASKS_SPREAD", 1, 16);
    here.tasks.determinant_copies = (int)asked_number("REPRISE_TASKS_COPIES", 1, 1);
    uint64_t seed = (uint64_t)asked_number("REPRISE_SHUFFLE", 0, 0);
    here.tasks.shuffles = seed > 0;
    here.tasks.random =
        seed > 0 ? (seed + (uint64_t)rank * 7919) * UINT64_C(0x9e3779b97f4a7c15) | 1 : 0;
    if (mode >= RP_TASKS_PARTIAL)
        rp_failures_exit_arm(stop);
    if ((here.tasks.mode == RP_TASKS_RECORD || here.tasks.mode == RP_TASKS_REPLAY) &&
        !here.tasks.directory)
        wrong("REPRISE_RUN, the directory of the record, is not set: start it by 'reprise record "
              "--tasks'");
}

/* Collections are all known when the first run begins. */
static void open_record(void)
{
    struct rp_problem why;
    enum rp_status status = RP_OK;

    if (here.has_record)
        return;
    here.has_record = true;
    if (here.tasks.mode == RP_TASKS_REPLAY)
        status = rp_task_file_read(&here.tasks, &why);
    if (status == RP_OK && here.tasks.mode == RP_TASKS_REPLAY)
        status = rp_task_trace_begin(&here.tasks, &why);
    else if (here.tasks.mode == RP_TASKS_RECORD)
        status = rp_task_file_begin(&here.tasks, &why);
    if (status == RP_OK)
        return;
    rp_error("tasks: cannot %s: %s", here.tasks.mode == RP_TASKS_REPLAY ? "replay" : "record",
             why.text);
    stop(rp_exit_status(status));
}

static void wait_for_the_end(void)
{
    enum { OFTEN = 500, SPINS = 50, SELDOM = 16 };
    unsigned idle = 0, steps = 0;

    rp_task_times_phase(&here.tasks);
    while (!rp_phase_is_over(&here.tasks)) {
        if (here.kills)
            rp_failures_inject(&here.tasks);
        uint64_t before = idle > 0 ? rp_task_times_processor() : 0;
        bool did = rp_tasks_step(&here.tasks);
        rp_task_times_phase(&here.tasks);
        if (!did)
            rp_mpi_transport_complete();
        if (++steps % OFTEN == 0 || (!did && idle % SELDOM == 0))
            rp_failures_look(&here.tasks, here.comm);
        if (did)
            idle = 0;
        else if (++idle > SPINS) {
            rp_task_stall_idle(&here.tasks);
            rp_task_times_rest();
        }
        if (before > 0 && !did)
            rp_task_times_idle(before);
    }
    rp_task_watch_did();
}

static void need_outside(const char *what)
{
    char text[100];

    snprintf(text, sizeof text, "%s comes after reprise_tasks_begin, and outside entries", what);
    if (!here.is_open || here.tasks.running)
        wrong(text);
}

void reprise_tasks_run(void)
{
    need_outside("reprise_tasks_run");
    open_record();
    rp_phase_begin(&here.tasks, RP_PHASE_RUN);
    wait_for_the_end();
}

void reprise_remap(int collection, int (*map)(struct reprise_index index, int processes))
{
    need_outside("reprise_remap");
    if (here.tasks.has_starts || !map || collection < 0 ||
        collection >= here.tasks.collection_count)
        wrong("reprise_remap needs a collection and a map, and cannot stand between reprise_start "
              "and reprise_tasks_run");
    open_record();
    rp_phase_begin(&here.tasks, RP_PHASE_MOVE);
    rp_moves_begin(&here.tasks, collection, map);
    wait_for_the_end();
}

static int write_record(void)
{
    struct rp_problem why;
    enum rp_status status = here.tasks.mode == RP_TASKS_RECORD
                                ? rp_task_file_write(&here.tasks, &why)
                                : rp_task_trace_write(&here.tasks, &why);

    if (status != RP_OK)
        rp_error("tasks: cannot record: %s", why.text);
    return rp_exit_status(status);
}

/* The first process has the sums of all. */
static void summarise(void)
{
    const uint64_t *total = here.tasks.total;
    static const char *const names[] = {"",
                                        "recorded",
                                        "replayed",
                                        "ran with partial determinants",
                                        "ran with full determinants",
                                        "ran with checkpoints"};

    if (here.tasks.mode == RP_TASKS_PLAIN || !reprise_is_first())
        return;
    char determinants[100] = "";
    if (here.tasks.dead_count > 0)
        snprintf(determinants, sizeof determinants, "%d processes died, ", here.tasks.dead_count);
    else if (here.tasks.mode != RP_TASKS_REPLAY)
        snprintf(determinants, sizeof determinants, "%llu determinants (by the algebra: %llu), ",
                 (unsigned long long)total[RP_COUNT_DETERMINANTS],
                 (unsigned long long)total[RP_COUNT_ALGEBRA]);
    rp_note("tasks: %s %llu messages of %u tasks: %sdigest %016llx%s", names[here.tasks.mode],
            (unsigned long long)total[RP_COUNT_MESSAGES], here.tasks.task_count, determinants,
            (unsigned long long)total[RP_COUNT_DIGEST],
            here.tasks.mode != RP_TASKS_REPLAY ? ""
            : total[RP_COUNT_DIFFERENCES]      ? ": NOT the recorded run"
            : here.tasks.is_cut_off            ? ": the same, as far as the record goes"
                                               : ": identical");
}

int reprise_tasks_end(void)
{
    need_outside("reprise_tasks_end");
    rp_tasks_check(&here.tasks);
    rp_phase_begin(&here.tasks, RP_PHASE_END);
    wait_for_the_end();
    int status = write_record();
    summarise();
    rp_task_times_print(&here.tasks);
    if (status == 0 && here.tasks.total[RP_COUNT_DIFFERENCES] > 0)
        status = REPRISE_EXIT_DIVERGED;
    bool is_first = reprise_is_first();
    bool counts = here.tasks.mode != RP_TASKS_PLAIN && here.tasks.mode != RP_TASKS_REPLAY &&
                  here.tasks.dead_count == 0; /* what is run again is counted again */
    if (status == 0 && is_first && counts &&
        here.tasks.total[RP_COUNT_DETERMINANTS] != here.tasks.total[RP_COUNT_ALGEBRA]) {
        rp_error("tasks: %llu determinants were made, but the algebra says %llu",
                 (unsigned long long)here.tasks.total[RP_COUNT_DETERMINANTS],
                 (unsigned long long)here.tasks.total[RP_COUNT_ALGEBRA]);
        status = REPRISE_EXIT_INTERNAL;
    }
    rp_failures_end(&here.tasks, here.comm);
    /* What goes to the dead may never be complete. */
    for (unsigned tries = 0; here.tasks.dead_count == 0 && rp_mpi_transport_complete(); tries++)
        if (tries > 50)
            sched_yield();
    is_first = reprise_is_first();
    rp_failures_exit_disarm();
    rp_tasks_free(&here.tasks);
    rp_mpi_transport_free();
    memset(&here, 0, sizeof here);
    here.tasks.has_ended = true;
    here.tasks.was_first = is_first;
    return status;
}
