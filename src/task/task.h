/* SPDX-License-Identifier: MIT */
/*
 * The task runtime inside: one `struct rp_tasks` a process, with a transport below it, so that many
 * can live in one process and be tested without MPI (tests/model/task_model.h).
 *
 * tasks.c        collections, delivery, execution, sends
 * task_order.c   who may run now; determinants, and their count against the algebra
 * task_stages.c  stages of a run: quiescence by counting messages, told by the first living process
 * task_owners.c  which process has which task; moves
 * task_log.c     what was sent and what came since the last checkpoint
 * task_determinants.c  who holds determinants, and who must be told
 * task_ft.c      checkpoints, recovery
 * task_reduce.c  reductions, made of tasks themselves
 * task_file.c    the record: determinants and digests
 * task_trace.c   the order of messages in shuffled replays
 * task_watch.c   what a process waits for
 * task_mpi.c     the transport, the public functions
 * task_failures.c, task_failures_exit.c  how failures are found; how processes begin and end
 */
#ifndef RP_TASK_H
#define RP_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "log/task_trace_file.h"
#include "match/message_id.h"
#include "reprise_tasks.h"

enum { RP_TASK_MAIN = UINT32_MAX, RP_TASK_ENTRIES = 32, RP_TASK_COLLECTIONS = 64 };
enum { RP_TASK_MOST = 1 << 30, RP_TASK_STATE_MOST = 1 << 30 };

enum rp_task_mode {
    RP_TASKS_PLAIN,
    RP_TASKS_RECORD,
    RP_TASKS_REPLAY,
    RP_TASKS_PARTIAL,
    RP_TASKS_FULL,
    RP_TASKS_RESTART
};

/* A message on its way, counted by who uses it: the transport until it is sent, the log until the
 * next checkpoint. */
struct rp_parcel {
    uint32_t uses;
    uint32_t length;
    struct rp_parcel *next; /* in a log */
    struct rp_arena *arena; /* NULL: it has memory of its own */
    _Alignas(16) uint8_t bytes[];
};

struct rp_parcel *rp_parcel_new(size_t length);
struct rp_parcel *rp_parcel_in(struct rp_arenas *arenas, size_t length);
void rp_parcel_drop(struct rp_parcel *parcel);

enum rp_parcel_kind {
    RP_PARCEL_MESSAGE = 1,
    RP_PARCEL_RESULT,
    RP_PARCEL_STORE,
    RP_PARCEL_MOVE,
    RP_PARCEL_WANT,
    RP_PARCEL_GIVE,
    RP_PARCEL_COUNTED = RP_PARCEL_GIVE,
    RP_PARCEL_ASK,
    RP_PARCEL_ANSWER,
    RP_PARCEL_QUIET,
    RP_PARCEL_RECOVERY,
    RP_PARCEL_HELD
};

/* The first bytes of a parcel. */
struct rp_parcel_head {
    uint8_t kind, entry;
    uint16_t cpi_bits;
    uint32_t epoch, stage;
    uint32_t task, spe, srn; /* of a message */
    uint32_t determinants;   /* how many are behind the data */
    uint32_t bytes;
    uint64_t ref, clock;
};

struct rp_transport {
    void (*send)(void *data, int process,
                 struct rp_parcel *parcel);                 /* takes one use of the parcel */
    struct rp_parcel *(*receive)(void *data, int *process); /* NULL: there is none now */
    void (*lost)(void *data,
                 const char *why); /* the run cannot go on; does not return, or only in tests */
    bool in_order; /* parcels of one process to another arrive in the order in which they were sent
                    */
    void *data;
};

struct rp_task_message {
    struct rp_task_message *next;
    struct rp_message_id id;
    uint32_t task, epoch, stage, entry;
    uint64_t ref, clock;
    size_t bytes;
    _Alignas(16) uint8_t data[];
};

struct rp_task_queue {
    struct rp_task_message *first, **end;
    size_t count;
};

void rp_queue_put(struct rp_task_queue *queue, struct rp_task_message *message);
struct rp_task_message *rp_queue_take(struct rp_task_queue *queue, size_t which);
void rp_queue_clear(struct rp_task_queue *queue);

struct rp_determinant {
    uint32_t task;
    uint64_t place; /* at the task: events that were before it */
    struct rp_message_id id;
};

struct rp_determinants {
    struct rp_determinant *list; /* of one task: by place */
    size_t count, room;
};

void rp_determinants_add(struct rp_determinants *list, const struct rp_determinant *one);
bool rp_determinants_insert(struct rp_determinants *list,
                            const struct rp_determinant *one); /* by place; false: it was there */

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
    void *state;  /* NULL: on another process, or not here yet */
    bool due;     /* ours, but its state is not here yet */
    bool adopted; /* since the last checkpoint, from a dead process */
    uint32_t srn;
    uint64_t clock, place;
    uint64_t dependent,
        other; /* events: that are order-dependent, and that are not (a region is two) */
    struct rp_task_region *regions; /* one for each entry */
    struct rp_task_queue waiting;
    struct rp_message_ids seen;   /* since the last checkpoint */
    struct rp_determinants made;  /* by us, of this task, for the record */
    struct rp_determinants known; /* to be followed */
    size_t followed;
    bool has_first;
    bool first_free; /* In a recording: the first event of all was order-dependent, and needs no
                        determinant until another kind comes. In a replay: so it was, whichever has
                        none. */
    struct rp_determinants held;      /* for other processes, by fault tolerance */
    struct rp_parcel *log, **log_end; /* messages that we sent it, to another process */
    struct rp_task_copy copy, attempt;
    struct rp_task_digest *digests;                 /* record: made; replay: to be found again */
    size_t digest_count, digest_room, digest_first; /* first: those before were found */
    bool has_end;                                   /* replay: its last state is known */
    uint64_t end_digest;
    struct rp_taken_list taken; /* replay: its messages, if they are traced */
    uint64_t taken_before;      /* how many it had taken before, on other processes */
};

struct rp_collection {
    struct reprise_collection_spec spec;
    uint32_t first, count, entries;
    bool has_dependent;
    bool is_counted;  /* its one entry is order-dependent, and says how many messages come: the last
                         of them is whichever is left */
    uint64_t version; /* of the checkpoint before it was made */
};

struct rp_reduction {
    int collection, width, entry, reducers;
    enum reprise_operation operation;
    bool has_result;
    uint64_t ref;
    double *values;
};

struct rp_task_early {
    struct rp_parcel *parcel;
    int process;
};

/* What another process told of a failure that we had not heard of. */
struct rp_told_early {
    struct rp_told_early *next;
    int process;
    struct rp_parcel_head head;
    uint8_t data[];
};

/* Of a replay: whose order it follows, and where it writes its own. */
struct rp_task_trace {
    const char *directory; /* NULL: nowhere */
    bool follows;
    struct rp_tasktrace followed;
    int collection, one, other; /* what is free: -1: see REPRISE_TASKS_FREE */
    uint64_t result;
};

enum rp_stage {
    RP_STAGE_OUT,
    RP_STAGE_RUN,
    RP_STAGE_STORE,
    RP_STAGE_AGAIN,
    RP_STAGE_MOVE,
    RP_STAGE_END
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
    struct rp_reduction *reductions;
    int reduction_count;
    struct rp_task *tasks;
    uint32_t task_count;
    struct rp_task_queue ready;  /* to be looked at */
    struct rp_task_early *early; /* of a stage or epoch that is not ours yet */
    size_t early_count, early_room;
    struct rp_task_queue starts; /* since the last checkpoint */
    bool has_starts;             /* since the last run */
    uint32_t main_srn;
    int making; /* the collection whose task is being made */
    uint64_t counts[RP_COUNTS];
    uint64_t random; /* not 0: messages are taken in another order */
    bool shuffles;
    int idle_turns;

    /* what runs now */
    struct rp_task *running;
    const struct rp_task_message *handled; /* NULL: nothing commutative */
    uint32_t children;
    bool ends; /* it is the end of a region */

    /* stages */
    uint32_t stage, epoch;
    enum rp_stage kind;
    bool wave_open, is_asked;
    uint32_t wave, asked_stage, asked_epoch;
    int answers;
    uint64_t wave_sent, wave_received, last_sent, last_received;
    bool has_last;
    uint64_t wave_counts[RP_COUNTS], total[RP_COUNTS];
    uint64_t *sent, *received; /* counted parcels, for each process */

    /* fault tolerance */
    bool *dead;
    int *deaths, dead_count; /* in the order in which all learnt of them */
    int dead_since;          /* since the last checkpoint */
    int spread;              /* over so many processes the tasks of a dead one go */
    int copies;              /* other processes that must hold a determinant */
    uint64_t version;
    bool recovering;
    uint32_t *heard,
        *parts; /* of what each process tells of the present epoch; parts 0: not known yet */
    struct rp_arenas log;     /* the memory of logs */
    struct rp_buffer arrived; /* names of messages that came from others */
    bool wants;               /* copies of tasks that are due */
    uint32_t wanted;
    uint64_t asks, answers_due;
    struct rp_determinants fresh; /* not held by enough others */
    uint64_t fresh_first;         /* the number of the first of them */
    uint64_t *sent_fresh;         /* up to which number each process was sent them */
    uint64_t *held_by;            /* how many of ours each process holds */
    uint64_t *hold_due; /* what each process is to be told that we hold of its own; 0: nothing */
    uint32_t told_stage;
    uint64_t told_version;
    struct rp_determinants told; /* of tasks that we took over */
    bool has_moved, told_move;   /* tasks have moved since the last checkpoint, here or elsewhere */
    struct rp_told_early *told_early;
    bool buddy_changed;
    unsigned holds_due;
    bool is_lost;
    bool has_ended, was_first; /* nothing else is known then */
    uint64_t restored;

    /* record and replay */
    const char *directory;
    struct rp_journal *journal; /* NULL: none */
    bool is_cut_off;            /* replay: what is known of some process ends before its end */
    struct rp_task_trace trace;
    uint8_t *reported; /* for each collection and entry: told that its result differs */
};

/* tasks.c */
extern struct rp_tasks *rp_tasks_now; /* that the public functions mean */
void rp_tasks_init(struct rp_tasks *tasks, enum rp_task_mode mode, int self, int processes,
                   const struct rp_transport *transport);
void rp_tasks_free(struct rp_tasks *tasks);
bool rp_tasks_step(struct rp_tasks *tasks); /* false: nothing to do now */
void rp_tasks_deliver(struct rp_tasks *tasks,
                      struct rp_task_message *message); /* takes it; to one of our own tasks */
void rp_tasks_deliver_here(struct rp_tasks *tasks,
                           struct rp_task_message *message); /* the same, from our own process */
void rp_tasks_take_early(struct rp_tasks *tasks);
void rp_tasks_look_again(struct rp_tasks *tasks, struct rp_task *task);
void rp_tasks_send_parcel(struct rp_tasks *tasks, int process, struct rp_parcel *parcel);
void rp_tasks_tell(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                   const void *data, size_t length); /* sets head->bytes */
void rp_tasks_tell_buffer(struct rp_tasks *tasks, int process, struct rp_parcel_head head,
                          struct rp_buffer *buffer); /* empties the buffer */
struct rp_task_message *rp_message_copy(const struct rp_task_message *message);
struct reprise_index rp_task_index(const struct rp_tasks *tasks, const struct rp_task *task);
void rp_task_name(const struct rp_tasks *tasks, const struct rp_task *task, char name[160]);
static inline uint32_t rp_task_number(const struct rp_tasks *tasks, const struct rp_task *task)
{
    return (uint32_t)(task - tasks->tasks);
}
void rp_task_make(struct rp_tasks *tasks, struct rp_task *task);
void rp_task_empty(struct rp_tasks *tasks,
                   struct rp_task *task); /* its state goes, and what waits for it */
void rp_task_save(const struct rp_tasks *tasks, const struct rp_task *task, struct rp_buffer *out);
bool rp_task_load(struct rp_tasks *tasks, struct rp_task *task, struct rp_view *in);
uint64_t rp_task_hash(const void *bytes, size_t length);
void *rp_task_memory(size_t bytes); /* zeroed, never NULL */
void rp_tasks_lost(struct rp_tasks *tasks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* task_order.c */
bool rp_task_order_may_run(const struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_message *message);
void rp_task_order_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *message); /* it runs now */
void rp_task_order_finished(struct rp_tasks *tasks, struct rp_task *task,
                            uint32_t entry);     /* the region ended */
void rp_task_order_follow(struct rp_task *task); /* finds its place among the known */
void rp_task_add_digest(struct rp_task *task, const struct rp_task_digest *digest);
void rp_task_order_check(
    struct rp_tasks *tasks); /* at the end: counts, digests, what was not followed */

/* task_stages.c */
void rp_stage_begin(struct rp_tasks *tasks, enum rp_stage kind);
bool rp_stage_is_over(const struct rp_tasks *tasks);
void rp_stage_idle(struct rp_tasks *tasks);
void rp_stage_take(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                   const uint8_t *data);
void rp_stage_next(struct rp_tasks *tasks);
void rp_stage_reset(struct rp_tasks *tasks); /* after a failure: waves begin again */
int rp_stage_first(const struct rp_tasks *tasks);

/* task_owners.c */
void rp_owners_map(struct rp_tasks *tasks, const struct rp_collection *collection,
                   int (*map)(struct reprise_index, int)); /* NULL: blocks of equal length */
void rp_owners_move(struct rp_tasks *tasks, int collection, int (*map)(struct reprise_index, int));
void rp_owners_moved(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                     const uint8_t *data);
void rp_owners_died(struct rp_tasks *tasks); /* the last of `deaths` */
void rp_owners_want(struct rp_tasks *tasks); /* asks for copies of what is due */
void rp_owners_wanted(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                      const uint8_t *data);
void rp_owners_given(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                     const uint8_t *data);
void rp_owners_lost(struct rp_tasks *tasks);
int rp_owners_next_living(const struct rp_tasks *tasks, int process);

/* task_log.c */
void rp_task_log_sent(struct rp_tasks *tasks, struct rp_task *to,
                      struct rp_parcel *parcel); /* takes one more use of it */
void rp_task_log_clear(struct rp_task *task);
void rp_task_log_send_again(struct rp_tasks *tasks, struct rp_task *task);
bool rp_task_log_arrived(struct rp_tasks *tasks, uint32_t task,
                         const struct rp_message_id *id); /* false: it came before */
void rp_task_log_expect_again(struct rp_tasks *tasks);    /* what came may come again */

/* task_determinants.c */
void rp_determinants_made(struct rp_tasks *tasks, const struct rp_determinant *one);
uint32_t rp_determinants_put_fresh(struct rp_tasks *tasks, int process, struct rp_buffer *out);
void rp_determinants_hold(struct rp_tasks *tasks, int process, uint32_t count, const uint8_t *bytes,
                          size_t length);
void rp_determinants_settle(struct rp_tasks *tasks);
void rp_determinants_say_held(struct rp_tasks *tasks);
void rp_determinants_held(struct rp_tasks *tasks, int process, uint64_t number); /* it says so */
void rp_determinants_forget(struct rp_tasks *tasks, uint64_t upto);
void rp_put_determinant(struct rp_buffer *out, const struct rp_determinant *one);
bool rp_get_determinant(struct rp_view *in, struct rp_determinant *one);

/* task_ft.c */
bool rp_tasks_ft_logs(const struct rp_tasks *tasks);
bool rp_tasks_ft_is_on(const struct rp_tasks *tasks);
void rp_copy_set(struct rp_task_copy *copy, const uint8_t *bytes, size_t length, uint64_t version);
void rp_tasks_ft_store(struct rp_tasks *tasks);
void rp_tasks_ft_stored(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                        const uint8_t *data);
void rp_tasks_ft_commit(struct rp_tasks *tasks);
bool rp_tasks_ft_restore(struct rp_tasks *tasks,
                         uint32_t number);                    /* false: there is no copy here */
void rp_tasks_ft_failed(struct rp_tasks *tasks, int process); /* in the same order at all */
void rp_tasks_ft_told(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                      const uint8_t *data);

/* task_reduce.c */
void rp_reduce_result(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                      const uint8_t *data);

/* task_trace.c */
enum rp_status rp_task_trace_begin(struct rp_tasks *tasks,
                                   struct rp_problem *why); /* when all collections are known */
bool rp_task_trace_may_run(const struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_message *message);
void rp_task_trace_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *message); /* it runs now */
void rp_task_trace_moved(struct rp_task *task,
                         uint64_t taken); /* it comes here, and has taken so many */
void rp_task_trace_digest(struct rp_tasks *tasks, const struct rp_task *task,
                          const struct rp_task_digest *found);
enum rp_status rp_task_trace_write(const struct rp_tasks *tasks, struct rp_problem *why);

/* task_file.c */
enum rp_status rp_task_file_begin(struct rp_tasks *tasks,
                                  struct rp_problem *why); /* when all collections are known */
void rp_task_file_determinant(struct rp_tasks *tasks, const struct rp_determinant *one);
void rp_task_file_digest(struct rp_tasks *tasks, uint32_t task,
                         const struct rp_task_digest *digest);
enum rp_status rp_task_file_write(struct rp_tasks *tasks, struct rp_problem *why);
enum rp_status rp_task_file_read(struct rp_tasks *tasks, struct rp_problem *why);
enum rp_status rp_task_file_parse(struct rp_tasks *tasks, const uint8_t *bytes, size_t length,
                                  struct rp_problem *why);
enum rp_status rp_task_file_make(const struct rp_tasks *tasks, struct rp_buffer *out,
                                 struct rp_problem *why);

#endif
