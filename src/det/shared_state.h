/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of a deterministic run publish of themselves, in memory that the ranks of a host
 * share: the clock of each rank, and what it waits for. Parts on top of it add the messages that
 * are under way (shared_messages.h) and the collectives that have begun (shared_collectives.h). The
 * leader of a host carries all that to other hosts (leader.h). No MPI.
 *
 * The memory has room for all ranks of the job. What it has of a rank of another host is a copy
 * (struct rp_shared_copy), which only the leader writes.
 *
 * Where all ranks are on one host, there is room for processes that they spawn, too: these are
 * counted on as ranks, job by job, in the order in which the jobs begin in logical time.
 *
 * The version of a rank is odd while the rank runs and even while it waits. What it waits for
 * changes only while the version is odd, and a rank empties its inbox only then. So whoever reads
 * an even version twice, and an empty inbox both times, knows that the rank waited all the time,
 * and that no message was on its way to it.
 */
#ifndef RP_SHARED_STATE_H
#define RP_SHARED_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/futex_wait.h"
#include "base/status.h"
#include "job/job_names.h"

/* What a rank waits for. */
enum rp_shared_wait {
    RP_WAIT_MESSAGE,    /* for a message of rank `target` */
    RP_WAIT_ANY,        /* for a message of any rank: `candidate` is the logical time of the one
                           that it would take by now, or RP_SEND_NEVER. Or for the first of several
                           operations: `object` is the first of a chain of messages, each of which
                           stands for one operation (rp_shared_message.also); 0: no chain */
    RP_WAIT_RECEIVER,   /* until rank `target` receives the message at `object` */
    RP_WAIT_COLLECTIVE, /* until all ranks have arrived at the collective at `object`; the rank
                           reads its inbox meanwhile */
    RP_WAIT_INSIDE_MPI, /* the same, but it waits inside MPI: it does not read its inbox, and has no
                           receive under way */
    RP_WAIT_NONE = 255  /* only in copies: it runs */
};

/* What a rank waits for, or is about to; places are offsets in the shared memory. */
struct rp_shared_plan {
    enum rp_shared_wait wait;
    uint32_t target;
    uint64_t candidate, object;
};

enum { RP_SHARED_DESCRIPTION = 512, RP_SHARED_BUCKETS = 256, RP_SHARED_JOBS = 256 };

/* A rank, as it publishes itself. */
struct rp_shared_rank {
    _Alignas(64) _Atomic uint64_t version;
    _Atomic uint32_t wait, target;      /* enum rp_shared_wait, and as in struct rp_shared_plan */
    _Atomic uint64_t candidate, object; /* likewise */
    char what[40];                      /* the MPI function that it waits in */
    _Atomic uint32_t is_idle;           /* its version is odd, but it goes on only when others do */
    _Alignas(64) _Atomic uint64_t inbox;    /* messages to it: the newest */
    _Alignas(64) _Atomic uint64_t returned; /* messages of its own that receivers returned */
    _Alignas(64) uint64_t digest, matches, answers; /* what was decided: det_state.h */
    _Alignas(64) struct rp_futex futex; /* others wake it by this: a message arrived, one of its own
                                           was received, or a collective is complete */
    _Atomic uint32_t wants_updates;     /* it waits, and a frame of another host may help */
    _Atomic uint32_t is_described;      /* `description` is set */
    char description[RP_SHARED_DESCRIPTION]; /* in a deadlock: what it waits for, in words */
    char comm_name[96];     /* " on NAME": of its collective, if it waits inside MPI */
    _Atomic uint64_t sites; /* bytes of records of its call sites (format.md, section 4) */
};

/* The ranks of one MPI_COMM_WORLD: those of the launcher, then each spawned job. */
struct rp_shared_job {
    uint32_t first, ranks;
    char name[RP_JOB_NAME];
};

/* Ports, and sockets whose ends are about to join: who has come to one (det_ports.c). */
enum { RP_SHARED_PORTS = 256, RP_SHARED_NAMES = 64, RP_SHARED_PORT_NAME = 1024 };
#define RP_SHARED_PORT_TAKEN UINT64_MAX /* instead of a name: nobody else takes it */
struct rp_shared_port {
    _Atomic uint64_t name;                /* a number made of it; 0: this one is free */
    _Atomic uint64_t asked, connected;    /* clients that came, and that were connected */
    _Atomic uint64_t accepting, accepted; /* calls of MPI_Comm_accept that began, and that ended */
    _Atomic uint64_t offered;             /* the client of which the following speaks */
    uint64_t client_time, server_time;    /* when they came to the port, in logical time */
    uint64_t client, client_comm;         /* its rank, and the number of the new communicator */
    uint64_t busy_until;                  /* the last MPI_Comm_accept returns at this time */
};

/* Names of MPI_Publish_name. Each rank looks and changes at its turn. */
struct rp_shared_published {
    uint64_t service; /* a number made of its name; 0: this one is free */
    char port[RP_SHARED_PORT_NAME];
};

/* What all ranks of a host share, at the start of the memory. */
struct rp_shared_common {
    _Atomic uint32_t ranks, jobs; /* that have begun */
    _Atomic uint32_t ended;       /* jobs */
    struct rp_shared_job job[RP_SHARED_JOBS];
    _Atomic uint32_t reported; /* a rank reports an error, or has */
    _Atomic uint64_t mismatch; /* a collective whose calls do not match; 0: none */
    struct {
        _Alignas(64) _Atomic uint32_t lock;
        uint64_t first;
    } bucket[RP_SHARED_BUCKETS]; /* collectives, by hash */
    _Alignas(64) _Atomic uint32_t spare_lock;
    uint64_t spare, end; /* collectives that are over; how much of their room was ever used */
    struct rp_shared_port port[RP_SHARED_PORTS];
    struct rp_shared_published published[RP_SHARED_NAMES];
    /* Several hosts: */
    _Alignas(64) _Atomic uint64_t outbox;
    _Alignas(64) _Atomic uint64_t arrivals; /* at collectives here, that other hosts are sent */
    _Alignas(64) _Atomic uint32_t sleeps;   /* the leader does, and has to be woken */
    _Atomic uint32_t asks, answer;          /* the first host, whether a rank may report */
    _Atomic uint32_t is_cut_off;
    _Alignas(64) _Atomic uint64_t copied; /* odd while copies change */
};

/*
 * A rank of another host, as it was at a moment of its host. Its fields may change while they are
 * read; rp_shared_common.copied shows that. A wait is believed if the rank had received by then all
 * that every host is known to have sent it (leader.c says why that is enough).
 */
struct rp_shared_copy {
    _Atomic uint64_t clock, wait, target, candidate;
    _Atomic uint64_t comm, number;              /* of the collective that it waits at */
    _Atomic uint64_t fresh, awaits_collectives; /* as in struct rp_shared_look */
    _Atomic uint64_t received, arrivals_known;  /* from this host: what was sent to the rank;
                                          arrivals at  collectives, by its host */
    _Atomic uint64_t is_believed,
        knows_arrivals;        /* the same, as far as other hosts are concerned */
    _Atomic uint64_t relied[]; /* as in rp_shared_look_again: a bit for each rank */
};

/* The clock of a rank is the sum of two counts. Both are its local logical time. What is known of
 * the times of others, the clock vector, is in det_matching.c. */
enum rp_clock_part {
    RP_CLOCK_INSTRUCTIONS, /* counted by the code of instrumented programs */
    RP_CLOCK_CALLS         /* added by calls of MPI and of the system */
};

/* This process's view of the memory. */
struct rp_shared {
    uint32_t ranks, rank; /* ranks: that had begun when rp_shared_see_jobs last looked */
    uint32_t room;        /* there may be so many */
    uint32_t first, size; /* of our MPI_COMM_WORLD: its first rank, and how many it has */
    struct rp_shared_rank *all, *own;
    _Atomic uint64_t *clock; /* own: by enum rp_clock_part */
    char *memory;
    uint64_t latency; /* a message is visible so long after it was sent, in logical time */
    uint32_t hosts, host;
    const uint32_t *host_of; /* by rank; NULL: all are on one */
};

extern struct rp_shared rp_shared;

/* Makes the memory for `room` ranks, a file. `name` (of `length` bytes) gets its path, by which all
 * ranks of the host map it; rp_shared_remove ends the name. `is_alone`: there is no other host.
 * RP_SYSTEM: the file cannot be made. */
enum rp_status rp_shared_create(uint32_t room, bool is_alone, char *name, size_t length,
                                struct rp_problem *why);

/* How many children there can be room for, of those that are wanted: none where the process has a
 * limit of memory or of files. */
uint32_t rp_shared_children(uint32_t wanted);

/* Maps the memory for the rest of the process, which is rank `rank` of the `ranks` ranks of the
 * launcher, and sets rp_shared. */
enum rp_status rp_shared_map(const char *name, uint32_t ranks, uint32_t room, uint32_t rank,
                             struct rp_problem *why);
void rp_shared_remove(const char *name);

/* With several hosts, before the memory is mapped: host_of[r] is the host of rank r (the array must
 * stay), `host` is ours. */
void rp_shared_set_hosts(const uint32_t *host_of, uint32_t hosts, uint32_t host);

static inline bool rp_shared_is_remote(uint32_t rank)
{
    return rp_shared.host_of && rp_shared.host_of[rank] != rp_shared.host;
}

/* Spawned jobs */

/* For a spawn: begins the job `name` of `ranks` ranks, whose clocks stand at this rank's, and sets
 * *first. RP_UNSUPPORTED: there is no room. Then, once it is known how many came, ends the others.
 */
enum rp_status rp_shared_job_begin(const char *name, uint32_t ranks, uint32_t *first,
                                   struct rp_problem *why);
void rp_shared_job_came(uint32_t first, uint32_t ranks);

/* The memory, for a process of this host that this one spawns. */
struct rp_shared_place {
    long process;
    int file;
    uint64_t inode;
    uint32_t room;
};
enum rp_status rp_shared_place(struct rp_shared_place *place, struct rp_problem *why);

/* Maps the memory in a child: rank `rank` of the job that begins at rank `first`, of `ranks`. */
enum rp_status rp_shared_join(const struct rp_shared_place *place, uint32_t first, uint32_t ranks,
                              uint32_t rank, struct rp_problem *why);

/* A job has ended. Returns whether it was the last one. */
bool rp_shared_job_ends(void);

/* Brings rp_shared.ranks up to date, and returns it. What is known of another rank's clock or wait
 * before is not older than what this sees. */
static inline uint32_t rp_shared_see_jobs(void);

/* The name of a rank as people know it: 3, or 0.1.2 of a spawned job. */
struct rp_shared_name {
    char text[RP_PROCESS_NAME];
};
struct rp_shared_name rp_shared_rank_name(uint32_t rank);

/* Time */

static inline uint64_t rp_shared_now(void)
{
    return atomic_load_explicit(&rp_shared.clock[RP_CLOCK_INSTRUCTIONS], memory_order_relaxed) +
           atomic_load_explicit(&rp_shared.clock[RP_CLOCK_CALLS], memory_order_relaxed);
}

static inline void rp_shared_tick(uint64_t units)
{
    atomic_store_explicit(&rp_shared.clock[RP_CLOCK_CALLS],
                          atomic_load_explicit(&rp_shared.clock[RP_CLOCK_CALLS],
                                               memory_order_relaxed) +
                              units,
                          memory_order_release);
}

static inline void rp_shared_raise(uint64_t to)
{
    uint64_t now = rp_shared_now();

    if (to > now)
        rp_shared_tick(to - now);
}

/* This rank sends nothing more: its clock is RP_SEND_NEVER. */
void rp_shared_finish(void);

/* No later than the clock of that rank is. */
uint64_t rp_shared_clock_of(uint32_t rank);

/* Makes the counter of an instrumented program the shared clock: `page` is a page of its own, with
 * the count in its first word. RP_UNSUPPORTED: it is not; RP_SYSTEM: it cannot be mapped. */
enum rp_status rp_shared_adopt_counter(void *page, size_t size, struct rp_problem *why);

/* In a child process: the counter is its own again. */
void rp_shared_leave_counter(void);

/* Waiting */

/* Publishes that this rank waits, as planned, in the MPI function `what`; and that it goes on. */
void rp_shared_block(const struct rp_shared_plan *plan, const char *what);
void rp_shared_unblock(void);

static inline bool rp_shared_is_blocked(void)
{
    return atomic_load_explicit(&rp_shared.own->version, memory_order_relaxed) % 2 == 0;
}

/* Waits without polling, until others wake this rank (rp_shared_rank.futex) or the time is over:
 * clocks wake nobody. Between listening and sleeping, the caller must look once more. */
void rp_shared_listen(void);
void rp_shared_sleep(long microseconds);
void rp_shared_stop_listening(void);

/* With several hosts: this rank has waited for a while, so the leader asks other hosts how their
 * ranks are; and it needs that no more. */
void rp_shared_request_updates(void);

static inline void rp_shared_stop_updates(void)
{
    if (rp_shared.host_of)
        atomic_store_explicit(&rp_shared.own->wants_updates, 0, memory_order_relaxed);
}

/* Whether another rank of this host runs: the earliest time at which it can send is its clock. */
static inline bool rp_shared_runs(uint32_t rank)
{
    return rank != rp_shared.rank && !rp_shared_is_remote(rank) &&
           atomic_load_explicit(&rp_shared.all[rank].version, memory_order_relaxed) % 2 != 0;
}

/* The connection to another host broke, and that was reported: nothing comes any more. */
bool rp_shared_is_cut_off(void);

/* Records of call sites, which all ranks can read. Adds some to those of this rank, or of a rank of
 * another host; false if there is no room. */
bool rp_shared_put_sites(const void *bytes, size_t length);
bool rp_shared_add_sites(uint32_t rank, const void *bytes, size_t length);
const uint8_t *rp_shared_sites_of(uint32_t rank, size_t *length);

/* One rank of the job may report an error: the first function returns whether it is this one. The
 * other returns whether a rank of this host does, or has. */
bool rp_shared_may_report(void);
bool rp_shared_is_reported(void);

/* For the parts that stand on this one */

struct rp_shared_common *rp_shared_common(void);
struct rp_shared_copy *rp_shared_copy(uint32_t rank);
size_t rp_shared_copy_size(void);
size_t rp_shared_words(void); /* of 64 bits, for a bit of each rank */

/* How many messages this host sent to a rank of another host. The count is raised before the
 * message is in the outbox. */
_Atomic uint64_t *rp_shared_sent(uint32_t rank);

/* The clock of a rank: [0] and [1] as in struct rp_shared. */
_Atomic uint64_t *rp_shared_clock_page(uint32_t rank);

/* Offsets of the room for messages of a rank, and for collectives: where it begins and ends. */
uint64_t rp_shared_messages_room(uint32_t rank, uint64_t *end);
uint64_t rp_shared_collectives_room(uint64_t *end);

/* The leader reads from this pipe what wakes it. */
int rp_shared_wake_pipe(void);
void rp_shared_wake_leader(void);

static inline uint64_t rp_shared_offset(const void *object)
{
    return (uint64_t)((const char *)object - rp_shared.memory);
}

static inline uint32_t rp_shared_see_jobs(void)
{
    const struct rp_shared_common *common = (const struct rp_shared_common *)rp_shared.memory;

    return rp_shared.ranks = atomic_load_explicit(&common->ranks, memory_order_acquire);
}

static inline struct rp_shared_copy *rp_shared_copy_in(char *copies, uint32_t rank)
{
    return (struct rp_shared_copy *)(void *)(copies + rank * rp_shared_copy_size());
}

#endif
