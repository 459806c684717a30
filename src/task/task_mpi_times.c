/* SPDX-License-Identifier: MIT */
#include "task/task_mpi_times.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    long rest;
    enum rp_task_phase phase; /* that `since` belongs to */
    double since, seconds[RP_PHASE_END + 1];
    uint64_t processor; /* when that phase began */
    uint64_t idle;      /* of the processor's time, in that phase */
} times;

void rp_task_times_begin(long rest)
{
    memset(&times, 0, sizeof times);
    times.rest = rest;
}

uint64_t rp_task_times_processor(void)
{
    struct timespec time;

    if (times.rest == 0)
        return 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void rp_task_times_idle(uint64_t before)
{
    times.idle += rp_task_times_processor() - before;
}

void rp_task_times_rest(void)
{
    (void)(times.rest ? usleep((useconds_t)times.rest) : sched_yield());
}

void rp_task_times_phase(struct rp_tasks *tasks)
{
    if (tasks->phase_kind == times.phase)
        return;
    double now = MPI_Wtime();
    uint64_t processor = rp_task_times_processor();

    times.seconds[times.phase] += now - times.since;
    if (times.phase == RP_PHASE_RUN)
        tasks->counts[RP_COUNT_NANOSECONDS] += processor - times.processor - times.idle;
    times.idle = 0;
    times.processor = processor;
    times.since = now;
    times.phase = tasks->phase_kind;
}

void rp_task_times_print(const struct rp_tasks *tasks)
{
    const uint64_t *total = tasks->total;

    if (!times.rest || !reprise_is_first())
        return;
    fprintf(stderr, "TIMES run=%.6f store=%.6f again=%.6f processor=%.6f\n",
            times.seconds[RP_PHASE_RUN], times.seconds[RP_PHASE_CHECKPOINT],
            times.seconds[RP_PHASE_RERUN], (double)total[RP_COUNT_NANOSECONDS] / 1e9);
    fprintf(stderr,
            "COUNTS messages=%llu remote=%llu determinants=%llu determinant_bytes=%llu "
            "log_bytes=%llu stored=%llu duplicates=%llu\n",
            (unsigned long long)total[RP_COUNT_MESSAGES],
            (unsigned long long)total[RP_COUNT_REMOTE],
            (unsigned long long)total[RP_COUNT_DETERMINANTS],
            (unsigned long long)total[RP_COUNT_DETERMINANT_BYTES],
            (unsigned long long)total[RP_COUNT_LOG_BYTES],
            (unsigned long long)total[RP_COUNT_STORED],
            (unsigned long long)total[RP_COUNT_DUPLICATES]);
}
