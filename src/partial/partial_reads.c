/* SPDX-License-Identifier: MIT */
/* One-sided reads under way. The program may use their results when the call that completes them
 * returns. They are recorded then, by an entry `got` before that of the call. Reads with a request
 * are kept with the request (partial_requests.c); if such a call completes them before the program
 * waits for the request, their entries are numbered behind those that are here. */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "partial/partial_early.h"
#include "partial/partial_entries.h"
#include "partial/partial_reads.h"
#include "partial/partial_requests.h"
#include "reprise.h"

struct pending {
    MPI_Win win;
    int target;
    struct rp_areas areas;
    struct pending *next;
};

static struct {
    struct pending *first, **last; /* the oldest first */
    struct pending *unused;
} reads = {.last = &reads.first};

void rp_reads_add(MPI_Win win, int target, struct rp_areas *areas)
{
    struct pending *p = reads.unused ? reads.unused : malloc(sizeof *p);

    if (!p)
        rp_bug(__FILE__, __LINE__, "out of memory");
    if (reads.unused)
        reads.unused = reads.unused->next;
    *p = (struct pending){.win = win, .target = target, .areas = *areas};
    rp_areas_keep(&p->areas);
    rp_early_add(&p->areas);
    *reads.last = p;
    reads.last = &p->next;
}

static void drop(struct pending **at)
{
    struct pending *p = *at;

    *at = p->next;
    if (!p->next)
        reads.last = at;
    rp_areas_free(&p->areas);
    p->next = reads.unused;
    reads.unused = p;
}

static bool is_of(const struct pending *p, MPI_Win win, int target)
{
    return p->win == win && (target < 0 || p->target == target);
}

/* MPICH 4.0 returns from them before what was read is there; it comes some calls later. */
void rp_reads_await(MPI_Win win, int target)
{
#ifndef OPEN_MPI
    const struct pending *p = reads.first;

    while (p && !is_of(p, win, target))
        p = p->next;
    if (!p && !rp_partial_requests_are_reading(win, target))
        return;
    bool is_open = rp_real_begin();
    if (target >= 0)
        rp_pmpi.Win_flush(target, win);
    else
        rp_pmpi.Win_flush_all(win);
    rp_real_end(is_open);
#else
    (void)win, (void)target;
#endif
}

void rp_reads_done(MPI_Win win, int target)
{
    uint64_t place = 0;

    for (struct pending **at = &reads.first; *at;) {
        struct pending *p = *at;
        if (!is_of(p, win, target)) {
            at = &p->next;
            place++;
            continue;
        }
        rp_data_begin(rp_partial.writer, rp_f_got.number, rp_f_got.name);
        rp_partial_record_number(place);
        rp_areas_put(&p->areas, -1);
        rp_partial_record_end();
        drop(at);
    }
    rp_partial_requests_reads_done(win, target, place);
}

void rp_partial_feed_got(void)
{
    uint64_t place = rp_partial_feed_number();
    struct pending **at = &reads.first;

    for (; *at && place > 0; place--)
        at = &(*at)->next;
    if (*at) {
        rp_areas_fill(&(*at)->areas);
        drop(at);
        return;
    }
    if (rp_partial_requests_take_read(place))
        return;
    rp_error("not the recorded run: the record tells of a read that the program did not make");
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}
