/* SPDX-License-Identifier: MIT */
/* Writes the order log of this rank: times, not operations. */
#include "partial/partial_marks.h"

#include <stdlib.h>
#include <string.h>
#ifndef __x86_64__
#include <time.h>
#endif

#include "base/diagnostics.h"
#include "log/order_log.h"

enum { FINE = 4 }; /* no call is shorter than 16 units */

static struct {
    struct rp_order_log_writer *log;
    char *directory;
    uint64_t run;
    uint32_t rank;
    uint64_t time, next_of_loads; /* of the last glance; when loads may be marked again */
    bool is_made;                 /* the log, or it cannot be */
} order;

void rp_marks_open(const char *directory, uint64_t run, uint32_t rank)
{
    order.directory = strdup(directory);
    order.run = run;
    order.rank = rank;
}

void rp_marks_close(void)
{
    if (order.log)
        rp_order_log_close(order.log);
    order.log = NULL;
}

uint64_t rp_marks_now(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#endif
}

void rp_marks_put(uint64_t time)
{
    if (order.log)
        rp_order_log_mark(order.log, rp_data_entries(rp_partial.writer), time >> FINE);
}

void rp_marks_put_noted(void)
{
    rp_marks_put(order.time);
}

void rp_marks_window(MPI_Comm comm)
{
    struct rp_problem why;
    MPI_Group all, members;
    int count = 0;

    if (!order.is_made && order.directory &&
        rp_order_log_create(order.directory, order.run, order.rank, &order.log, &why) != RP_OK) {
        rp_error("%s; which rank wrote what cannot be told", why.text);
        order.log = NULL;
    }
    order.is_made = true;
    if (!order.log)
        return;
    rp_pmpi.Comm_size(comm, &count);
    int *ranks = calloc((size_t)count * 2, sizeof *ranks), *world = ranks + count;

    if (!ranks)
        rp_bug(__FILE__, __LINE__, "out of memory");
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    rp_pmpi.Comm_group(comm, &members);
    rp_pmpi.Comm_group(rp_constant.world, &all);
    rp_pmpi.Group_translate_ranks(members, count, ranks, all, world);
    rp_pmpi.Group_free(&members);
    rp_pmpi.Group_free(&all);
    rp_order_log_window(order.log, world, (size_t)count);
    free(ranks);
}

void rp_marks_attached(uint64_t window, const void *memory, size_t size)
{
    if (order.log)
        rp_order_log_attach(order.log, window, (uintptr_t)memory, size);
}

void rp_marks_put_now(void)
{
    order.time = rp_marks_now();
    rp_marks_put_noted();
}

void rp_marks_loads(uint64_t loads)
{
    enum { SELDOM = 4096 };
    uint64_t time = order.log ? rp_marks_now() : 0;

    if (time < order.next_of_loads || !order.log)
        return;
    rp_order_log_mark_loads(order.log, loads, time >> FINE);
    order.next_of_loads = time + SELDOM;
}

uint64_t rp_marks_glance(void)
{
    return order.time = rp_marks_now();
}
