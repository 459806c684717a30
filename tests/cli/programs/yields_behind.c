/* SPDX-License-Identifier: MIT */
/* Counts calls of sched_yield. */
#include <sys/syscall.h>
#include <unistd.h>

static int yields;

int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

int program_yields(void)
{
    return yields;
}
