/* SPDX-License-Identifier: MIT */
/*
 * One-sided communication. Other ranks write into a rank's memory while it runs, so the memory that they write into (public) is not the memory that the program works on (its own): what the two have
 * in common is kept a third time (shadow). Bytes of the program's that differ from the shadow were stored by the program, and go out to the public memory where MPI says that they must become visible; bytes of the public memory
 * that differ were written by others, and come in, where MPI says that they may be seen: at the calls that synchronise. Only what came in is written down. So a program sees changes at these calls alone, and a rank alone
 * sees the same ones. Memory that is attached to a dynamic window cannot be split, since others know its addresses: everything that changed in it since the last such call is written down, whoever stored it.
 *
 * Results of reads (Get and the like) are the program's when the call returns that completes them; they are written down then.
 *
 * Both are told by entries of no MPI function, before that of the call: `window` and `got`. Alone, nothing else is needed: the calls themselves say only what they returned.
 */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "data/data.h"

const struct rp_function rp_f_window = {RP_WINDOW_NUMBER, "window"}, rp_f_got = {RP_GOT_NUMBER, "got"};

struct region {
    char *own, *public, *shadow; /* alone, only the first */
    size_t size;
    bool allocated; /* `own` is ours to free */
    struct region *next;
};

struct window {
    MPI_Win win;
    uint64_t number;
    int self; /* this rank in it */
    bool passive, dynamic;
    bool accesses, updates_self; /* of this rank, since the last flush that was asked about them */
    struct region *regions; /* the newest first */
    MPI_Aint size; /* attributes, alone */
    int disp_unit, flavor, model;
    struct window *next;
};

struct pending {
    uint64_t number;
    MPI_Win win;
    int target;
    struct rp_areas areas;
    struct pending *next;
};

static struct window *windows;
static uint64_t windows_made, reads_made;
static struct pending *reads, **last_read = &reads;
int rp_windows_passive;
uint32_t rp_updates;

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(64, (size + 127) / 64 * 64);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    memset(memory, 0, size + 1);
    return memory;
}

static struct window *find(MPI_Win win)
{
    for (struct window *w = windows; w; w = w->next)
        if (w->win == win)
            return w;
    return NULL;
}

static struct window *add_window(MPI_Win win, int self)
{
    struct window *w = allocate(sizeof *w);

    *w = (struct window){.win = win, .number = windows_made++, .self = self, .next = windows};
    windows = w;
    return w;
}

static struct region *add_region(struct window *w, void *own, void *public, size_t size, bool allocated)
{
    struct region *r = allocate(sizeof *r);

    *r = (struct region){.own = own, .public = public, .size = size, .allocated = allocated, .next = w->regions};
    w->regions = r;
    return r;
}

static void free_region(struct region *r)
{
    if (r->public != r->own && !r->allocated)
        free(r->public); /* of a window of the program's own memory */
    if (r->allocated)
        free(r->own);
    free(r->shadow);
    free(r);
}

static void remove_window(MPI_Win win)
{
    for (struct window **at = &windows; *at; at = &(*at)->next)
        if ((*at)->win == win) {
            struct window *w = *at;
            *at = w->next;
            rp_windows_passive -= w->passive;
            while (w->regions) {
                struct region *r = w->regions;
                w->regions = r->next;
                free_region(r);
            }
            free(w);
            return;
        }
}

/* Recording: what the program stored goes out. */

enum { PAGE = 4096 };

static void bytes_out(struct region *r, size_t at, size_t length)
{
    for (size_t i = at; i < at + length; i++)
        if (r->own[i] != r->shadow[i])
            r->public[i] = r->shadow[i] = r->own[i];
}

/* By words, unless others have changed a part of one. */
static void page_out(struct region *r, size_t at, size_t length)
{
    size_t i = at;

    for (; i + sizeof(uint64_t) <= at + length; i += sizeof(uint64_t)) {
        uint64_t own, shadow, public;
        memcpy(&own, r->own + i, sizeof own);
        memcpy(&shadow, r->shadow + i, sizeof shadow);
        if (own == shadow)
            continue;
        memcpy(&public, r->public + i, sizeof public);
        if (public != shadow) {
            bytes_out(r, i, sizeof own);
            continue;
        }
        memcpy(r->public + i, &own, sizeof own);
        memcpy(r->shadow + i, &own, sizeof own);
    }
    bytes_out(r, i, at + length - i);
}

static void region_out(struct region *r)
{
    if (r->public == r->own)
        return;
    for (size_t at = 0; at < r->size; at += PAGE) {
        size_t length = r->size - at < PAGE ? r->size - at : PAGE;
        if (memcmp(r->own + at, r->shadow + at, length) != 0)
            page_out(r, at, length);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* What others stored comes in. */

static void put_run(struct region *r, uint64_t number, size_t at, size_t length)
{
    static char copy[PAGE]; /* others may go on writing */

    memcpy(copy, r->public + at, length);
    memcpy(r->own + at, copy, length);
    memcpy(r->shadow + at, copy, length);
    rp_record_number(number + 1);
    rp_record_number(at);
    rp_data_put_content(rp_data_writer, copy, length);
}

static void begin_once(const struct window *w, bool *begun)
{
    if (*begun)
        return;
    rp_data_begin(rp_data_writer, rp_f_window.number, rp_f_window.name);
    rp_record_number(w->number);
    *begun = true;
}

/* Runs that few bytes part are one. */
static void page_in(struct window *w, struct region *r, uint64_t number, size_t at, size_t length, bool *begun)
{
    enum { GAP = 8 };
    const volatile char *public = r->public;

    for (size_t i = at; i < at + length;) {
        uint64_t there, here;
        if (i + sizeof here <= at + length) {
            memcpy(&there, r->public + i, sizeof there);
            memcpy(&here, r->shadow + i, sizeof here);
            if (there == here) {
                i += sizeof here;
                continue;
            }
        }
        if (public[i] == r->shadow[i]) {
            i++;
            continue;
        }
        size_t end = i + 1, same = 0;
        while (end + same < at + length && same < GAP)
            if (public[end + same] == r->shadow[end + same]) {
                same++;
            } else {
                end += same + 1;
                same = 0;
            }
        begin_once(w, begun);
        put_run(r, number, i, end - i);
        i = end + same;
    }
}

static void in(struct window *w)
{
    bool begun = false;
    uint64_t number = 0;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct region *r = w->regions; r; r = r->next, number++)
        for (size_t at = 0; at < r->size; at += PAGE) {
            size_t length = r->size - at < PAGE ? r->size - at : PAGE;
            if (memcmp(r->public + at, r->shadow + at, length) != 0)
                page_in(w, r, number, at, length, &begun);
        }
    if (begun) {
        rp_record_number(0);
        rp_record_end();
    }
}

void rp_windows_out(MPI_Win win)
{
    struct window *w = find(win);

    for (struct region *r = w ? w->regions : NULL; r; r = r->next)
        region_out(r);
}

void rp_windows_in(MPI_Win win)
{
    struct window *w = find(win);

    if (w)
        in(w);
}

void rp_window_update(MPI_Win win, int target)
{
    struct window *w = find(win);

    if (!w)
        return;
    w->accesses = true;
    w->updates_self |= target == w->self;
}

void rp_window_read(MPI_Win win)
{
    struct window *w = find(win);

    if (w)
        w->accesses = true;
}

int64_t rp_window_place(MPI_Win win, MPI_Aint disp)
{
    const struct window *w = find(win);

    return w && w->dynamic ? 0 : (int64_t)disp;
}

/* A flush behind accesses is for them; one without is a poll. */
bool rp_window_merges(MPI_Win win)
{
    struct window *w = find(win);
    bool merges = w && (!w->accesses || w->updates_self);

    if (w)
        w->accesses = w->updates_self = false;
    return merges;
}

bool rp_window_is_self(MPI_Win win, int rank)
{
    const struct window *w = find(win);

    return w && w->self == rank;
}

void rp_window_set_passive(MPI_Win win, bool passive)
{
    struct window *w = find(win);

    if (!w || w->passive == passive)
        return;
    w->passive = passive;
    rp_windows_passive += passive ? 1 : -1;
}

/* Where a program is told by a message or a collective call that others wrote, or tells them: the unified model. */
void rp_windows_all_out(void)
{
    for (struct window *w = windows; w; w = w->next)
        for (struct region *r = w->passive ? w->regions : NULL; r; r = r->next)
            region_out(r);
}

void rp_windows_all_in(void)
{
    for (struct window *w = windows; w; w = w->next)
        if (w->passive)
            in(w);
}

/* Alone */

void rp_alone_window(void)
{
    uint64_t number = rp_alone_number(), region;
    struct window *w = windows;

    while (w && w->number != number)
        w = w->next;
    while ((region = rp_alone_number()) != 0) {
        uint64_t at = rp_alone_number();
        size_t length;
        const uint8_t *content = rp_data_get_content(rp_data_reader, &length);
        struct region *r = w ? w->regions : NULL;
        for (uint64_t i = 1; r && i < region; i++)
            r = r->next;
        if (!content)
            return;
        if (!r || at > r->size || length > r->size - at) {
            rp_error("not the recorded run: others wrote into a window that is not there");
            rp_data_end_job(121);
        }
        memcpy(r->own + at, content, length);
    }
}

/* Reads */

void rp_reads_add(MPI_Win win, int target, struct rp_areas *areas)
{
    struct pending *p = allocate(sizeof *p);

    *p = (struct pending){.number = reads_made++, .win = win, .target = target, .areas = *areas};
    rp_areas_keep(&p->areas);
    *last_read = p;
    last_read = &p->next;
}

static void drop(struct pending **at)
{
    struct pending *p = *at;

    *at = p->next;
    if (!p->next)
        last_read = at;
    rp_areas_free(&p->areas);
    free(p);
}

void rp_reads_done(MPI_Win win, int target)
{
    for (struct pending **at = &reads; *at;) {
        struct pending *p = *at;
        if (p->win != win || (target >= 0 && p->target != target)) {
            at = &p->next;
            continue;
        }
        rp_data_begin(rp_data_writer, rp_f_got.number, rp_f_got.name);
        rp_record_number(p->number);
        rp_areas_put(&p->areas, -1);
        rp_record_end();
        drop(at);
    }
}

void rp_alone_got(void)
{
    uint64_t number = rp_alone_number();

    for (struct pending **at = &reads; *at; at = &(*at)->next)
        if ((*at)->number == number) {
            rp_areas_fill(&(*at)->areas);
            drop(at);
            return;
        }
    rp_error("not the recorded run: the record tells of a read that the program did not make");
    rp_data_end_job(121);
}

/* Windows come and go. Alone, a window of this process stands for the real one. */

static int rank_in(MPI_Comm comm)
{
    int rank = -1;

    rp_pmpi.Comm_rank(comm, &rank);
    return rank;
}

static int alone_window(const struct rp_function *function, MPI_Aint size, MPI_Comm comm, MPI_Win *win, struct window **made)
{
    int rc = rp_alone_begin(function, true, rp_check(0, size));
    void *unused;

    rp_alone_end();
    if (rc != MPI_SUCCESS) {
        rp_alone_error_comm(comm, rc);
        return rc;
    }
    rp_data_off++;
    rc = rp_pmpi.Win_allocate(1, 1, rp_constant.info_null, rp_constant.self, &unused, win);
    rp_data_off--;
    if (rc == MPI_SUCCESS)
        *made = add_window(*win, -1);
    return rc;
}

int rp_record_Win_create(const struct rp_next *next, void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    char *public = allocate((size_t)size), *shadow = allocate((size_t)size);

    memcpy(public, base, (size_t)size);
    memcpy(shadow, base, (size_t)size);
    rp_data_off++;
    int rc = next->Win_create(public, size, disp_unit, info, comm, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_create, true, rp_check(0, size), rc);
    rp_record_end();
    if (rc == MPI_SUCCESS) {
        add_region(add_window(*win, rank_in(comm)), base, public, (size_t)size, false)->shadow = shadow;
    } else {
        free(public);
        free(shadow);
    }
    return rc;
}

int rp_alone_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_create, size, comm, win, &w);

    (void)disp_unit, (void)info;
    if (w)
        add_region(w, base, base, (size_t)size, false);
    return rc;
}

int rp_record_Win_allocate(const struct rp_next *next, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    void *public = NULL;

    rp_data_off++;
    int rc = next->Win_allocate(size, disp_unit, info, comm, &public, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_allocate, true, rp_check(0, size), rc);
    rp_record_end();
    if (rc != MPI_SUCCESS)
        return rc;
    struct region *r = add_region(add_window(*win, rank_in(comm)), allocate((size_t)size), public, (size_t)size, true);
    r->shadow = allocate((size_t)size);
    *(void **)base = r->own;
    return rc;
}

int rp_alone_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_allocate, size, comm, win, &w);

    (void)disp_unit, (void)info;
    if (w)
        *(void **)base = add_region(w, allocate((size_t)size), NULL, (size_t)size, true)->own;
    return rc;
}

int rp_record_Win_create_dynamic(const struct rp_next *next, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    rp_data_off++;
    int rc = next->Win_create_dynamic(info, comm, win);
    rp_data_off--;
    rp_record_begin(&rp_f_Win_create_dynamic, true, rp_check(0, 0), rc);
    rp_record_end();
    if (rc == MPI_SUCCESS)
        add_window(*win, rank_in(comm))->dynamic = true;
    return rc;
}

int rp_alone_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct window *w = NULL;
    int rc = alone_window(&rp_f_Win_create_dynamic, 0, comm, win, &w);

    (void)info;
    if (w)
        w->dynamic = true;
    return rc;
}

int rp_record_Win_attach(const struct rp_next *next, MPI_Win win, void *base, MPI_Aint size)
{
    struct window *w = find(win);

    rp_data_off++;
    int rc = next->Win_attach(win, base, size);
    rp_data_off--;
    if (rc == MPI_SUCCESS && w) {
        struct region *r = add_region(w, base, base, (size_t)size, false);
        r->shadow = allocate((size_t)size);
        memcpy(r->shadow, base, (size_t)size);
    }
    rp_record_begin(&rp_f_Win_attach, true, rp_check(0, size), rc);
    rp_record_end();
    return rc;
}

static void detach(struct window *w, const void *base)
{
    for (struct region **at = &w->regions; *at; at = &(*at)->next)
        if ((*at)->own == base) {
            struct region *r = *at;
            *at = r->next;
            free_region(r);
            return;
        }
}

int rp_alone_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    int rc = rp_alone_begin(&rp_f_Win_attach, true, rp_check(0, size));
    struct window *w = find(win);

    rp_alone_end();
    if (rc == MPI_SUCCESS && w)
        add_region(w, base, base, (size_t)size, false);
    return rc;
}

int rp_record_Win_detach(const struct rp_next *next, MPI_Win win, const void *base)
{
    struct window *w = find(win);

    rp_windows_in(win);
    rp_data_off++;
    int rc = next->Win_detach(win, base);
    rp_data_off--;
    if (rc == MPI_SUCCESS && w)
        detach(w, base);
    rp_record_begin(&rp_f_Win_detach, false, 0, rc);
    rp_record_end();
    return rc;
}

int rp_alone_Win_detach(MPI_Win win, const void *base)
{
    int rc = rp_alone_begin(&rp_f_Win_detach, false, 0);
    struct window *w = find(win);

    rp_alone_end();
    if (rc == MPI_SUCCESS && w)
        detach(w, base);
    return rc;
}

/* What others wrote until the end is the program's, unless the memory goes with the window. */
int rp_record_Win_free(const struct rp_next *next, MPI_Win *win)
{
    struct window *w = find(*win);
    MPI_Win handle = *win;

    rp_windows_out(handle);
    int rc = next->Win_free(win);
    if (rc == MPI_SUCCESS && w) {
        if (!w->regions || !w->regions->allocated)
            in(w);
        remove_window(handle);
    }
    rp_record_begin(&rp_f_Win_free, false, 0, rc);
    rp_record_end();
    return rc;
}

int rp_alone_Win_free(MPI_Win *win)
{
    MPI_Win handle = *win;
    int made = rp_pmpi.Win_free(win);
    int rc = rp_alone_begin(&rp_f_Win_free, false, 0);

    (void)made;
    rp_alone_end();
    remove_window(handle);
    return rc;
}

/* Attributes that MPI itself sets; all others are the program's own. */

static bool is_predefined(int keyval)
{
    return keyval == MPI_WIN_BASE || keyval == MPI_WIN_SIZE || keyval == MPI_WIN_DISP_UNIT || keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL;
}

int rp_record_Win_get_attr(const struct rp_next *next, MPI_Win win, int keyval, void *value, int *flag)
{
    int rc = next->Win_get_attr(win, keyval, value, flag);
    struct window *w = find(win);

    if (!is_predefined(keyval) || !w)
        return rc;
    rp_record_begin(&rp_f_Win_get_attr, true, rp_check(0, keyval), rc);
    rp_record_number(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag && keyval == MPI_WIN_BASE)
        *(void **)value = w->regions && !w->dynamic ? w->regions->own : NULL;
    else if (rc == MPI_SUCCESS && *flag)
        rp_data_put_signed(rp_data_writer, keyval == MPI_WIN_SIZE ? (int64_t) * *(MPI_Aint **)value : **(int **)value);
    rp_record_end();
    return rc;
}

int rp_alone_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct window *w = find(win);

    if (!is_predefined(keyval) || !w)
        return rp_pmpi.Win_get_attr(win, keyval, value, flag);
    int rc = rp_alone_begin(&rp_f_Win_get_attr, true, rp_check(0, keyval));
    *flag = (int)rp_alone_number();
    if (*flag && keyval == MPI_WIN_BASE) {
        *(void **)value = w->regions && !w->dynamic ? w->regions->own : NULL;
    } else if (*flag && keyval == MPI_WIN_SIZE) {
        w->size = (MPI_Aint)rp_data_get_signed(rp_data_reader);
        *(MPI_Aint **)value = &w->size;
    } else if (*flag) {
        int *slot = keyval == MPI_WIN_DISP_UNIT ? &w->disp_unit : keyval == MPI_WIN_MODEL ? &w->model : &w->flavor;
        *slot = (int)rp_data_get_signed(rp_data_reader);
        *(int **)value = slot;
    }
    rp_alone_end();
    return rc;
}
