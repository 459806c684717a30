/* SPDX-License-Identifier: MIT */
/* The state of a running replay: a small file that all ranks and the command that started them map.
 * It says how far each rank is and what it waits for. Runs of `reprise stress` use it for what
 * ranks wait for. */
#ifndef RP_REPLAYSTATE_H
#define RP_REPLAYSTATE_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/futex_wait.h"
#include "base/buffer.h"
#include "base/status.h"
#include "job/job_names.h"
#include "log/jobs.h"

enum rp_rank_state {
    RP_RANK_ABSENT = 0, /* has not initialised MPI yet */
    RP_RANK_RUNNING,    /* in the program, or in a call that we do not see */
    RP_RANK_WAITING,    /* in one of our waits: `what` says for what */
    RP_RANK_PARKED,     /* at the end of its record */
    RP_RANK_FREE,       /* past the end of its record, running on */
    RP_RANK_FINISHED,   /* in MPI_Finalize, everything replayed */
    RP_RANK_DIVERGED,
    RP_RANK_FAILED,    /* gave up for another reason, which it said */
    RP_RANK_ENDED,     /* called MPI_Abort or exited without MPI_Finalize */
    RP_RANK_UNSPAWNED, /* nobody has spawned it yet */
};

enum rp_stopped {
    RP_STOPPED_NOT,
    RP_STOPPED_AT_END, /* everything was replayed */
    RP_STOPPED_SHORT,  /* what is left needs messages of ranks whose record ended before */
};

/* Whether only another rank can end a wait. */
enum rp_certainty {
    RP_CERTAIN_NOT,     /* another thread of the rank may end it */
    RP_CERTAIN_CALL,    /* a blocking call of MPI, or a request that is no receive: it may be in the
                           middle of a transfer */
    RP_CERTAIN_RECEIVE, /* a receive, whose message may be under way */
    RP_CERTAIN_MESSAGE, /* a message of which MPI has seen nothing */
};

/* What one rank writes at every event lies apart from what others read at every send. */
enum { RP_STATE_LINE = 64, RP_STATE_WHAT = 160 };

/* What a rank waits for. A reader never sees a text that is half written. */
struct rp_state_text {
    _Atomic uint32_t version; /* odd while it is written */
    char text[RP_STATE_WHAT];
};

/* Slots are of the processes of all jobs of the record, in the order of rp_jobs_read. */
struct rp_rank_slot {
    _Alignas(RP_STATE_LINE) _Atomic uint32_t state;
    uint32_t pid;
    _Atomic uint64_t done;      /* events replayed */
    uint64_t total;             /* events recorded */
    uint32_t certain;           /* of WAITING: enum rp_certainty */
    int64_t since;              /* CLOCK_MONOTONIC seconds, of WAITING */
    char name[RP_PROCESS_NAME]; /* never changes once it is there */
    struct rp_state_text what;
    /* By the thread of the rank that watches it (engine/standstill.c). */
    _Atomic uint32_t beats; /* its looks: they stop while the process is stopped */
    _Atomic uint64_t moves; /* changes whenever the rank does anything that MPI or a replay sees */
    _Atomic uint32_t in_call; /* it is inside a blocking call of MPI, as it was at the look before;
                                 with threads: all of them wait */
    _Atomic uint32_t
        open_end; /* it has nothing left to replay, and its record does not end with MPI_Finalize */
    int64_t call_since; /* as `since` */
    struct rp_state_text call;
    _Alignas(RP_STATE_LINE) struct rp_futex bell; /* wakes the rank: another has sent to it */
};

struct rp_replay_state {
    uint8_t magic[8];
    uint32_t ranks;
    _Atomic uint32_t stopped;     /* the replay itself ended the job: RP_STOPPED_... */
    _Atomic uint32_t reported;    /* the first to set it reports a divergence or a stall for all */
    _Atomic uint32_t has_verdict; /* the first to set it prints the verdict for all */
    _Atomic uint32_t refused;  /* 1 + the rank that was refused a call behind its last event, which
                                  its `what` names; 0: none */
    _Atomic int32_t left_with; /* status with which all ranks left before the first event; or 0 */
    _Atomic int32_t awake;     /* ranks that run, or poll */
    _Atomic uint32_t sleepers; /* ranks that are asleep */
    struct rp_rank_slot rank[];
};

enum rp_status rp_state_create(const char *path, uint32_t ranks, struct rp_problem *why);

/* The same for all processes of these jobs: those that are spawned are RP_RANK_UNSPAWNED. */
enum rp_status rp_state_create_for(const char *path, const struct rp_jobs *jobs,
                                   struct rp_problem *why);

/* `ranks` 0: as many as the file has. */
enum rp_status rp_state_map(const char *path, uint32_t ranks, struct rp_replay_state **out,
                            struct rp_problem *why);

/* Returns the slot of the process of that name, or state->ranks if there is none. */
uint32_t rp_state_find(const struct rp_replay_state *state, const char *name);

/* The processes of a spawned job: rp_state_job_size returns how many there are, 0 if there is no
 * such job; rp_state_set_job sets the state of those that have not started. */
uint32_t rp_state_job_size(const struct rp_replay_state *state, const char *job);
void rp_state_set_job(struct rp_replay_state *state, const char *job, enum rp_rank_state is);

/* Returns how many slots are of processes that were spawned. */
uint32_t rp_state_children(const struct rp_replay_state *state);

/* rp_ranks_words of the state. */
const char *rp_state_ranks(const struct rp_replay_state *state, char text[RP_RANKS_WORDS]);
void rp_state_unmap(struct rp_replay_state *state);

/* Maps the file `path`; the first process that comes makes it, with slots for `children` that are
 * RP_RANK_UNSPAWNED and have no name yet. Returns NULL if it can be neither made nor mapped. */
struct rp_replay_state *rp_state_join(const char *path, uint32_t ranks, uint32_t children);

/* Maps the file `path` for reading only; the caller need not know the number of ranks. */
enum rp_status rp_state_open(const char *path, struct rp_replay_state **out,
                             struct rp_problem *why);

/* rp_state_set_text sets a text; the rank itself calls it. rp_state_get_text copies a text into
 * `text`, and returns that. */
__attribute__((format(printf, 2, 3))) void rp_state_set_text(struct rp_state_text *to,
                                                             const char *format, ...);
__attribute__((format(printf, 2, 0))) void
rp_state_set_text_v(struct rp_state_text *to, const char *format, va_list arguments);
const char *rp_state_get_text(const struct rp_state_text *from, char text[RP_STATE_WHAT]);

/* Returns what a rank does now (enum rp_rank_state). A rank that runs, but has been inside a
 * blocking call of MPI for a while, counts as waiting. */
uint32_t rp_state_now(const struct rp_rank_slot *slot);

/* For a rank that waits: rp_state_what returns what it waits for, copied into `what`;
 * rp_state_waited returns for how many seconds it has waited. */
const char *rp_state_what(const struct rp_rank_slot *slot, char what[RP_STATE_WHAT]);
long long rp_state_waited(const struct rp_rank_slot *slot);

/* Returns the word for a state (enum rp_rank_state): "runs", "waits", ... */
const char *rp_state_word(uint32_t state);

/* Appends a line for each rank that waits: since when and for what. */
void rp_state_print_waits(const struct rp_replay_state *state, struct rp_buffer *out);

/* Appends a line for each rank that has not finished: what it does and how far it is. */
void rp_state_print(const struct rp_replay_state *state, struct rp_buffer *out);

/* Returns the sum of all moves. As long as it stays the same, no rank does anything. */
uint64_t rp_state_moves(const struct rp_replay_state *state);

/* Returns whether no rank can do anything any more: each waits with at least the certainty `least`,
 * is parked or has finished. */
bool rp_state_is_stuck(const struct rp_replay_state *state, enum rp_certainty least);

/* Returns whether there is nothing left to do: everything is replayed, or all ranks wait. */
bool rp_state_is_over(const struct rp_replay_state *state);

/* Returns the rank that has replayed the smallest fraction of its events, among those that have
 * events left; state->ranks if none has. */
uint32_t rp_state_slowest(const struct rp_replay_state *state);

/* Sets *total to the number of recorded events of all ranks, and *done to how many of them are
 * replayed. */
void rp_state_sum(const struct rp_replay_state *state, uint64_t *done, uint64_t *total);

#endif
