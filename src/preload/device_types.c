/* SPDX-License-Identifier: MIT */
/*
 * The type map of a datatype, as runs of bytes in its order: what MPI_Type_get_contents says is
 * followed down to the named types. An element's runs are found once and then repeated. Bytes
 * between the runs are never written: a kernel may be working there.
 *
 * MPI lets a message have parts in several allocations only at MPI_BOTTOM. So elsewhere its first
 * byte tells where all of it is; at MPI_BOTTOM each run is asked for.
 */
#include "preload/device_types.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/device_memory.h"
#include "base/diagnostics.h"
#include "preload/constants.h"
#include "reprise.h"

enum { INT_BYTES = sizeof(int), SPARSE = 16 };

struct run {
    MPI_Aint at;
    size_t bytes;
};

struct runs {
    struct run *run;
    size_t count;
    const char *unknown; /* what of it could not be walked; its first byte is there */
};

/* The real functions. Some of our libraries have no table of them that has these. */
static struct {
    int (*get_envelope)(MPI_Datatype, int *, int *, int *, int *);
    int (*get_contents)(MPI_Datatype, int, int, int, int *, MPI_Aint *, MPI_Datatype *);
    int (*get_extent)(MPI_Datatype, MPI_Aint *, MPI_Aint *);
    int (*get_true_extent)(MPI_Datatype, MPI_Aint *, MPI_Aint *);
    int (*size)(MPI_Datatype, MPI_Count *);
    int (*free)(MPI_Datatype *);
    int (*abort)(MPI_Comm, int);
} real;

static void find_symbol(const char *name, void *slot)
{
    void *symbol = rp_library_symbol(name);

    if (!symbol)
        rp_bug(__FILE__, __LINE__, name);
    memcpy(slot, &symbol, sizeof symbol);
}

static void find_all(void)
{
    find_symbol("PMPI_Type_get_envelope", &real.get_envelope);
    find_symbol("PMPI_Type_get_contents", &real.get_contents);
    find_symbol("PMPI_Type_get_extent", &real.get_extent);
    find_symbol("PMPI_Type_get_true_extent", &real.get_true_extent);
    find_symbol("PMPI_Type_size_x", &real.size);
    find_symbol("PMPI_Type_free", &real.free);
    find_symbol("PMPI_Abort", &real.abort);
}

static void find_functions(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_all);
}

static void refuse_unknown(const char *what)
{
    rp_error("a message in device memory has %s, which reprise cannot copy: pack it before it is "
             "sent",
             what);
    real.abort(rp_constant.world, REPRISE_EXIT_UNSUPPORTED);
    _exit(REPRISE_EXIT_UNSUPPORTED);
}

/* Runs */

static void add(struct runs *runs, MPI_Aint at, size_t bytes)
{
    struct run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

    if (bytes == 0)
        return;
    if (last && last->at + (MPI_Aint)last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    if (!rp_array_grow((void **)&runs->run, runs->count, sizeof *runs->run))
        rp_bug(__FILE__, __LINE__, "out of memory for a datatype");
    runs->run[runs->count++] = (struct run){at, bytes};
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lower, extent;

    real.get_extent(type, &lower, &extent);
    return extent;
}

static void add_unknown(struct runs *runs, MPI_Datatype type, MPI_Aint at, const char *what)
{
    MPI_Aint lower = 0, extent;

    real.get_true_extent(type, &lower, &extent);
    add(runs, at + lower, 1);
    runs->unknown = what;
}

static void add_element(struct runs *runs, MPI_Datatype type, MPI_Aint at);

/* `count` elements, `stride` bytes from one to the next. */
static void add_elements(struct runs *runs, MPI_Datatype type, MPI_Aint at, MPI_Aint count,
                         MPI_Aint stride)
{
    struct runs one = {0};

    if (count > 0)
        add_element(&one, type, 0);
    if (one.count == 1 && (MPI_Aint)one.run->bytes == stride)
        add(runs, at + one.run->at, one.run->bytes * (size_t)count);
    else
        for (MPI_Aint i = 0; i < count; i++)
            for (size_t k = 0; k < one.count; k++)
                add(runs, at + i * stride + one.run[k].at, one.run[k].bytes);
    if (one.unknown)
        runs->unknown = one.unknown;
    free(one.run);
}

/* A value and an int, such as MPI_DOUBLE_INT, may have gaps. */
static void add_named(struct runs *runs, MPI_Datatype type, MPI_Aint at)
{
    MPI_Count size = 0;

    real.size(type, &size);
    if (size >= extent_of(type) || size <= INT_BYTES) {
        add(runs, at, (size_t)size);
        return;
    }
    size_t value = (size_t)size - INT_BYTES;
    add(runs, at, value);
    add(runs, at + (MPI_Aint)((value + INT_BYTES - 1) / INT_BYTES * INT_BYTES), INT_BYTES);
}

/* What MPI_Type_get_contents says. */
struct contents {
    int combiner;
    int *i;
    MPI_Aint *a;
    MPI_Datatype *t;
    int types;
};

static void add_blocks(struct runs *runs, MPI_Datatype type, MPI_Aint at, int count, int block,
                       MPI_Aint stride)
{
    MPI_Aint extent = extent_of(type);

    for (int k = 0; k < count; k++)
        add_elements(runs, type, at + k * stride, block, extent);
}

/* Behind the standard ABI, Open MPI 6.0 describes arrays by numbers of its own, which the ABI does
 * not use. */
#ifdef RP_STANDARD_ABI
enum { OWN_ORDER_C = 0, OWN_BLOCK = 0, OWN_NONE = 2, OWN_DEFAULT = -1 };
#else
enum {
    OWN_ORDER_C = MPI_ORDER_C,
    OWN_BLOCK = MPI_DISTRIBUTE_BLOCK,
    OWN_NONE = MPI_DISTRIBUTE_NONE,
    OWN_DEFAULT = MPI_DISTRIBUTE_DFLT_DARG
};
#endif

/* Arrays of which a process has some indices in each dimension. */
struct grid {
    int dims;
    bool is_c;        /* the last dimension is next in memory, else the first */
    const int *sizes; /* of the whole array */
    int **indices;    /* of each dimension, ascending */
    int *counts;
};

static struct grid make_grid(int dims, int order, const int *sizes)
{
    struct grid grid = {dims, order == MPI_ORDER_C || order == OWN_ORDER_C, sizes,
                        calloc((size_t)dims + 1, sizeof *grid.indices),
                        calloc((size_t)dims + 1, sizeof *grid.counts)};

    if (!grid.indices || !grid.counts)
        rp_bug(__FILE__, __LINE__, "out of memory for a datatype");
    for (int k = 0; k < dims; k++) {
        grid.indices[k] = calloc((size_t)sizes[k] + 1, sizeof **grid.indices);
        if (!grid.indices[k])
            rp_bug(__FILE__, __LINE__, "out of memory for a datatype");
    }
    return grid;
}

static void free_grid(struct grid *grid)
{
    for (int k = 0; k < grid->dims; k++)
        free(grid->indices[k]);
    free(grid->indices);
    free(grid->counts);
}

/* From dimension `k` on, counted from the outermost; `place`: in elements, so far. */
static void add_grid(struct runs *runs, const struct grid *grid, int k, MPI_Aint place,
                     const struct runs *element, MPI_Aint extent, MPI_Aint at)
{
    int dim = grid->is_c ? k : grid->dims - 1 - k;

    if (k == grid->dims) {
        for (size_t i = 0; i < element->count; i++)
            add(runs, at + place * extent + element->run[i].at, element->run[i].bytes);
        return;
    }
    for (int i = 0; i < grid->counts[dim]; i++)
        add_grid(runs, grid, k + 1, place * grid->sizes[dim] + grid->indices[dim][i], element,
                 extent, at);
}

static void add_array(struct runs *runs, const struct grid *grid, MPI_Datatype type, MPI_Aint at)
{
    struct runs element = {0};

    add_element(&element, type, 0);
    add_grid(runs, grid, 0, 0, &element, extent_of(type), at);
    if (element.unknown)
        runs->unknown = element.unknown;
    free(element.run);
}

static void add_subarray(struct runs *runs, const struct contents *c, MPI_Aint at)
{
    int dims = c->i[0];
    const int *sizes = c->i + 1, *parts = sizes + dims, *starts = parts + dims;
    struct grid grid = make_grid(dims, starts[dims], sizes);

    for (int k = 0; k < dims; k++)
        while (grid.counts[k] < parts[k]) {
            grid.indices[k][grid.counts[k]] = starts[k] + grid.counts[k];
            grid.counts[k]++;
        }
    add_array(runs, &grid, c->t[0], at);
    free_grid(&grid);
}

/* Whether the process with this coordinate has the index. */
static bool is_dealt(int index, int size, int how, int block, int processes, int coordinate)
{
    bool is_block = how == MPI_DISTRIBUTE_BLOCK || how == OWN_BLOCK;

    if (how == MPI_DISTRIBUTE_NONE || how == OWN_NONE)
        return true;
    if (block == MPI_DISTRIBUTE_DFLT_DARG || block == OWN_DEFAULT)
        block = is_block ? (size + processes - 1) / processes : 1;
    return index / block % processes == coordinate;
}

/* The processes are a grid in the order of C, whatever that of the array is. */
static void add_darray(struct runs *runs, const struct contents *c, MPI_Aint at)
{
    int dims = c->i[2], rest = c->i[1];
    const int *sizes = c->i + 3, *how = sizes + dims, *blocks = how + dims,
              *processes = blocks + dims;
    struct grid grid = make_grid(dims, processes[dims], sizes);

    for (int k = dims - 1; k >= 0; rest /= processes[k], k--)
        for (int i = 0; i < sizes[k]; i++)
            if (is_dealt(i, sizes[k], how[k], blocks[k], processes[k], rest % processes[k]))
                grid.indices[k][grid.counts[k]++] = i;
    add_array(runs, &grid, c->t[0], at);
    free_grid(&grid);
}

static void add_made(struct runs *runs, const struct contents *c, MPI_Datatype type, MPI_Aint at)
{
    MPI_Aint extent = c->types ? extent_of(c->t[0]) : 0;

    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        add_element(runs, c->t[0], at);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        add_elements(runs, c->t[0], at, c->i[0], extent);
        break;
    case MPI_COMBINER_VECTOR:
        add_blocks(runs, c->t[0], at, c->i[0], c->i[1], c->i[2] * extent);
        break;
    case MPI_COMBINER_HVECTOR:
        add_blocks(runs, c->t[0], at, c->i[0], c->i[1], c->a[0]);
        break;
    case MPI_COMBINER_INDEXED:
        for (int k = 0; k < c->i[0]; k++)
            add_elements(runs, c->t[0], at + c->i[1 + c->i[0] + k] * extent, c->i[1 + k], extent);
        break;
    case MPI_COMBINER_HINDEXED:
        for (int k = 0; k < c->i[0]; k++)
            add_elements(runs, c->t[0], at + c->a[k], c->i[1 + k], extent);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        for (int k = 0; k < c->i[0]; k++)
            add_elements(runs, c->t[0], at + c->i[2 + k] * extent, c->i[1], extent);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (int k = 0; k < c->i[0]; k++)
            add_elements(runs, c->t[0], at + c->a[k], c->i[1], extent);
        break;
    case MPI_COMBINER_STRUCT:
        for (int k = 0; k < c->i[0]; k++)
            add_elements(runs, c->t[k], at + c->a[k], c->i[1 + k], extent_of(c->t[k]));
        break;
    case MPI_COMBINER_SUBARRAY:
        add_subarray(runs, c, at);
        break;
    case MPI_COMBINER_DARRAY:
        add_darray(runs, c, at);
        break;
    default:
        add_unknown(runs, type, at, "a datatype of a kind that reprise does not know");
    }
}

static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

/* MPI gives types that it has made for the caller. */
static void free_contents(struct contents *c)
{
    for (int k = 0; k < c->types; k++) {
        int integers, addresses, types, combiner;
        if (real.get_envelope(c->t[k], &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
            !is_predefined(combiner))
            real.free(&c->t[k]);
    }
    free(c->i);
    free(c->a);
    free(c->t);
}

static void add_element(struct runs *runs, MPI_Datatype type, MPI_Aint at)
{
    static const char not_told[] = "a datatype of which MPI does not tell how it was made";
    struct contents c = {0};
    int integers, addresses;

    if (real.get_envelope(type, &integers, &addresses, &c.types, &c.combiner) != MPI_SUCCESS) {
        add_unknown(runs, type, at, not_told);
        return;
    }
    if (is_predefined(c.combiner)) {
        add_named(runs, type, at);
        return;
    }
    c.i = calloc((size_t)integers + 1, sizeof *c.i);
    c.a = calloc((size_t)addresses + 1, sizeof *c.a);
    c.t = calloc((size_t)c.types + 1, sizeof *c.t);
    if (!c.i || !c.a || !c.t)
        rp_bug(__FILE__, __LINE__, "out of memory for a datatype");
    if (real.get_contents(type, integers, addresses, c.types, c.i, c.a, c.t) == MPI_SUCCESS) {
        add_made(runs, &c, type, at);
    } else {
        c.types = 0;
        add_unknown(runs, type, at, not_told);
    }
    free_contents(&c);
}

/* Messages */

static void *at(const void *buf, MPI_Aint distance)
{
    return (void *)((uintptr_t)buf + (uintptr_t)distance);
}

static bool any_in_device(MPI_Count count, MPI_Datatype type)
{
    struct runs runs = {0};
    MPI_Aint extent = extent_of(type);
    bool found = false;

    add_element(&runs, type, 0);
    for (MPI_Count i = 0; i < count && !found; i++)
        for (size_t k = 0; k < runs.count && !found; k++)
            found = rp_is_device(at(NULL, (MPI_Aint)i * extent + runs.run[k].at));
    free(runs.run);
    return found;
}

bool rp_device_holds(const void *buf, MPI_Count count, MPI_Datatype type)
{
    MPI_Aint lower = 0, extent;

    if (count <= 0 || !rp_device_has_driver())
        return false;
    find_functions();
    if (!buf)
        return any_in_device(count, type);
    real.get_true_extent(type, &lower, &extent);
    return rp_is_device(at(buf, lower));
}

enum way { PACK, PACK_FROM_HOST, UNPACK };

struct copying {
    enum way way;
    struct runs runs;
    MPI_Aint extent;
    uint8_t *packed;
    size_t left; /* bytes of `packed` */
};

static struct copying start(enum way way, MPI_Datatype type, const void *packed, size_t bytes)
{
    struct copying c = {.way = way, .packed = (uint8_t *)(uintptr_t)packed, .left = bytes};

    find_functions();
    c.extent = extent_of(type);
    add_element(&c.runs, type, 0);
    if (c.runs.unknown)
        refuse_unknown(c.runs.unknown);
    return c;
}

static void copy_elements(struct copying *c, const void *buf, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++)
        for (size_t k = 0; k < c->runs.count && c->left > 0; k++) {
            const struct run *run = &c->runs.run[k];
            size_t bytes = run->bytes < c->left ? run->bytes : c->left;
            void *there = at(buf, (MPI_Aint)i * c->extent + run->at);
            if (c->way == UNPACK)
                rp_device_copy(there, c->packed, bytes);
            else if (c->way == PACK)
                rp_device_copy(c->packed, there, bytes);
            else
                memcpy(c->packed, there, bytes);
            c->packed += bytes;
            c->left -= bytes;
        }
}

/* All of it in one allocation, and mostly data: one copy is quicker than many. What is between the
 * data is only read. Returns the copy, as far as `buf` is from its first byte. */
static void *read_span(const void *buf, MPI_Count count, MPI_Datatype type, size_t bytes,
                       void **copy)
{
    MPI_Aint lower, extent = 0;

    real.get_true_extent(type, &lower, &extent);
    MPI_Aint more = (MPI_Aint)(count - 1) * extent_of(type), low = lower + (more < 0 ? more : 0);
    size_t span = (size_t)(extent + (more < 0 ? -more : more));
    *copy = NULL;
    if (!buf || count <= 0 || span / SPARSE > bytes)
        return NULL;
    const void *read = rp_device_read(at(buf, low), span, copy);
    return *copy ? at(read, -low) : NULL;
}

size_t rp_device_pack(const void *buf, MPI_Count count, MPI_Datatype type, void *out, size_t bytes)
{
    struct copying c = start(PACK, type, out, bytes);
    void *copy;
    const void *span = read_span(buf, count, type, bytes, &copy);

    if (copy)
        c.way = PACK_FROM_HOST;
    copy_elements(&c, copy ? span : buf, count);
    free(copy);
    free(c.runs.run);
    return bytes - c.left;
}

void rp_device_unpack(const void *in, size_t bytes, void *buf, MPI_Count count, MPI_Datatype type)
{
    struct copying c = start(UNPACK, type, in, bytes);

    copy_elements(&c, buf, count);
    free(c.runs.run);
}
