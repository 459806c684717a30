/* SPDX-License-Identifier: MIT */
/*
 * The memory has, in this order: a page of what all ranks share, with a table of the collectives
 * that have begun; a page for the clock of each rank; the ranks; copies of ranks of other hosts;
 * room for collectives; for each rank, room for its messages; for each rank, room for the records
 * of its call sites. It is a sparse file: what was never used takes no memory.
 */
#include "det/shared_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "match/send_bounds.h"

#define MESSAGES_ROOM (UINT64_C(256) << 20) /* for each rank */
#define COLLECTIVES_ROOM (UINT64_C(256) << 20)
#define SITES_ROOM (UINT64_C(1) << 20) /* for each rank */

struct rp_shared rp_shared;

static struct {
    struct rp_shared_common *common;
    uint64_t clocks, states, copies, sent, collectives, messages, sites; /* places */
    size_t page;
    size_t words;
    int wake;           /* a pipe to the leader */
    int file;           /* the memory, for children; above the numbers of the program */
    struct stat opened; /* the file as it was opened */
    uint32_t seen;      /* as rp_futex_listen returned it */
    void *counter;      /* a page of the program */
} layout;

static uint64_t up(uint64_t size)
{
    return (size + layout.page - 1) / layout.page * layout.page;
}

size_t rp_shared_copy_size(void)
{
    return sizeof(struct rp_shared_copy) + layout.words * sizeof(uint64_t);
}

struct rp_shared_copy *rp_shared_copy(uint32_t rank)
{
    return rp_shared_copy_in(rp_shared.memory + layout.copies, rank);
}

static uint64_t lay_out(uint32_t room)
{
    layout.page = (size_t)sysconf(_SC_PAGESIZE);
    layout.clocks = up(sizeof(struct rp_shared_common));
    layout.states = layout.clocks + room * layout.page;
    layout.copies = layout.states + room * sizeof(struct rp_shared_rank);
    layout.words = (room + 63) / 64;
    layout.sent = layout.copies + room * rp_shared_copy_size();
    layout.collectives = up(layout.sent + room * sizeof(uint64_t));
    layout.messages = layout.collectives + COLLECTIVES_ROOM;
    layout.sites = layout.messages + room * MESSAGES_ROOM;
    return layout.sites + room * SITES_ROOM;
}

static void wake_name(const char *name, char *pipe, size_t room)
{
    snprintf(pipe, room, "%s.wake", name);
}

static enum rp_status make_pipe(const char *name, struct rp_problem *why)
{
    char pipe[128];

    wake_name(name, pipe, sizeof pipe);
    if (mkfifo(pipe, 0600) == 0)
        return RP_OK;
    int error = errno;
    unlink(name);
    return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", pipe, strerror(error));
}

static bool is_limited(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

uint32_t rp_shared_children(uint32_t wanted)
{
    return is_limited(RLIMIT_FSIZE) || is_limited(RLIMIT_AS) ? 0 : wanted;
}

enum rp_status rp_shared_create(uint32_t room, bool is_alone, char *name, size_t length,
                                struct rp_problem *why)
{
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    uint64_t size = lay_out(room);
    struct rlimit limit;

    snprintf(name, length, "%s/reprise-det-XXXXXX", place);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        return rp_fail(
            why, RP_SYSTEM,
            "%s: the limit for the size of files (ulimit -f) is %llu bytes, and %llu are needed",
            place, (unsigned long long)limit.rlim_cur, (unsigned long long)size);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", name, strerror(errno));
    int rc = ftruncate(fd, (off_t)size);
    close(fd);
    if (rc == 0)
        return is_alone ? RP_OK : make_pipe(name, why);
    unlink(name);
    return rp_fail(why, RP_SYSTEM, "%s: cannot make it %llu bytes long: %s", name,
                   (unsigned long long)size, strerror(errno));
}

void rp_shared_set_hosts(const uint32_t *host_of, uint32_t hosts, uint32_t host)
{
    rp_shared.host_of = host_of;
    rp_shared.hosts = hosts;
    rp_shared.host = host;
}

static enum rp_status open_pipe(const char *name, struct rp_problem *why)
{
    char pipe[128];

    wake_name(name, pipe, sizeof pipe);
    layout.wake = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (layout.wake < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot open: %s", pipe, strerror(errno));
    return RP_OK;
}

_Atomic uint64_t *rp_shared_clock_page(uint32_t rank)
{
    return (_Atomic uint64_t *)(rp_shared.memory + layout.clocks + rank * layout.page);
}

static enum rp_status map(const char *name, int fd, bool keeps_file, uint32_t room, uint32_t rank,
                          struct rp_problem *why)
{
    enum { LOWEST = 100 }; /* numbers below are the program's */
    uint64_t size = lay_out(room);
    void *memory =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (memory == MAP_FAILED) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rp_fail(why, RP_SYSTEM, "%s: cannot map %llu bytes: %s", name,
                       (unsigned long long)size, strerror(error));
    }
    madvise(memory, size, MADV_DONTDUMP);
    fstat(fd, &layout.opened);
    layout.file = keeps_file ? fcntl(fd, F_DUPFD_CLOEXEC, LOWEST) : -1;
    close(fd);
    rp_shared.memory = memory;
    rp_shared.room = room;
    rp_shared.rank = rank;
    rp_shared.all = (struct rp_shared_rank *)(rp_shared.memory + layout.states);
    rp_shared.own = &rp_shared.all[rank];
    rp_shared.clock = rp_shared_clock_page(rank);
    layout.common = memory;
    atomic_store(&rp_shared.own->version, 1);
    return RP_OK;
}

enum rp_status rp_shared_map(const char *name, uint32_t ranks, uint32_t room, uint32_t rank,
                             struct rp_problem *why)
{
    enum rp_status status =
        map(name, open(name, O_RDWR | O_CLOEXEC), room > ranks, room, rank, why);

    if (status != RP_OK)
        return status;
    rp_shared.size = ranks;
    layout.common->job[0].ranks = ranks; /* each rank says the same */
    atomic_store(&layout.common->jobs, 1);
    atomic_store(&layout.common->ranks, ranks);
    rp_shared_see_jobs();
    return rp_shared.host_of ? open_pipe(name, why) : RP_OK;
}

/* Spawned jobs. Only one rank at a time begins one: det_spawn.c. */

static void set_clock(uint32_t rank, uint64_t to)
{
    atomic_store(&rp_shared_clock_page(rank)[RP_CLOCK_CALLS], to);
}

enum rp_status rp_shared_job_begin(const char *name, uint32_t ranks, uint32_t *first,
                                   struct rp_problem *why)
{
    struct rp_shared_common *common = layout.common;
    uint32_t jobs = atomic_load(&common->jobs);

    *first = atomic_load(&common->ranks);
    if (ranks > rp_shared.room - *first || jobs == RP_SHARED_JOBS)
        return rp_fail(
            why, RP_UNSUPPORTED,
            "there is room for %u processes, children included, and %u of them have been "
            "started; det --children N makes room for more (none where ulimit -f or -v "
            "sets a limit)",
            rp_shared.room, *first);
    for (uint32_t i = *first; i < *first + ranks; i++) {
        set_clock(i, rp_shared_now());
        atomic_store(&rp_shared.all[i].version, 1);
    }
    common->job[jobs].first = *first;
    common->job[jobs].ranks = ranks;
    snprintf(common->job[jobs].name, sizeof common->job[jobs].name, "%s", name);
    atomic_store(&common->jobs, jobs + 1);
    atomic_store(&common->ranks, *first + ranks);
    rp_shared_see_jobs();
    return RP_OK;
}

static struct rp_shared_job *job_of(uint32_t rank)
{
    uint32_t i = atomic_load(&layout.common->jobs);

    while (i > 1 && layout.common->job[i - 1].first > rank)
        i--;
    return &layout.common->job[i - 1];
}

void rp_shared_job_came(uint32_t first, uint32_t ranks)
{
    struct rp_shared_job *job = job_of(first);

    for (uint32_t i = first + ranks; i < first + job->ranks; i++)
        set_clock(i, RP_SEND_NEVER);
    job->ranks = ranks;
    if (ranks == 0)
        atomic_fetch_add(&layout.common->ended, 1);
}

bool rp_shared_job_ends(void)
{
    return atomic_fetch_add(&layout.common->ended, 1) + 1 == atomic_load(&layout.common->jobs);
}

struct rp_shared_name rp_shared_rank_name(uint32_t rank)
{
    const struct rp_shared_job *job = job_of(rank);
    struct rp_shared_name name;

    rp_process_name(job->name, (long)(rank - job->first), name.text);
    return name;
}

enum rp_status rp_shared_place(struct rp_shared_place *place, struct rp_problem *why)
{
    struct stat about;

    if (layout.file < 0 || fstat(layout.file, &about) != 0 ||
        about.st_ino != layout.opened.st_ino || about.st_dev != layout.opened.st_dev)
        return rp_fail(why, RP_UNSUPPORTED,
                       "the program has closed file %d, by which children find the shared memory",
                       layout.file);
    *place = (struct rp_shared_place){getpid(), layout.file, about.st_ino, rp_shared.room};
    return RP_OK;
}

enum rp_status rp_shared_join(const struct rp_shared_place *place, uint32_t first, uint32_t ranks,
                              uint32_t rank, struct rp_problem *why)
{
    char name[64];
    struct stat about;

    snprintf(name, sizeof name, "/proc/%ld/fd/%d", place->process, place->file);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_ino != place->inode)
        return rp_fail(why, RP_UNSUPPORTED,
                       "the shared memory of the parents is not to be found here: are the children "
                       "on another host, or in another container?");
    enum rp_status status = map(name, fd, true, place->room, first + rank, why);
    rp_shared.first = first;
    rp_shared.size = ranks;
    if (status == RP_OK)
        rp_shared_see_jobs();
    return status;
}

void rp_shared_remove(const char *name)
{
    char pipe[128];

    unlink(name);
    wake_name(name, pipe, sizeof pipe);
    if (rp_shared.host_of)
        unlink(pipe);
}

/* The leader: it is woken when there is something for it and it does not look by itself. */
void rp_shared_wake_leader(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&layout.common->sleeps) && atomic_exchange(&layout.common->sleeps, 0) &&
        write(layout.wake, "", 1) < 0 && errno != EAGAIN)
        rp_error("cannot wake the thread that speaks to other hosts: %s", strerror(errno));
}

void rp_shared_finish(void)
{
    atomic_store(&rp_shared.clock[RP_CLOCK_CALLS],
                 RP_SEND_NEVER - atomic_load(&rp_shared.clock[RP_CLOCK_INSTRUCTIONS]));
    atomic_thread_fence(memory_order_seq_cst);
    if (rp_shared.host_of)
        rp_shared_wake_leader();
}

/* Both parts only grow, so that what is read is never later than the clock is. A clock that was set
 * to `never` may have counted on. */
uint64_t rp_shared_clock_of(uint32_t rank)
{
    _Atomic uint64_t *clock = rp_shared_clock_page(rank);
    uint64_t added = atomic_load_explicit(&clock[RP_CLOCK_CALLS], memory_order_acquire),
             counted = atomic_load_explicit(&clock[RP_CLOCK_INSTRUCTIONS], memory_order_acquire);

    return added > RP_SEND_NEVER / 2 ? RP_SEND_NEVER : added + counted;
}

void rp_shared_leave_counter(void)
{
    uint64_t counted = rp_shared_now();

    if (layout.counter && mmap(layout.counter, layout.page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == layout.counter)
        *(uint64_t *)layout.counter = counted;
}

enum rp_status rp_shared_adopt_counter(void *page, size_t size, struct rp_problem *why)
{
    uint64_t counted = *(uint64_t *)page;

    if ((uintptr_t)page % layout.page != 0 || size < layout.page)
        return rp_fail(why, RP_UNSUPPORTED, "the program's counter is not a page of its own");
    atomic_store(&rp_shared.clock[RP_CLOCK_INSTRUCTIONS], counted);
    /* Not by mremap itself: UCX stands before that, and loses the address. */
    if (syscall(SYS_mremap, rp_shared.clock, (size_t)0, layout.page, MREMAP_MAYMOVE | MREMAP_FIXED,
                page) != (long)page)
        return rp_fail(why, RP_SYSTEM, "the program's counter cannot be shared: %s",
                       strerror(errno));
    layout.counter = page;
    return RP_OK;
}

/* Call sites */

const uint8_t *rp_shared_sites_of(uint32_t rank, size_t *length)
{
    *length = (size_t)atomic_load_explicit(&rp_shared.all[rank].sites, memory_order_acquire);
    return (const uint8_t *)rp_shared.memory + layout.sites + rank * SITES_ROOM;
}

bool rp_shared_add_sites(uint32_t rank, const void *bytes, size_t length)
{
    uint64_t used = atomic_load_explicit(&rp_shared.all[rank].sites, memory_order_relaxed);

    if (length > SITES_ROOM - used)
        return false;
    memcpy(rp_shared.memory + layout.sites + rank * SITES_ROOM + used, bytes, length);
    atomic_store_explicit(&rp_shared.all[rank].sites, used + length, memory_order_release);
    return true;
}

bool rp_shared_put_sites(const void *bytes, size_t length)
{
    return rp_shared_add_sites(rp_shared.rank, bytes, length);
}

/* Waiting */

void rp_shared_block(const struct rp_shared_plan *plan, const char *what)
{
    struct rp_shared_rank *own = rp_shared.own;

    atomic_store_explicit(&own->wait, plan->wait, memory_order_relaxed);
    atomic_store_explicit(&own->target, plan->target, memory_order_relaxed);
    atomic_store_explicit(&own->candidate, plan->candidate, memory_order_relaxed);
    atomic_store_explicit(&own->object, plan->object, memory_order_relaxed);
    strncpy(own->what, what, sizeof own->what - 1);
    atomic_fetch_add(&own->version, 1);
}

void rp_shared_listen(void)
{
    layout.seen = rp_futex_listen(&rp_shared.own->futex);
}

void rp_shared_sleep(long microseconds)
{
    rp_futex_sleep(&rp_shared.own->futex, layout.seen, microseconds);
}

void rp_shared_stop_listening(void)
{
    rp_futex_stop_listening(&rp_shared.own->futex);
}

void rp_shared_request_updates(void)
{
    if (!rp_shared.host_of)
        return;
    atomic_store(&rp_shared.own->wants_updates, 1);
    rp_shared_wake_leader();
}

void rp_shared_unblock(void)
{
    atomic_fetch_add(&rp_shared.own->version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

struct rp_shared_common *rp_shared_common(void)
{
    return layout.common;
}

_Atomic uint64_t *rp_shared_sent(uint32_t rank)
{
    return (_Atomic uint64_t *)(rp_shared.memory + layout.sent) + rank;
}

size_t rp_shared_words(void)
{
    return layout.words;
}

uint64_t rp_shared_collectives_room(uint64_t *end)
{
    *end = layout.messages;
    return layout.collectives;
}

uint64_t rp_shared_messages_room(uint32_t rank, uint64_t *end)
{
    *end = layout.messages + (rank + 1) * MESSAGES_ROOM;
    return layout.messages + rank * MESSAGES_ROOM;
}

int rp_shared_wake_pipe(void)
{
    return layout.wake;
}

/* The first host decides. */
static bool ask_first_host(void)
{
    struct timespec pause = {0, 1000000};

    atomic_store(&layout.common->asks, 1);
    rp_shared_wake_leader();
    while (atomic_load(&layout.common->answer) == 0)
        nanosleep(&pause, NULL);
    return atomic_load(&layout.common->answer) == 1;
}

bool rp_shared_is_cut_off(void)
{
    return atomic_load_explicit(&layout.common->is_cut_off, memory_order_relaxed);
}

bool rp_shared_may_report(void)
{
    bool is_first = atomic_exchange(&layout.common->reported, 1) == 0;

    return is_first && (rp_shared.host == 0 || ask_first_host());
}

bool rp_shared_is_reported(void)
{
    return atomic_load_explicit(&layout.common->reported, memory_order_relaxed);
}
