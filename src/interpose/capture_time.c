/* SPDX-License-Identifier: MIT */
/* Clocks, which a replay answers from its record. */
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "interpose/captured_values.h"
#include "preload/caller.h"

double rp_capture_Wtime(const struct rp_call *call)
{
    double value;
    int32_t unused;
    uint64_t bits;

    if (!rp_engine || (rp_thread_state.depth != 0 && rp_is_elsewhere("MPI_Wtime", 0)))
        return call->next->Wtime();
    if (rp_recalled(call, &unused, &bits)) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    rp_thread_state.depth++;
    value = call->next->Wtime();
    rp_thread_state.depth--;
    memcpy(&bits, &value, sizeof bits);
    rp_noted(call, 0, bits);
    return value;
}

enum { CLOCKS = 16, BILLION = 1000000000 };

RP_ENTRY int clock_gettime(clockid_t clock, struct timespec *out)
{
    static uint64_t last[CLOCKS];
    uint64_t now;
    bool captured = __builtin_expect(rp_captured != 0, 0) && clock >= 0 && clock < CLOCKS &&
                    rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER);

    if (captured) {
        struct rp_call call = RP_CALL("clock_gettime");
        if (rp_recalled_clock(&call, &last[clock], &now)) {
            *out = (struct timespec){(time_t)(now / BILLION), (long)(now % BILLION)};
            return 0;
        }
        int rc = RP_REAL(int(clockid_t, struct timespec *), "clock_gettime")(clock, out);
        rp_noted_clock(&call, &last[clock],
                       (uint64_t)out->tv_sec * BILLION + (uint64_t)out->tv_nsec);
        return rc;
    }
    return RP_REAL(int(clockid_t, struct timespec *), "clock_gettime")(clock, out);
}

RP_ENTRY int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured != 0, 0) && rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER)) {
        struct rp_call call = RP_CALL("gettimeofday");
        if (rp_recalled_clock(&call, &last, &now)) {
            *out = (struct timeval){(time_t)(now / 1000000), (suseconds_t)(now % 1000000)};
            return 0;
        }
        int rc = RP_REAL(int(struct timeval *, void *), "gettimeofday")(out, zone);
        rp_noted_clock(&call, &last, (uint64_t)out->tv_sec * 1000000 + (uint64_t)out->tv_usec);
        return rc;
    }
    return RP_REAL(int(struct timeval *, void *), "gettimeofday")(out, zone);
}

/* A library that looks up this function finds ours, even without OpenMP. */
static double ask_openmp(double (*real)(void))
{
    struct timespec now = {0};

    if (!real) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    rp_in_omp_get_wtime = true;
    double time = real();
    rp_in_omp_get_wtime = false;
    return time;
}

RP_ENTRY double omp_get_wtime(void)
{
    return ask_openmp(RP_REAL(double(void), "omp_get_wtime"));
}

/* Fortran's name. */
RP_ENTRY double omp_get_wtime_(void)
{
    return ask_openmp(RP_REAL(double(void), "omp_get_wtime_"));
}

RP_ENTRY time_t time(time_t *out)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(time_t(time_t *), "time")(out);
    struct rp_call call = RP_CALL("time");
    if (!rp_recalled_clock(&call, &last, &now)) {
        now = (uint64_t)RP_REAL(time_t(time_t *), "time")(NULL);
        rp_noted_clock(&call, &last, now);
    }
    if (out)
        *out = (time_t)now;
    return (time_t)now;
}

RP_ENTRY clock_t clock(void)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(clock_t(void), "clock")();
    struct rp_call call = RP_CALL("clock");
    if (!rp_recalled_clock(&call, &last, &now)) {
        now = (uint64_t)RP_REAL(clock_t(void), "clock")();
        rp_noted_clock(&call, &last, now);
    }
    return (clock_t)now;
}

RP_ENTRY int timespec_get(struct timespec *out, int base)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || base != TIME_UTC ||
        !rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(int(struct timespec *, int), "timespec_get")(out, base);
    struct rp_call call = RP_CALL("timespec_get");
    if (rp_recalled_clock(&call, &last, &now)) {
        *out = (struct timespec){(time_t)(now / BILLION), (long)(now % BILLION)};
        return base;
    }
    int rc = RP_REAL(int(struct timespec *, int), "timespec_get")(out, base);
    rp_noted_clock(&call, &last, (uint64_t)out->tv_sec * BILLION + (uint64_t)out->tv_nsec);
    return rc;
}

RP_ENTRY int getrusage(__rusage_who_t who, struct rusage *usage)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(int(__rusage_who_t, struct rusage *), "getrusage")(who, usage);
    struct rp_call call = RP_CALL("getrusage");
    if (!rp_recalled_bytes(&call, usage, sizeof *usage, &rc)) {
        rc = RP_REAL(int(__rusage_who_t, struct rusage *), "getrusage")(who, usage);
        rp_noted_bytes(&call, usage, rc == 0 ? sizeof *usage : 0, rc);
    }
    return rc;
}

RP_ENTRY clock_t times(struct tms *used)
{
    int32_t unused;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || !used ||
        !rp_capture_is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(clock_t(struct tms *), "times")(used);
    struct rp_call call = RP_CALL("times");
    if (rp_recalled(&call, &unused, &now)) {
        rp_recalled_bytes(&call, used, sizeof *used, &unused);
        return (clock_t)now;
    }
    now = (uint64_t)RP_REAL(clock_t(struct tms *), "times")(used);
    rp_noted(&call, 0, now);
    rp_noted_bytes(&call, used, sizeof *used, 0);
    return (clock_t)now;
}
