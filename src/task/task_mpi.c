/* SPDX-License-Identifier: MIT */
/*
 * The transport over MPI point-to-point, and the public functions that wait. Sends are nonblocking; what is received is probed for. REPRISE_TASKS says what is done: record, replay, partial, full or restart.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/settings.h"
#include "reprise.h"
#include "task/task.h"
#include "task/task_failures.h"

enum { TAG = 0, UNDER_WAY = 64 };

static struct {
    MPI_Comm comm;
    MPI_Request *requests;
    struct rp_parcel **parcels;
    int count, room;
    int status;
    struct rp_tasks tasks;
    bool is_open, has_read, kills;
} here;

static void complete_sends(void)
{
    int kept = 0;

    for (int i = 0; i < here.count; i++) {
        int flag = 0;
        int rc = MPI_Test(&here.requests[i], &flag, MPI_STATUS_IGNORE);
        if (flag || rc != MPI_SUCCESS) { /* failed: its receiver is dead */
            rp_parcel_drop(here.parcels[i]);
            continue;
        }
        here.requests[kept] = here.requests[i];
        here.parcels[kept++] = here.parcels[i];
    }
    here.count = kept;
}

static void mpi_send(void *data, int process, struct rp_parcel *parcel)
{
    (void)data;
    if (here.count == here.room) {
        complete_sends();
        if (here.count >= here.room / 2) {
            here.room = here.room ? 2 * here.room : UNDER_WAY;
            here.requests = realloc(here.requests, (size_t)here.room * sizeof *here.requests);
            here.parcels = realloc(here.parcels, (size_t)here.room * sizeof *here.parcels);
            RP_BUG_ON(!here.requests || !here.parcels);
        }
    }
    if (parcel->length > INT32_MAX || MPI_Isend(parcel->bytes, (int)parcel->length, MPI_BYTE, process, TAG, here.comm, &here.requests[here.count]) != MPI_SUCCESS) {
        rp_parcel_drop(parcel);
        return;
    }
    here.parcels[here.count++] = parcel;
}

static struct rp_parcel *mpi_receive(void *data, int *process)
{
    MPI_Status status;
    MPI_Message message;
    int flag = 0, length;

    (void)data;
    if (MPI_Improbe(MPI_ANY_SOURCE, TAG, here.comm, &flag, &message, &status) != MPI_SUCCESS || !flag)
        return NULL;
    MPI_Get_count(&status, MPI_BYTE, &length);
    struct rp_parcel *parcel = rp_parcel_new((size_t)length);
    *process = status.MPI_SOURCE;
    if (MPI_Mrecv(parcel->bytes, length, MPI_BYTE, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return parcel;
    rp_parcel_drop(parcel); /* its sender is dead */
    return NULL;
}

/* Launchers lose the status of a job that aborts now and then: who started us looks here, too. */
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
    MPI_Abort(here.comm, status);
    abort();
}

static void mpi_lost(void *data, const char *why)
{
    (void)data;
    rp_error("tasks: %s", why);
    stop(REPRISE_EXIT_UNSUPPORTED);
}

static const struct rp_transport transport = {mpi_send, mpi_receive, mpi_lost, NULL};

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
    MPI_Comm_rank(here.comm, &rank);
    MPI_Comm_size(here.comm, &ranks);
    rp_message_rank(rank);
    rp_tasks_init(&here.tasks, mode, rank, ranks, &transport);
    rp_tasks_now = &here.tasks;
    here.is_open = true;
    here.kills = rp_setting("REPRISE_TASKS_KILL") != NULL;
    here.tasks.directory = rp_setting("REPRISE_RUN");
    here.tasks.spread = (int)asked_number("REPRISE_TASKS_SPREAD", 1, 16);
    here.tasks.copies = (int)asked_number("REPRISE_TASKS_COPIES", 1, 1);
    uint64_t seed = (uint64_t)asked_number("REPRISE_SHUFFLE", 0, 0);
    here.tasks.shuffles = seed > 0;
    here.tasks.random = seed > 0 ? (seed + (uint64_t)rank * 7919) * UINT64_C(0x9e3779b97f4a7c15) | 1 : 0;
    if ((here.tasks.mode == RP_TASKS_RECORD || here.tasks.mode == RP_TASKS_REPLAY) && !here.tasks.directory)
        wrong("REPRISE_RUN, the directory of the record, is not set: start it by 'reprise record --tasks'");
}

/* Collections are all known when the first run begins. */
static void read_record(void)
{
    struct rp_problem why;
    enum rp_status status;

    if (here.has_read || here.tasks.mode != RP_TASKS_REPLAY)
        return;
    here.has_read = true;
    status = rp_task_file_read(&here.tasks, &why);
    if (status == RP_OK)
        return;
    rp_error("tasks: cannot replay: %s", why.text);
    stop(rp_exit_status(status));
}

static void wait_for_the_end(void)
{
    enum { OFTEN = 500, SPINS = 50, SELDOM = 16 };
    unsigned idle = 0, steps = 0;

    while (!rp_stage_is_over(&here.tasks)) {
        if (here.kills)
            rp_failures_inject(&here.tasks);
        bool did = rp_tasks_step(&here.tasks);
        if (!did && here.count > 0)
            complete_sends();
        if (++steps % OFTEN == 0 || (!did && idle % SELDOM == 0))
            rp_failures_look(&here.tasks, here.comm);
        if (did)
            idle = 0;
        else if (++idle > SPINS)
            sched_yield();
    }
}

void reprise_tasks_run(void)
{
    read_record();
    rp_stage_begin(&here.tasks, RP_STAGE_RUN);
    wait_for_the_end();
}

void reprise_remap(int collection, int (*map)(struct reprise_index index, int processes))
{
    read_record();
    rp_stage_begin(&here.tasks, RP_STAGE_MOVE);
    rp_tasks_ft_move(&here.tasks, collection, map);
    wait_for_the_end();
}

static int write_record(void)
{
    struct rp_problem why;
    enum rp_status status = here.tasks.mode == RP_TASKS_RECORD ? rp_task_file_write(&here.tasks, &why) : RP_OK;

    if (status != RP_OK)
        rp_error("tasks: cannot record: %s", why.text);
    return rp_exit_status(status);
}

/* The first process has the sums of all. */
static void summarise(void)
{
    const uint64_t *total = here.tasks.total;
    static const char *const names[] = {"", "recorded", "replayed", "ran with partial determinants", "ran with full determinants", "ran with checkpoints"};

    if (here.tasks.mode == RP_TASKS_PLAIN || !reprise_is_first())
        return;
    char determinants[100] = "";
    if (here.tasks.dead_count > 0)
        snprintf(determinants, sizeof determinants, "%d processes died, ", here.tasks.dead_count);
    else if (here.tasks.mode != RP_TASKS_REPLAY)
        snprintf(determinants, sizeof determinants, "%llu determinants (by the algebra: %llu), ", (unsigned long long)total[RP_COUNT_DETERMINANTS], (unsigned long long)total[RP_COUNT_ALGEBRA]);
    rp_note("tasks: %s %llu messages of %u tasks: %sdigest %016llx%s", names[here.tasks.mode], (unsigned long long)total[RP_COUNT_MESSAGES], here.tasks.task_count, determinants, (unsigned long long)total[RP_COUNT_DIGEST],
            here.tasks.mode != RP_TASKS_REPLAY ? "" : total[RP_COUNT_DIFFERENCES] ? ": NOT the recorded run" : ": identical");
}

int reprise_tasks_end(void)
{
    rp_order_check(&here.tasks);
    rp_stage_begin(&here.tasks, RP_STAGE_END);
    wait_for_the_end();
    int status = write_record();
    summarise();
    if (status == 0 && here.tasks.total[RP_COUNT_DIFFERENCES] > 0)
        status = REPRISE_EXIT_DIVERGED;
    bool is_first = reprise_is_first();
    bool counts = here.tasks.mode != RP_TASKS_PLAIN && here.tasks.mode != RP_TASKS_REPLAY && here.tasks.dead_count == 0; /* what is run again is counted again */
    if (status == 0 && is_first && counts && here.tasks.total[RP_COUNT_DETERMINANTS] != here.tasks.total[RP_COUNT_ALGEBRA]) {
        rp_error("tasks: %llu determinants were made, but the algebra says %llu", (unsigned long long)here.tasks.total[RP_COUNT_DETERMINANTS], (unsigned long long)here.tasks.total[RP_COUNT_ALGEBRA]);
        status = REPRISE_EXIT_INTERNAL;
    }
    rp_failures_end(&here.tasks, here.comm);
    for (unsigned tries = 0; here.count > 0 && here.tasks.dead_count == 0; tries++) { /* what goes to the dead may never be complete */
        complete_sends();
        if (tries > 50)
            sched_yield();
    }
    rp_tasks_free(&here.tasks);
    free(here.requests);
    free(here.parcels);
    memset(&here, 0, sizeof here);
    return status;
}
