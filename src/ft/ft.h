/* SPDX-License-Identifier: MIT */
/*
 * Surviving dead ranks: what the parts of libreprise-ft.so share.
 *
 * The program's MPI is made here, on top of one real communicator that holds all ranks and spares,
 * the *world of processes*. Every message of the program travels in it as one of ours: a header
 * (struct rp_ft_wire), with the payload behind it or in a message of its own, unless the receiver
 * reads it in the sender's log. We match messages with receives ourselves, and collectives are
 * algorithms over such messages. So all that the program does is messages in channels: one for each
 * pair of ranks, numbered from 0. The sender keeps each in its log until the receiver's next
 * checkpoint.
 *
 * When a process dies, the survivors stay inside their calls: they make a new world of processes in
 * which a spare has the dead one's rank, tell each other how many messages of each channel arrived,
 * and send again what did not (ft_recover.c). The spare starts the program anew; its messages come
 * from the logs, and what it sends is dropped as long as its receiver has it.
 *
 * Ranks are those of the program's world; "process" is a rank in the real communicator.
 */
#ifndef RP_FT_H
#define RP_FT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/job_progress.h"
#include "ft_entries.h"

/* Processes without MPI load this library, too. */
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_group_empty
#pragma weak ompi_request_null
#pragma weak ompi_message_no_proc
#pragma weak ompi_message_null
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_int64_t
#pragma weak ompi_mpi_uint64_t
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_replace
#pragma weak ompi_mpi_op_no_op
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_errors_are_fatal
#pragma weak ompi_mpi_info_null

/* What travels. */
enum rp_ft_kind {
    RP_FT_DATA = 1,
    RP_FT_CHECKPOINT,
    RP_FT_STORED,
    RP_FT_SAFE,
    RP_FT_MATCHED,
    RP_FT_ASK_MATCHED,
    RP_FT_OFFER,
    RP_FT_ACCEPT,
    RP_FT_DECLINE
};

enum {
    RP_FT_SETUP = 1,  /* it repeats a message of the setup, for a rank that runs through it again */
    RP_FT_SYNC = 2,   /* the sender wants to know when it is matched */
    RP_FT_SHARED = 4, /* the payload is read in the sender's log */
    RP_FT_STAYS =
        8, /* not on the wire: the buffer stays as it is until the copy that is sent has left */
};

struct rp_ft_wire {
    uint32_t kind, flags;
    int32_t context; /* two for each communicator: messages and collectives */
    int32_t source;  /* the sender's rank in that communicator */
    int32_t tag;
    int32_t from; /* the sender's rank */
    uint64_t seq; /* in its channel */
    uint64_t bytes;
    uint64_t place; /* of the payload, if shared */
};

enum {
    RP_FT_INLINE = 16384,     /* longer payloads that travel do so by themselves */
    RP_FT_SHARED_FROM = 2048, /* shorter ones always travel */
    RP_FT_ALIGN = 16,
};

/* ft_life.c: who we are. */
struct rp_ft_state {
    bool on;             /* between MPI_Init and MPI_Finalize, with fault tolerance */
    int rank, ranks;     /* of the program; rank is -1 in a spare */
    int spares;          /* at the start */
    MPI_Comm world;      /* of processes */
    int *process_of;     /* ranks -> ranks in `world` */
    unsigned epoch;      /* how many worlds there were before */
    bool broken;         /* a call told of a failure: the next progress recovers */
    bool in_setup;       /* before the first iteration */
    bool finished;       /* in MPI_Finalize */
    bool is_replacement; /* was a spare */
    long iteration;      /* -1 before the first */
    long calls;          /* of MPI, in this iteration */
    long iterations;     /* begun by this process */
    const char *call;    /* the one that we are in */
};
extern struct rp_ft_state rp_ft;

/* Ends the job and says why, unless another process does already. */
void rp_ft_die(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void rp_ft_end(int status) __attribute__((noreturn));
/* The same without a word to MPI, for threads of our own while it is at work. */
void rp_ft_give_up(int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void rp_ft_end_if_told(void); /* if another process ends the job */
/* ft_exit.c: from here on it is known how the program ends. */
void rp_ft_exit_start(void);
void rp_ft_note_state(enum rp_process_state state); /* so far it has come */
void rp_ft_note_iteration(void); /* which is its rank, and where it is in the loop */
bool rp_ft_is_on_roll(void);     /* the command knows how far */
void rp_ft_leave_init(void);     /* returns unless the job is to be started again */
void *rp_ft_alloc(size_t bytes); /* zeroed; never NULL */
double rp_ft_now(void);          /* seconds */

/* Real functions of ULFM. */
int rp_ulfm_revoke(MPI_Comm comm);
int rp_ulfm_shrink(MPI_Comm comm, MPI_Comm *out);
int rp_ulfm_agree(MPI_Comm comm, int *flag);
bool rp_ulfm_has_failed(MPI_Comm comm, int process);
bool rp_ulfm_find(void);

/* ft_log.c: messages that were sent. An entry is followed by its payload. */
struct rp_arena;
struct rp_ft_entry {
    struct rp_ft_entry *next;
    struct rp_arena *arena;
    MPI_Request real[2]; /* while under way */
    bool under_way, matched;
    _Atomic bool taken;            /* by the receiver, if shared */
    struct rp_ft_request *request; /* that waits for it, or NULL */
    struct rp_ft_entry *next_under_way;
    long iteration; /* that it belongs to */
    size_t stored;  /* bytes of the payload that follow; fewer than it has if it is squeezed */
    void *whole;    /* then: all of it, while under way from the log */
    struct rp_ft_wire wire; /* last: the payload follows */
};

struct rp_ft_log {
    struct rp_ft_entry *first, *last; /* in order of seq, those that may be needed again */
    struct rp_ft_entry *setup_first, *setup_last;
    uint64_t first_seq; /* what is before was released or dropped */
};

void *rp_ft_payload(struct rp_ft_entry *entry);
struct rp_ft_entry *rp_ft_log_append(struct rp_ft_log *log, size_t stored,
                                     bool again); /* again: an entry of the setup */
uint64_t rp_ft_log_place(
    const struct rp_ft_entry *entry); /* of its payload, for others; or RP_ARENA_NOWHERE */
void rp_ft_log_start(void);
int rp_ft_log_file(void);                            /* that others can read it in, or -1 */
void rp_ft_log_pin(struct rp_ft_entry *entry);       /* its memory is not used again */
void rp_ft_log_share_no_more(struct rp_ft_log *log); /* its entries are not read by others */
void rp_ft_log_setup_ends(struct rp_ft_log *log);
/* Forgets what has a smaller seq, but for what is under way or not read yet, and what is behind
 * that. */
void rp_ft_log_release(struct rp_ft_log *log, uint64_t before);
/* Drops the oldest entries of the loop while there is more than the capacity. */
void rp_ft_log_cap(void);
/* What is sent from here on belongs to this iteration; what belongs to those before the last
 * `rp_ft_log_span` is dropped. */
void rp_ft_log_begin(long iteration);
void rp_ft_log_uncap(void); /* nothing is dropped from here on */
bool rp_ft_log_is_capped(void);
extern size_t rp_ft_log_bytes, rp_ft_log_capacity, rp_ft_log_peak;
extern long rp_ft_log_span; /* iterations that it reaches back; 0: all */

/* ft_squeeze.c: payloads in fewer bytes. */
extern bool rp_ft_squeezes;
void rp_ft_squeeze_start(void);
const void *rp_ft_squeeze(const void *buffer, int count, MPI_Datatype type, size_t bytes,
                          size_t *squeezed); /* valid until the next; NULL: it would not help */
void *rp_ft_unsqueeze(const void *squeezed, size_t length, size_t bytes); /* to be freed */

/* A channel to and from one rank. */
struct rp_ft_channel {
    struct rp_ft_log log;
    uint64_t sent;          /* messages, and the seq of the next */
    uint64_t setup_sent;    /* the first one that is not of the setup */
    uint64_t suppress;      /* the receiver has what is before, but for `wanted` */
    uint64_t *wanted;       /* sorted: payloads that it lacks */
    uint64_t *wanted_setup; /* of messages that are repeated for it */
    size_t wanted_count, wanted_setup_count;
    uint64_t arrived;       /* messages: the seq of the next */
    uint64_t setup_again;   /* sent, when we run through the setup again */
    uint64_t setup_arrived; /* of those that are repeated for us */
    uint64_t setup_wanted;  /* they run through the setup again, and lack what is from here on;
                               UINT64_MAX: they do not */
};
extern struct rp_ft_channel *rp_ft_channels;

/* ft_wire.c: the transport. */
void rp_ft_wire_open(void);  /* on rp_ft.world */
void rp_ft_wire_close(void); /* that world was revoked and shrunk: whatever was under way ends */
void rp_ft_transmit(struct rp_ft_entry *entry, int to, uint32_t flags,
                    const void *payload); /* NULL: from the log; a long one may also be elsewhere */
void rp_ft_transmit_payload(struct rp_ft_entry *entry, int to, uint32_t flags); /* alone */
int rp_ft_payload_tag(const struct rp_ft_wire *wire);
/* Of a world that was revoked and left by all who live; `peer` is a process of it, or -1. False: it
 * does not end, and its memory must not be used for anything else. */
bool rp_ft_end_request(MPI_Request *real, int peer);
/* A message of our own, without a log; the payload must stay. */
void rp_ft_control(enum rp_ft_kind kind, int to, uint64_t seq, const void *payload, size_t bytes);
void rp_ft_control_with(struct rp_ft_wire wire, int to);
/* Takes in what came, and recovers from failures. */
void rp_ft_progress(void);
#define RP_FT_WAIT_UNTIL(condition)                                                                \
    do {                                                                                           \
        while (!(condition))                                                                       \
            rp_ft_pause();                                                                         \
    } while (0)
/* Lets others get on: progress, or the coroutine's caller. */
void rp_ft_pause(void);

/* ft_share.c: payloads that need not travel. */
void rp_ft_share_start(void);
void rp_ft_share_begin_world(void); /* who reads what is settled anew */
bool rp_ft_share_with(int to, const struct rp_ft_entry *entry);
void rp_ft_share_offer(int to); /* to read our log, once in a world */
void rp_ft_share_offered(const struct rp_ft_wire *offer);
void rp_ft_share_accepted(int by);
void rp_ft_share_declined(int by);
const void *rp_ft_share_find(
    const struct rp_ft_wire *wire); /* the payload; NULL: it cannot be read, and will travel */
void rp_ft_share_take(const void *payload); /* it was copied: the sender may drop it */

/* ft_match.c: messages and receives. */
struct rp_ft_request;

struct rp_ft_message { /* that came and was not received yet; inline payloads follow */
    struct rp_ft_message *next;
    struct rp_ft_wire wire;
    bool has_payload;
};

struct rp_ft_context {
    struct rp_ft_request *posted, **posted_end;
    struct rp_ft_message *unexpected, **unexpected_end;
};
struct rp_ft_context *rp_ft_context(int32_t number);
int32_t rp_ft_context_count(void);
void rp_ft_arrive(const struct rp_ft_wire *wire,
                  const void *payload); /* payload NULL: it comes by itself */
void rp_ft_post(struct rp_ft_request *request);
struct rp_ft_message *rp_ft_find(int32_t context, int source,
                                 int tag); /* the first that matches, or NULL */
void rp_ft_take(struct rp_ft_message *message,
                struct rp_ft_request *request); /* out of its queue, into the request */
/* The program has it, by a matched probe, until it receives it. */
void rp_ft_hold(struct rp_ft_message *message);
void rp_ft_take_held(struct rp_ft_message *message, struct rp_ft_request *request);
bool rp_ft_holds(void);
void rp_ft_payloads_progress(void);
void rp_ft_match_forget(void);       /* everything: a rollback of all */
void rp_ft_match_drop_program(void); /* messages of the program that it did not receive */
void rp_ft_match_forget_later(void); /* the same, while we run through the setup */
void rp_ft_payloads_fail(void);      /* the world is gone: they will be sent again */
void rp_ft_payloads_again(void);     /* in the new world */
void rp_ft_pull_payloads(void);      /* of messages that nobody received yet */
void *rp_ft_message_payload(struct rp_ft_message *message);
bool rp_ft_unpost(struct rp_ft_request *request);
void rp_ft_asked(int from, uint64_t seq); /* tell when it is matched */
/* Messages of the loop that came while we run through the setup again. */
extern bool rp_ft_replays_setup;
void rp_ft_match_begin_jump(struct rp_ft_message **kept);
void rp_ft_match_restore(const struct rp_ft_wire *wire, const void *payload);
void rp_ft_match_end_jump(struct rp_ft_message *kept);
void rp_ft_missing(int from, bool setup, uint64_t **list, size_t *count);

/* ft_requests.c */
enum rp_ft_request_kind { RP_FT_SEND, RP_FT_RECEIVE, RP_FT_COLLECTIVE };

struct rp_ft_request {
    enum rp_ft_request_kind kind;
    bool done, active, persistent;
    uint32_t send_flags;
    struct rp_ft_request *next, **back; /* among the posted */
    void *buffer;
    int count;
    MPI_Datatype type;
    bool owns_type; /* a copy: the program may free its own */
    struct rp_ft_comm *comm;
    int32_t context;
    int peer, tag;             /* source or destination in the communicator; may be wildcards */
    struct rp_ft_entry *entry; /* send: the log's, while it is under way */
    MPI_Request real;          /* receive: its payload */
    MPI_Fint fortran; /* its number there, or 0; MPI's own requests have it in the same place
                         (ft_fortran.c) */
    MPI_Status status;
    struct rp_ft_wire taken; /* receive: the message */
    void *bounce;
    uint64_t wildcard; /* number of the wildcard receive plus one, or 0 */
    int bound_rank;    /* replay: it takes this one message */
    uint64_t bound_seq;
    struct rp_ft_request *next_pending, *next_persistent;
};
struct rp_ft_request *rp_ft_request_new(enum rp_ft_request_kind kind, struct rp_ft_comm *comm);
void rp_ft_request_free(struct rp_ft_request *request);
bool rp_ft_request_done(struct rp_ft_request *request);
/* Ends it for the program: the status is given, the handle becomes null unless persistent. */
int rp_ft_request_complete(MPI_Request *handle, MPI_Status *status);
void rp_ft_request_is_persistent(struct rp_ft_request *request);
extern size_t rp_ft_requests_active; /* that the program started and did not complete */
void rp_ft_requests_forget(void);    /* none is under way: a rollback of all */

/* ft_fortran.c: pairs of a value and a place that C has not. False: it is not about these. */
bool rp_ft_is_pair(MPI_Datatype type);
bool rp_ft_combine_pairs(const void *left, void *right, int count, MPI_Datatype type,
                         MPI_Op op); /* into the right */

void rp_ft_fortran_forget(struct rp_ft_request *request); /* ft_fortran.c: that it has a number */

/* What the send of an entry waited for has happened. */
void rp_ft_entry_done(struct rp_ft_entry *entry);

/* ft_determinants.c */
void rp_ft_determinants_from(int64_t generation);
void rp_ft_determinants_forget(
    int64_t generation); /* those since the checkpoint, and since any later one */
void rp_ft_determinant_get(struct rp_ft_request *request);
void rp_ft_determinant_put(struct rp_ft_request *request);
bool rp_ft_outcome_is_no(void);           /* the next answer was a no, which is taken */
bool rp_ft_outcome_next(int64_t *answer); /* the next answer, if it is known */
void rp_ft_outcome_put_list(int count,
                            const int *answers); /* how many, and which: all of it or nothing */
void rp_ft_outcome_no(void);
void rp_ft_outcome_put(int64_t answer);
/* The next message: may the program (0) or the coroutine of this number send it? Then it takes its
 * turn, before the message is sent. */
bool rp_ft_turn_is(uint32_t who);
void rp_ft_turn_take(uint32_t who);

/* ft_types.c */
bool rp_ft_is_plain(MPI_Datatype type, size_t *size); /* memory as it is on the way */
size_t rp_ft_size(int count, MPI_Datatype type);
void rp_ft_pack(const void *buffer, int count, MPI_Datatype type, void *out, size_t bytes);
/* Returns MPI_SUCCESS or MPI_ERR_TRUNCATE. */
int rp_ft_unpack(const void *in, size_t bytes, void *buffer, int count, MPI_Datatype type);
MPI_Datatype rp_ft_type_keep(MPI_Datatype type, bool *owns); /* itself, or a copy to be freed */
void *rp_ft_offset(const void *buffer, long elements, MPI_Datatype type);
/* A buffer for count elements, to be freed by rp_ft_temporary_free. */
void *rp_ft_temporary(int count, MPI_Datatype type);
void rp_ft_temporary_free(void *buffer, MPI_Datatype type);
void rp_ft_copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                MPI_Datatype to_type);
void rp_ft_status_set(MPI_Status *status, int source, int tag, int error, size_t bytes);
void rp_ft_status_empty(MPI_Status *status);

/* ft_comms.c: the program's communicators. */
enum rp_ft_topology { RP_FT_NO_TOPOLOGY, RP_FT_CART, RP_FT_DIST_GRAPH };
struct rp_ft_comm {
    MPI_Comm handle; /* a real one of this process alone: attributes, names, error handlers are its
                        own */
    int32_t context; /* and the next */
    int rank, size;
    int *members; /* ranks of the world */
    enum rp_ft_topology topology;
    int dims, *dim, *periodic, *coords;                  /* cartesian */
    int in_degree, out_degree, *in, *out, *in_w, *out_w; /* neighbours */
    int weighted;
    bool in_loop;         /* made after the setup */
    uint32_t collectives; /* calls so far */
    struct rp_ft_comm *next;
};
struct rp_ft_comm *rp_ft_comm_of(MPI_Comm handle);
struct rp_ft_comm *rp_ft_comm_by_context(int32_t context); /* or NULL */
void rp_ft_comms_forget_loop(void);                        /* those that were made in it */
void rp_ft_comms_start(void);
int rp_ft_world_rank(const struct rp_ft_comm *comm, int peer);
int rp_ft_error(struct rp_ft_comm *comm, int code); /* by the communicator's error handler */
int rp_ft_error_of(const struct rp_ft_comm *comm,
                   int code); /* the same, if it is still there; else the world's */
const struct rp_ft_comm *rp_ft_comm_made_in_loop(void);
void rp_ft_context_is_used(int32_t context); /* later communicators get later ones */
extern int32_t rp_ft_next_context;

/* ft_pt2pt.c: by which everything else communicates. Peers are ranks of the communicator. */
void rp_ft_send(struct rp_ft_comm *comm, int32_t context, int to, int tag, const void *buffer,
                int count, MPI_Datatype type, uint32_t flags, struct rp_ft_request *request);
struct rp_ft_request *rp_ft_receive(struct rp_ft_comm *comm, int32_t context, int from, int tag,
                                    void *buffer, int count, MPI_Datatype type);
/* Waits and frees it. */
int rp_ft_finish(struct rp_ft_request *request);

/* ft_collectives.c, ft_coroutines.c */

void rp_ft_barrier(struct rp_ft_comm *comm);
/* Sends an empty message to each other rank, and receives theirs: what they sent before has come.
 * `lines` of each: the number behind that message. */
void rp_ft_draw_lines(struct rp_ft_comm *world, uint64_t *lines);
void rp_ft_allgather(struct rp_ft_comm *comm, const void *mine, size_t bytes, void *all);
/* Runs it on a stack of its own until it would wait, and further whenever there is progress. */
void rp_ft_coroutine_start(void (*run)(void *), void *data);
void rp_ft_coroutines_step(void);
bool rp_ft_inside_coroutine(void);
uint32_t rp_ft_coroutine_number(
    void); /* of the one that runs, in the order of their starts, from 1; 0: none */
void rp_ft_coroutines_count_anew(void);
void rp_ft_yield(void); /* from inside */
void rp_ft_coroutines_forget(void);

/* ft_clock.c: unless it is stopped within so many seconds, the job ends: "WHAT within SECONDS s:
 * WHY". One at a time. */
void rp_ft_clock_start(int seconds, const char *what, const char *why);
void rp_ft_clock_stop(void);

/* ft_respawn.c */
int rp_ft_respawn_limit(void);
extern int rp_ft_respawned; /* so many were started */
/* By all who live: a communicator of them and a new process. Ends the job if it cannot be had. */
MPI_Comm rp_ft_respawn(MPI_Comm living);
/* In a process that begins: false if the launcher was told to start it. Else it gets the
 * environment of those who started it. */
bool rp_ft_respawn_environment(void);
/* That communicator, in a new process; MPI_COMM_NULL: it is none. */
MPI_Comm rp_ft_respawn_join(void);

/* ft_recover.c */
void rp_ft_recover(void);
void rp_ft_recover_in(MPI_Comm world); /* as a new process, in that of a recovery that goes on */
/* Returns when all ranks are in MPI_Finalize. */
void rp_ft_spare(void);  /* returns when this process has a rank; ends it if it is not needed */
extern bool rp_ft_ended; /* all ranks have finished */
extern unsigned rp_ft_recoveries;
void rp_ft_world_set(MPI_Comm world, const int *process_of);

/* ft_checkpoint.c */
struct rp_ft_checkpoint {
    int64_t generation; /* -1: none */
    size_t bytes;
    uint8_t *blob;
};
enum { RP_FT_GENERATIONS = 2 };
extern struct rp_ft_checkpoint rp_ft_own[RP_FT_GENERATIONS];
void rp_ft_checkpoint_put(struct rp_ft_checkpoint list[RP_FT_GENERATIONS], int64_t generation,
                          const void *blob, size_t bytes);
struct rp_ft_checkpoint *rp_ft_checkpoint_find(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                               int64_t generation);
/* The place of this generation in the list, or of the oldest. */
struct rp_ft_checkpoint *rp_ft_checkpoint_slot(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                               int64_t generation);
/* Sends our keepers the last one, if they do not have it: in every new world. */
void rp_ft_checkpoint_give(void);
void rp_ft_checkpoint_stored(int64_t generation);         /* all our keepers have it */
void rp_ft_checkpoint_safe(int rank, int64_t generation); /* all keepers of another rank have it */
/* Sets channels to what they were in it. */
void rp_ft_checkpoint_counters(const struct rp_ft_checkpoint *checkpoint);
/* A spare got a rank: the loop will begin with this checkpoint; -1: with none. */
void rp_ft_checkpoint_choose(int64_t generation);
/* All roll back to it: the channels are set, the program goes back to its loop. Returns in a rank
 * that runs through its setup. */
void rp_ft_checkpoint_jump(int64_t generation);
void rp_ft_checkpoints_forget(void);
void rp_ft_checkpoints_forget_after(int64_t generation);
void rp_ft_checkpoints_start(void);

/* ft_copies.c: the keepers of a rank are the ranks that keep copies of its checkpoints. */
extern int rp_ft_copies; /* of each rank's; fewer than there are ranks */
int rp_ft_keeper(int rank, int copy);
struct rp_ft_checkpoint *rp_ft_held(int rank); /* RP_FT_GENERATIONS: what we keep of it */
void rp_ft_copies_start(void);
/* By all processes at the start: places the copies by their hosts. Returns an error of MPI. */
int rp_ft_copies_gather(MPI_Comm world);
const int64_t *rp_ft_copies_hosts(void); /* of the ranks; NULL: this process is new */
void rp_ft_copies_place(const int64_t *hosts);
void rp_ft_copies_forget_after(int64_t generation); /* what we keep of later ones; -1: all */
/* One is on its way from another rank: memory for it, which is kept as that generation when it has
 * come; if it does not come, the memory is given up. */
uint8_t *rp_ft_copy_expect(int from, size_t bytes);
void rp_ft_copy_arrived(int from, int64_t generation);
void rp_ft_copy_expect_no_more(int from);
void rp_ft_copies_give(const struct rp_ft_checkpoint *one); /* to those who do not have it yet */
void rp_ft_copy_stored(int by, int64_t generation);
int64_t rp_ft_copies_stored(void); /* the latest that all keepers have; INT64_MAX: there are none */
void rp_ft_copies_are_stored(int64_t generation);

/* ft_files.c */
void rp_ft_files_start(void);
bool rp_ft_files_on(void);
const char *rp_ft_files_way_on(void); /* for the user, when the job ends */
void rp_ft_files_write(
    const struct rp_ft_checkpoint *checkpoint); /* in the background; it must stay */
void rp_ft_files_wait(void);                    /* until it is written */
void rp_ft_files_write_for(
    int rank,
    const struct rp_ft_checkpoint list[RP_FT_GENERATIONS]); /* a dead one, whose keeper we are: what
                                                               it did not write any more */
void rp_ft_files_release(int64_t generation); /* this one and the one before it are whole */
void rp_ft_files_list(int rank, int64_t out[RP_FT_GENERATIONS]);
bool rp_ft_files_read(int rank, int64_t generation,
                      struct rp_ft_checkpoint list[RP_FT_GENERATIONS]);

/* ft_inject.c */
void rp_ft_inject_start(void);
bool rp_ft_inject_call(void); /* whether there may be more */
void rp_ft_inject_init(void); /* MPI_Init begins, or ends */
void rp_ft_inject_leaves(void);
void rp_ft_inject_recovery(int step);
/* At the entry of every MPI function of the program. */
extern bool rp_ft_attends; /* somebody wants to know */
void rp_ft_attend(void);
static inline void rp_ft_enter(const char *name)
{
    rp_ft.call = name;
    rp_ft.calls++;
    if (__builtin_expect(rp_ft_attends, 0))
        rp_ft_attend();
}

/* ft_events.c: what happened, for people and for `reprise report`. */
void rp_ft_event_detected(void);    /* a failure; at the next call the program goes on */
void rp_ft_event_begins_anew(void); /* this process has a dead one's rank */
void rp_ft_event_repeated(void);    /* it sent something again: is that all? */
void rp_ft_event(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
