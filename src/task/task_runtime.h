/* SPDX-License-Identifier: MIT */
/*
 * The data of the task runtime: one `struct rp_tasks` a process, with a transport below it, so that
 * many can live in one process and be tested without MPI (tests/model/task_model.h).
 *
 * Here is what several parts read. What only one part uses is in a struct of its own, which that
 * part makes (rp_tasks_init calls it) and frees.
 */
#ifndef RP_TASK_RUNTIME_H
#define RP_TASK_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "log/task_trace_file.h"
#include "reprise_tasks.h"
#include "task/task_determinant.h"
#include "task/task_message.h"
#include "task/task_parcel.h"

enum { RP_TASK_MAIN = UINT32_MAX, RP_TASK_ENTRIES = 32, RP_TASK_COLLECTIONS = 64 };
enum { RP_TASK_MOST = 1 << 30, RP_TASK_STATE_MOST = 1 << 30 };
enum { RP_TASK_NAME = 160 };

enum rp_task_mode {
    RP_TASKS_PLAIN,
    RP_TASKS_RECORD,
    RP_TASKS_REPLAY,
    RP_TASKS_PARTIAL,
    RP_TASKS_FULL,
    RP_TASKS_RESTART
};

struct rp_transport {
    /* Takes one use of the parcel. */
    void (*send)(void *data, int process, struct rp_parcel *parcel);
    /* The caller owns the parcel; NULL: there is none now. */
    struct rp_parcel *(*receive)(void *data, int *process);
    /* The run cannot go on. Does not return, or only in tests. */
    void (*fail)(void *data, const char *why);
    bool in_order; /* of one process to another, parcels arrive in the order in which they are sent
                    */
    void *data;
};

struct rp_task_region {
    uint64_t left, size; /* messages; left 0: no region is open */
    uint32_t ordinal;    /* how many were begun */
    uint64_t sends;      /* a digest of what was sent in it, in whatever order; of regions of one
                            message, in all of them */
};

struct rp_task_copy {
    uint8_t *bytes;
    size_t length, room;
    uint64_t version; /* 0: none */
};

struct rp_task_digest {
    uint32_t entry, ordinal;
    uint64_t digest;
    bool was_found; /* in a replay */
};

struct rp_task {
    uint32_t collection;
    int owner;
    void *state;       /* NULL: on another process, or not here yet */
    bool awaits_state; /* ours, but its state is not here yet */
    bool adopted;      /* since the last checkpoint, from a dead process */
    uint32_t srn;
    uint64_t clock;
    struct rp_task_queue waiting;

    /* its order */
    uint64_t place;
    uint64_t dependent,
        other; /* events: that are order-dependent, and that are not (a region is two) */
    struct rp_task_region *regions; /* one for each entry */
    struct rp_determinants made;    /* by us, of this task, for the record */
    struct rp_determinants known;   /* to be followed */
    size_t followed;
    bool first_deferred; /* In a recording: the first event of all was order-dependent, and needs no
                            determinant until another kind comes. */
    bool first_free;     /* In a replay: so it was, whichever message has no determinant. */

    /* fault tolerance */
    struct rp_message_ids seen;        /* since the last checkpoint */
    struct rp_determinants held;       /* for other processes */
    struct rp_parcel *log, *log_last;  /* messages that we sent it, to another process */
    struct rp_task_copy copy, attempt; /* of the last checkpoint, and of the one that is made */

    /* record and replay */
    struct rp_task_digest *digests;    /* record: made; replay: to be found again */
    size_t digest_count, digest_first; /* first: those before were found */
    bool has_end;                      /* replay: its last state is known */
    uint64_t end_digest;
    struct rp_taken_list taken; /* replay: its messages, if they are traced */
    uint64_t taken_before;      /* how many it had taken before, on other processes */
};

struct rp_collection {
    struct reprise_collection_spec spec;
    uint32_t first, count, entries;
    bool has_dependent;
    bool is_counted;  /* its one entry is order-dependent, and says how many messages arrive: the
                         last  of them is whichever is left */
    uint64_t version; /* of the checkpoint before it was made */
};

/* Of a replay: whose order it follows, and where it writes its own. */
struct rp_task_trace {
    const char *directory; /* NULL: nowhere */
    bool follows;
    struct rp_tasktrace followed;
    int collection, one, other; /* what is free: -1: see REPRISE_TASKS_FREE */
    uint64_t result;
};

enum rp_task_phase {
    RP_PHASE_OUTSIDE,
    RP_PHASE_RUN,
    RP_PHASE_CHECKPOINT,
    RP_PHASE_RERUN, /* after a failure during a checkpoint */
    RP_PHASE_MOVE,
    RP_PHASE_END
};

enum rp_task_count {
    RP_COUNT_MESSAGES,
    RP_COUNT_REMOTE,
    RP_COUNT_DETERMINANTS,
    RP_COUNT_ALGEBRA,
    RP_COUNT_DETERMINANT_BYTES,
    RP_COUNT_LOG_BYTES,
    RP_COUNT_DUPLICATES,
    RP_COUNT_STORED,
    RP_COUNT_DIFFERENCES,
    RP_COUNT_DIGEST,
    RP_COUNT_REGIONS,
    RP_COUNT_NANOSECONDS,
    RP_COUNTS
};

struct rp_tasks {
    enum rp_task_mode mode;
    int self, processes;
    struct rp_transport transport;
    struct rp_collection collections[RP_TASK_COLLECTIONS];
    int collection_count;
    struct rp_task *tasks;
    uint32_t task_count;
    struct rp_task_queue ready; /* messages that are to be looked at */
    bool has_starts;            /* reprise_start was called since the last run */
    uint32_t main_srn;
    int making; /* the collection whose task is being made */
    uint64_t counts[RP_COUNTS], total[RP_COUNTS];
    uint64_t random; /* not 0: messages are taken in another order */
    bool shuffles;
    int idle_turns;            /* it waited for more messages to shuffle */
    bool has_failed;           /* the run cannot go on */
    bool has_ended, was_first; /* nothing else is known then */

    /* what runs now */
    struct rp_task *running;
    const struct rp_task_message *handled; /* NULL: nothing commutative */
    uint32_t children;
    bool in_finish; /* it is the end of a region */

    /* phases */
    uint32_t phase, epoch; /* numbers; an epoch begins with a failure */
    enum rp_task_phase phase_kind;
    uint64_t *sent, *received; /* counted parcels, for each process */

    /* fault tolerance */
    bool *dead;
    int *deaths, dead_count; /* in the order in which all learnt of them */
    int dead_since;          /* the last checkpoint */
    int spread;              /* over so many processes the tasks of a dead one go */
    int determinant_copies;  /* other processes that must hold a determinant */
    uint64_t version;        /* of the last checkpoint */
    bool recovering;
    bool has_moved;              /* tasks have, since the last checkpoint */
    uint32_t missing;            /* states of tasks of ours that others were asked for */
    struct rp_task_queue starts; /* of all processes, since the last checkpoint */
    struct rp_arenas log;        /* the memory of logs */
    struct rp_buffer arrived;    /* ids of messages that arrived from others */
    uint64_t restored;

    /* record and replay */
    const char *directory;
    struct rp_journal *journal; /* NULL: none */
    bool is_cut_off;            /* replay: what is known of some process ends before its end */
    struct rp_task_trace trace;
    uint8_t *difference_reported; /* for each collection and entry */

    /* what one part uses */
    struct rp_task_piggyback *piggyback;
    struct rp_task_phases *phases;
    struct rp_task_moves *moves;
    struct rp_task_recovery *recovery;
    struct rp_task_reductions *reductions;
    struct rp_task_early *early;
};

extern struct rp_tasks *rp_tasks_now; /* that the public functions mean */

static inline uint32_t rp_task_number(const struct rp_tasks *tasks, const struct rp_task *task)
{
    return (uint32_t)(task - tasks->tasks);
}

static inline const struct rp_collection *rp_task_collection(const struct rp_tasks *tasks,
                                                             const struct rp_task *task)
{
    return &tasks->collections[task->collection];
}

static inline const struct reprise_entry *rp_task_entry(const struct rp_tasks *tasks,
                                                        const struct rp_task *task, uint32_t entry)
{
    return &rp_task_collection(tasks, task)->spec.entries[entry];
}

/* Whether dead processes are survived. */
bool rp_tasks_survives(const struct rp_tasks *tasks);

/* Whether messages and determinants are kept for that, not checkpoints alone. */
bool rp_tasks_has_log(const struct rp_tasks *tasks);

/* The living process with the least number: it finds out that a phase is over, and prints. */
int rp_tasks_first_living(const struct rp_tasks *tasks);

/* Zeroed; without memory the process aborts. */
void *rp_task_memory(size_t bytes);

/* Tells the transport that the run cannot go on, and why. Callers must be ready for its return. */
void rp_tasks_fail(struct rp_tasks *tasks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The head of a parcel of the present epoch and phase. */
struct rp_parcel_head rp_tasks_head(const struct rp_tasks *tasks, enum rp_parcel_kind kind);

/* Sends, and takes one use of the parcel. */
void rp_tasks_send_parcel(struct rp_tasks *tasks, int process, struct rp_parcel *parcel);

/* Sends a parcel with this head and this data; sets head->bytes in it. */
void rp_tasks_send_control(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                           const void *data, size_t length);

/* The same with the data of a buffer, which it empties. */
void rp_tasks_send_buffer(struct rp_tasks *tasks, int process, struct rp_parcel_head head,
                          struct rp_buffer *buffer);

#endif
