/* SPDX-License-Identifier: MIT */
/*
 * Who wrote what: if REPRISE_WHO names a file, a rank that is fed logs its one-sided accesses
 * there, with places and values (log/accesslog.h). The record does not have them and does not need
 * them: the same program makes the same accesses, reads what it read, and so writes what it wrote.
 * What an atomic operation wrote follows from what it found.
 *
 * The program's own stores into its windows are found by comparing window memory with a copy: where
 * the recorded rank made its stores public, and where it copied in what others wrote. A tracked
 * program reports each store, and each load that is in the log; only the stores of code that is not
 * tracked are found by comparing. Stores one behind the other are one access, as long as nothing
 * else is between them: no time is known that separates them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "event/wrappers.h"
#include "log/accesslog.h"
#include "log/order_log.h"
#include "partial/partial_access_trace.h"
#include "partial/partial_windows.h"

static struct {
    struct rp_access_writer *writer;
    struct rp_order_log order; /* of the record */
    struct rp_site_table sites;
    uint32_t own_rank;
    uint64_t accesses; /* so far */
} trace;

static const struct rp_function loaded = {0, "load"}, stored = {0, "store"};

/* A store that may go on. */
static struct {
    bool is_there;
    struct rp_access access;
    uint8_t value[RP_ACCESS_PIECE];
} run;

struct rp_traced_read {
    struct rp_access access;
    bool updates, swaps; /* it is an atomic operation; MPI_Compare_and_swap */
    bool replaces;       /* by its operand, whatever is there */
    bool is_reported;
    MPI_Op op;
    MPI_Datatype type;
    int64_t count;
    uint8_t *operand, *compare; /* as many bytes as are read; NULL: not known, none */
};

static void announce(void *owner, const struct rp_buffer *records, uint32_t first)
{
    (void)owner, (void)first;
    rp_access_put_sites(trace.writer, records);
}

enum rp_status rp_access_trace_open(const char *path, const char *directory, uint64_t run,
                                    uint32_t rank, struct rp_problem *why)
{
    enum rp_status status = rp_order_log_read(directory, run, rank, &trace.order, why);

    if (status == RP_USAGE && !rp_data_has_windows(rp_partial.reader))
        status = RP_OK; /* it has nothing to log */
    if (status == RP_OK)
        status = rp_access_create(path, run, rank, &trace.writer, why);
    if (status == RP_OK && !rp_site_table_init(&trace.sites))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    trace.own_rank = rank;
    trace.sites.announce = announce;
    trace.sites.wrappers = rp_wrappers_list();
    rp_partial.is_traced = status == RP_OK;
    return status;
}

static void end_run(void)
{
    if (run.is_there)
        rp_access_put(trace.writer, &run.access);
    run.is_there = false;
}

void rp_access_trace_close(void)
{
    if (rp_partial.is_traced) {
        end_run();
        rp_access_close(trace.writer);
    }
    rp_partial.is_traced = false;
}

static uint64_t complete(void)
{
    return rp_data_read_entries(rp_partial.reader);
}

static uint32_t site_of(const struct rp_function *function)
{
    return rp_partial.caller ? rp_site_find(&trace.sites, function->name, rp_partial.caller,
                                            rp_partial.caller_stack) +
                                   1
                             : 0;
}

/* The rank in MPI_COMM_WORLD; false if the window's members are not known. */
static bool world_rank(uint64_t window, int rank, uint32_t *out)
{
    if (window >= trace.order.windows || rank < 0 ||
        (size_t)rank >= trace.order.window[window].count)
        return false;
    *out = trace.order.window[window].rank[rank];
    return true;
}

int rp_access_trace_self(uint64_t window)
{
    for (size_t i = 0; window < trace.order.windows && i < trace.order.window[window].count; i++)
        if (trace.order.window[window].rank[i] == trace.own_rank)
            return (int)i;
    return -1;
}

/* In pieces that the log has room for. */
static void put(struct rp_access a)
{
    uint64_t left = a.length;

    do {
        a.length = left < RP_ACCESS_PIECE ? left : RP_ACCESS_PIECE;
        rp_access_put(trace.writer, &a);
        left -= a.length;
        a.shift += a.length;
        a.value = a.value ? a.value + a.length : NULL;
        a.mask = a.mask ? a.mask + a.length / 8 : NULL;
    } while (left > 0);
}

static struct rp_access begin(enum rp_access_kind kind, uint64_t window,
                              const struct rp_function *function)
{
    end_run();
    return (struct rp_access){.kind = (uint8_t)kind,
                              .window = (uint32_t)window,
                              .owner = trace.own_rank,
                              .from = complete(),
                              .until = complete(),
                              .site = site_of(function),
                              .function = function->name};
}

void rp_access_trace_window(uint64_t window, bool dynamic, MPI_Aint unit, size_t size,
                            const struct rp_function *function)
{
    struct rp_access a = begin(RP_ACCESS_WINDOW, window, function);

    a.length = size;
    a.unit = unit > 0 ? (uint64_t)unit : 1;
    a.flavor = !dynamic                  ? RP_ACCESS_PLAIN
               : trace.order.version > 1 ? RP_ACCESS_DYNAMIC
                                         : RP_ACCESS_UNTOLD;
    rp_access_put(trace.writer, &a);
}

bool rp_access_trace_attached(uint64_t window, size_t nth, size_t size, uint64_t *address)
{
    for (size_t i = 0; i < trace.order.attaches; i++)
        if (trace.order.attached[i].window == window && nth-- == 0) {
            *address = trace.order.attached[i].address;
            return trace.order.attached[i].size == size;
        }
    return false;
}

/* Calls */

/* Where an access is: its bytes, if they are without holes. */
static bool locate(struct rp_access *a, MPI_Win win, int target, MPI_Aint disp, int64_t count,
                   MPI_Datatype type)
{
    struct rp_areas areas;
    MPI_Aint lb, extent;

    a->place = (int64_t)rp_window_recorded(win, target, disp);
    a->number = trace.accesses++;
    rp_areas_one(&areas, target != MPI_PROC_NULL, NULL, count, type);
    if (areas.count == 0 || !world_rank(rp_window_number(win), target, &a->owner))
        return false;
    rp_pmpi.Type_get_extent(type, &lb, &extent);
    a->known = areas.one.dense;
    a->length = areas.one.dense || extent <= 0
                    ? (uint64_t)count * areas.one.size
                    : (uint64_t)extent * (uint64_t)count; /* somewhere in this range */
    return true;
}

/* The bytes of an operand, if there are as many as are accessed. */
static bool is_like(const struct rp_access *a, const void *origin, int64_t count, MPI_Datatype type)
{
    struct rp_areas areas;

    rp_areas_one(&areas, 1, (void *)origin, count, type);
    return a->known && areas.count > 0 && areas.one.dense &&
           (uint64_t)count * areas.one.size == a->length;
}

void rp_access_trace_write(const struct rp_function *function, MPI_Win win, int target,
                           MPI_Aint disp, int64_t targetcount, MPI_Datatype targettype,
                           const void *origin, int64_t count, MPI_Datatype type, MPI_Op op)
{
    struct rp_access a = begin(RP_ACCESS_WRITE, rp_window_number(win), function);

    if (op == rp_partial.handle.no_op || !locate(&a, win, target, disp, targetcount, targettype))
        return;
    a.known = op == rp_partial.handle.replace && is_like(&a, origin, count, type);
    void *copy = NULL;
    a.value = a.known ? rp_device_read(origin, a.length, &copy) : NULL;
    put(a);
    free(copy);
}

static uint8_t *copy_of(const void *bytes, size_t length)
{
    uint8_t *copy = malloc(length ? length : 1);

    if (!copy)
        rp_bug(__FILE__, __LINE__, "out of memory");
    rp_device_copy(copy, bytes, length);
    return copy;
}

struct rp_traced_read *rp_access_trace_read(const struct rp_function *function, MPI_Win win,
                                            int target, MPI_Aint disp, int64_t targetcount,
                                            MPI_Datatype targettype)
{
    struct rp_access a = begin(RP_ACCESS_READ, rp_window_number(win), function);

    if (!locate(&a, win, target, disp, targetcount, targettype))
        return NULL;
    struct rp_traced_read *read = calloc(1, sizeof *read);
    if (!read)
        rp_bug(__FILE__, __LINE__, "out of memory");
    read->access = a;
    return read;
}

void rp_access_trace_operand(struct rp_traced_read *read, const void *origin, int64_t count,
                             MPI_Datatype type, MPI_Op op)
{
    if (!read || op == rp_partial.handle.no_op)
        return;
    read->updates = true;
    read->replaces = op == rp_partial.handle.replace;
    read->op = op;
    read->type = type;
    read->count = count;
    if (is_like(&read->access, origin, count, type))
        read->operand = copy_of(origin, read->access.length);
}

void rp_access_trace_swap(struct rp_traced_read *read, const void *origin, const void *compare)
{
    if (!read || !read->access.known)
        return;
    read->updates = read->swaps = true;
    read->operand = copy_of(origin, read->access.length);
    read->compare = copy_of(compare, read->access.length);
}

static int reduce(const struct rp_traced_read *read, uint8_t *value)
{
#if RP_HAS_LARGE_COUNTS
    return rp_pmpi.Reduce_local_c(read->operand, value, read->count, read->type, read->op);
#else
    return rp_pmpi.Reduce_local(read->operand, value, (int)read->count, read->type, read->op);
#endif
}

/* What the operation made of what it found; false: that is not known. */
static bool compute(const struct rp_traced_read *read, uint8_t *value)
{
    if (!read->operand)
        return false;
    if (read->swaps || read->replaces)
        memcpy(value, read->operand, read->access.length);
    else
        return reduce(read, value) == MPI_SUCCESS;
    return true;
}

static void put_update(const struct rp_traced_read *read, const uint8_t *found)
{
    struct rp_access a = read->access;

    if (read->swaps && memcmp(found, read->compare, a.length) != 0)
        return;
    uint8_t *value = copy_of(found, a.length);
    a.kind = RP_ACCESS_WRITE;
    a.known = a.known && compute(read, value);
    a.value = a.known ? value : NULL;
    put(a);
    free(value);
}

void rp_access_trace_got(struct rp_traced_read *read, const struct rp_area *area)
{
    struct rp_access *a = &read->access;
    void *copy = NULL;

    if (read->is_reported)
        return;
    read->is_reported = true;
    a->known = a->known && area->dense && (uint64_t)area->count * area->size == a->length;
    const uint8_t *found = a->known ? rp_device_read(area->buf, a->length, &copy) : NULL;
    a->value = found;
    a->until = complete() - 1;
    put(*a);
    if (read->updates && a->known)
        put_update(read, found);
    else if (read->updates) {
        a->kind = RP_ACCESS_WRITE;
        put(*a);
    }
    free(copy);
}

void rp_access_trace_forget(struct rp_traced_read *read)
{
    if (!read)
        return;
    free(read->operand);
    free(read->compare);
    free(read);
}

void rp_access_trace_done(const struct rp_function *function, MPI_Win win, int target)
{
    struct rp_access a = begin(RP_ACCESS_DONE, rp_window_number(win), function);

    a.owner = RP_ACCESS_ALL;
    if (target >= 0 && !world_rank(a.window, target, &a.owner))
        return;
    a.until = complete() - 1;
    rp_access_put(trace.writer, &a);
}

/* The program's own memory */

static uint8_t changed_bytes(const uint8_t *now, const uint8_t *before, size_t count)
{
    uint8_t mask = 0;

    for (size_t i = 0; i < count; i++)
        mask |= (uint8_t)((now[i] != before[i]) << i);
    return mask;
}

/* Runs of words of eight bytes in which something changed. */
static void put_stores(struct rp_access *a, uint64_t origin, const uint8_t *now,
                       const uint8_t *before, size_t at, size_t end)
{
    uint8_t mask[RP_ACCESS_PIECE / 8];
    size_t first = 0, words = 0;

    for (; at < end; at += 8) {
        size_t width = end - at < 8 ? end - at : 8;
        uint8_t changed = changed_bytes(now + at, before + at, width);
        if (changed && words == 0)
            first = at;
        if (changed)
            mask[words++] = changed;
        if (words > 0 && (!changed || at + 8 >= end || words == sizeof mask)) {
            a->place = (int64_t)(origin + first);
            a->length = (changed ? at + width : at) - first;
            a->value = now + first;
            a->mask = mask;
            rp_access_put(trace.writer, a);
            words = 0;
        }
    }
}

bool rp_access_trace_stores(const struct rp_function *function, uint64_t window, int member,
                            uint64_t origin, uint64_t from, const uint8_t *now, uint8_t *before,
                            size_t size)
{
    enum { PAGE = 4096 };
    struct rp_access a = begin(RP_ACCESS_STORE, window, function);
    bool any = false;

    if (member >= 0 && !world_rank(window, member, &a.owner))
        return false;
    a.from = from;
    a.known = true;
    a.number = trace.accesses++;
    for (size_t at = 0; at < size; at += PAGE) {
        size_t end = size - at < PAGE ? size : at + PAGE;
        if (memcmp(now + at, before + at, end - at) == 0)
            continue;
        put_stores(&a, origin, now, before, at, end);
        memcpy(before + at, now + at, end - at);
        any = true;
    }
    return any;
}

void rp_access_trace_out(const struct rp_function *function, uint64_t window)
{
    struct rp_access a = begin(RP_ACCESS_OUT, window, function);

    rp_access_put(trace.writer, &a);
}

void rp_access_trace_change(const struct rp_function *function, uint64_t window, int member,
                            size_t at, const uint8_t *value, size_t length)
{
    struct rp_access a = begin(RP_ACCESS_CHANGE, window, function);

    if (member >= 0 && !world_rank(window, member, &a.owner))
        return;
    a.place = (int64_t)at;
    a.length = length;
    a.known = true;
    a.value = value;
    a.number = trace.accesses++;
    put(a);
}

static bool goes_on(const struct rp_access *a)
{
    const struct rp_access *r = &run.access;

    return run.is_there && r->window == a->window && r->owner == a->owner && r->site == a->site &&
           r->from == a->from && r->place + (int64_t)r->length == a->place &&
           r->length + a->length <= RP_ACCESS_PIECE;
}

static void add_to_run(const struct rp_access *a)
{
    if (!goes_on(a)) {
        end_run();
        run.is_there = true;
        run.access = *a;
        run.access.length = 0;
        run.access.value = run.value;
        run.access.number = trace.accesses++;
    }
    memcpy(run.value + run.access.length, a->value, a->length);
    run.access.length += a->length;
}

void rp_access_trace_direct(bool loads, uint64_t window, int member, size_t at,
                            const uint8_t *value, size_t length, uint64_t load, bool known)
{
    const struct rp_function *function = loads ? &loaded : &stored;
    struct rp_access a = {.kind = loads ? RP_ACCESS_LOAD : RP_ACCESS_DIRECT,
                          .window = (uint32_t)window,
                          .owner = trace.own_rank,
                          .place = (int64_t)at,
                          .length = length,
                          .from = complete(),
                          .until = complete() + 1,
                          .known = known,
                          .value = known ? value : NULL,
                          .load = load,
                          .site = site_of(function),
                          .function = function->name};

    if (member >= 0 && !world_rank(window, member, &a.owner))
        return;
    if (!loads && length <= RP_ACCESS_PIECE) {
        add_to_run(&a);
        return;
    }
    end_run();
    a.number = trace.accesses++;
    put(a);
}
