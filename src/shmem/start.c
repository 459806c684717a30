/* SPDX-License-Identifier: MIT */
/*
 * The start and the end of OpenSHMEM in a PE, which libreprise.so asks for.
 *
 * To separate the memory that others reach from the program's, the library gets other memory when
 * it starts. Its heap: Open MPI takes the address from a parameter, so the library gets another one
 * than usual, and the program gets what is usual, at which we map memory of our own. (Programs may
 * hand addresses of symmetric objects to each other: they are the same in all PEs, recorded or
 * not.) The program's static data: the library finds it in /proc/self/maps; there it is shown a
 * copy. PEs that are not recorded are shown their own data and nothing else, since all PEs must
 * have as many segments; and where the heap usually is, since Open MPI 5 asks PE 0 for the address
 * where it has none.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "peers/peer_partial.h"
#include "reprise.h"
#include "shmem/sides.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PARAMETER "OMPI_MCA_sshmem_base_start_address"
#ifdef __aarch64__
static const uintptr_t usual_heap = 0xAB0000000000;
#else
static const uintptr_t usual_heap = 0xFF000000;
#endif
static const uintptr_t other_heap = 0x300000000000,
                       other_data = 0x280000000000; /* below programs, above what is usual */

bool rp_shmem_on;
int rp_shmem_me, rp_shmem_pes;

static __thread bool is_caller; /* the thread that started it */
static bool is_parted;          /* this PE is of the set */
static bool was_on;             /* MPI is looked at already */
static struct rp_symmetric_range data;
static uint8_t *copy, *shadow; /* of the static data, as it was */
static uintptr_t heap;
static const char *maps; /* what the library is shown */
static char *set;        /* the parameter as it was */
static const struct rp_function f_init = {3999, "shmem_init"},
                                f_finalize = {3998, "shmem_finalize"};

static void stop(const char *what)
{
    rp_error("shmem_init: %s, so this PE cannot be recorded", what);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

bool rp_shmem_passes(const char *name)
{
    if (is_caller)
        return true;
    rp_error("%s was called by another thread than the one that started OpenSHMEM: such a PE "
             "cannot be replayed alone yet",
             name);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

const void *rp_shmem_context(shmem_ctx_t ctx)
{
    static const shmem_ctx_t *usual;

    if (!usual)
        usual = dlsym(RTLD_DEFAULT, "oshmem_ctx_default");
    return usual && ctx == *usual ? NULL : (const void *)ctx;
}

/* The program's static data */

static uintptr_t page_of(uintptr_t at)
{
    return at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

/* The program comes first. Its last segment that can be written, without what is read-only after
 * relocation. */
static int find_data(struct dl_phdr_info *info, size_t size, void *unused)
{
    uintptr_t constant_to = 0;

    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + s->p_vaddr, to = from + s->p_memsz;
        if (s->p_type == PT_LOAD && s->p_flags & PF_W)
            data = (struct rp_symmetric_range){.from = page_of(from), .to = to};
        if (s->p_type == PT_GNU_RELRO)
            constant_to = page_of(to);
    }
    if (constant_to > data.from && constant_to <= data.to)
        data.from = constant_to;
    return 1;
}

static void *map_at(uintptr_t at, size_t size)
{
    void *memory = mmap((void *)at, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    return memory == (void *)at ? memory : NULL;
}

/* Below the program, where the library looks for it. */
static void copy_data(void)
{
    size_t size = data.to - data.from;
    uintptr_t below = page_of(data.from - size) - (1 << 20);

    copy = map_at(data.from > other_data ? other_data : below, size);
    shadow = malloc(size + 1);
    if (!copy || !shadow) { /* the job is not there yet */
        rp_error("shmem_init: there is no room below the program for a copy of its static data; "
                 "link it as a position-independent executable (-pie)");
        _exit(REPRISE_EXIT_UNSUPPORTED);
    }
    memcpy(copy, (void *)data.from, size);
    memcpy(shadow, copy, size);
    data.shift = (intptr_t)((uintptr_t)copy - data.from);
}

RP_ENTRY FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);

    if (maps && strcmp(path, "/proc/self/maps") == 0)
        return fmemopen((char *)maps, strlen(maps), "r");
    if (!real)
        real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return real(path, mode);
}

/* Recording: before the start */

static bool is_of_set(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *again = getenv("PMIX_RANK");

    return rp_ranks_have(rp_setting("REPRISE_RANKS"), strtol(rank    ? rank
                                                             : again ? again
                                                                     : "0",
                                                             NULL, 10));
}

void reprise_partial_shmem_before(void)
{
    static char line[128];
    char address[32];

    set = getenv(PARAMETER) ? strdup(getenv(PARAMETER)) : NULL;
    was_on = rp_data_off == 0;
    rp_data_off += was_on;
    dl_iterate_phdr(find_data, NULL);
    is_parted = is_of_set();
    heap = set ? strtoull(set, NULL, 0) : usual_heap;
    if (is_parted)
        copy_data();
    snprintf(address, sizeof address, "0x%lx", (unsigned long)(is_parted ? other_heap : heap));
    setenv(PARAMETER, address, 1);
    uintptr_t from = data.from + (uintptr_t)data.shift, to = data.to + (uintptr_t)data.shift;
    snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:00 0 \n", (unsigned long)from,
             (unsigned long)to);
    maps = line;
}

/* Recording: after it */

/* The mapping that begins at an address. */
static size_t mapped_at(uintptr_t at)
{
    FILE *in = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to;
    uintptr_t end = at;

    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == end)
            end = to;
    if (in)
        fclose(in);
    return end - at;
}

static void part_memory(void)
{
    size_t size = mapped_at(other_heap);

    if (size == 0)
        stop("the symmetric heap is not where it was asked to be");
    if (!rp_pshmem.shmem_addr_accessible(copy, rp_shmem_me))
        stop("this library finds static data in another way than was expected");
    if (!map_at(heap, size))
        stop("the usual place of the symmetric heap is not free");
    rp_symmetric_heap = (struct rp_symmetric_range){.from = heap,
                                                    .to = heap + size,
                                                    .shift = (intptr_t)(other_heap - heap)};
    rp_symmetric_data = data;
    rp_symmetric_add((void *)data.from, data.to - data.from, shadow);
}

static void record_start(int provided)
{
    rp_shmem_me = rp_pshmem.shmem_my_pe();
    rp_shmem_pes = rp_pshmem.shmem_n_pes();
    part_memory();
    rp_data_note_windows(rp_partial.writer);
    rp_partial_record_begin(&f_init, false, 0, provided);
    rp_partial_record_number((uint64_t)rp_shmem_me);
    rp_partial_record_number((uint64_t)rp_shmem_pes);
    rp_partial_record_number(rp_symmetric_heap.from);
    rp_partial_record_number(rp_symmetric_heap.to - rp_symmetric_heap.from);
    rp_partial_record_end();
}

static int feed_start(void)
{
    int provided = rp_partial_feed_begin(&f_init, false, 0);

    rp_shmem_me = (int)rp_partial_feed_number();
    rp_shmem_pes = (int)rp_partial_feed_number();
    uintptr_t from = rp_partial_feed_number(), size = rp_partial_feed_number();
    rp_partial_feed_end();
    dl_iterate_phdr(find_data, NULL);
    rp_symmetric_data = data;
    rp_symmetric_heap = (struct rp_symmetric_range){.from = from, .to = from + size};
    if (!map_at(from, size)) {
        rp_error("shmem_init: the place of the symmetric heap, %#lx, is not free here",
                 (unsigned long)from);
        rp_data_end_job(REPRISE_EXIT_INTERNAL);
    }
    return provided;
}

static void all_out(void)
{
    rp_symmetric_out(RP_LOOK_ALL);
}

static void all_in(void)
{
    rp_symmetric_in(RP_LOOK_ALL);
}

static const struct rp_symmetric_side side = {.out = all_out,
                                              .in = all_in,
                                              .take = rp_symmetric_take};

void reprise_partial_shmem_begin(int *provided)
{
    maps = NULL;
    rp_data_off -= was_on;
    if (set)
        setenv(PARAMETER, set, 1);
    else if (heap != 0) /* this PE was asked before the start */
        unsetenv(PARAMETER);
    if (!rp_partial.is_feeding && is_parted != (rp_data_off == 0))
        stop("its number is not what the launcher said");
    if (rp_data_off)
        return;
    is_caller = true;
    if (rp_partial.is_feeding)
        *provided = feed_start();
    else
        record_start(*provided);
    rp_windows.symmetric = &side;
    rp_windows.count++;
    rp_shmem_on = true;
}

/* When all have arrived, all that was written is there. The rest of what the library does at its
 * end is left out: Debian's crashes in it. */
int reprise_partial_shmem_end(void)
{
    bool looks = rp_shmem_on && rp_data_off == 0;

    if (!looks || rp_shmem_meet(&f_finalize, 0, true)) {
        rp_data_off++;
        if (!rp_partial.is_feeding)
            rp_pshmem.shmem_barrier_all();
        rp_data_off--;
        if (looks)
            rp_shmem_met(&f_finalize, 0, true);
    }
    rp_windows.count -= rp_windows.symmetric != NULL;
    rp_windows.symmetric = NULL;
    rp_shmem_on = false;
    return looks;
}
