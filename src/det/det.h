/* SPDX-License-Identifier: MIT */
/*
 * The parts of libreprise-det.so, which stands before MPI and makes it deterministic: what is
 * received, and what tests and probes answer, depends on logical time alone.
 *
 * Messages are sent at logical times and can be seen from `latency` later on. A receive or probe
 * that names no source takes the message that was sent first (those of one time by rank), as soon
 * as no earlier one can come (match/send_bounds.h). A test at time t answers yes if what it asks
 * for came to pass before t - latency, and waits until that is known. The payload goes by MPI as
 * ever: receives are made by source and tag when it is known which message they take.
 */
#ifndef RP_DET_H
#define RP_DET_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "det/shared_state.h"
#include "peers/peer_det.h"
#include "preload/real_functions.h"
#include "next.h"

extern __thread int rp_det_is_owner; /* the thread that initialised MPI */

#define RP_ENTRY __attribute__((visibility("default")))
#define RP_TAIL

/* Calls pass that are not the program's: before the start and after the end, and what MPI-IO makes
 * inside. */
#define RP_DET_PASSES (!rp_det.is_on || rp_det.inside > 0 || (rp_det.guards && rp_det.depth > 0))

enum { RP_DET_CALL = 1000 }; /* what a call takes of logical time */

struct rp_det {
    int is_on, inside, depth;     /* depth: in calls of the program */
    enum reprise_det_whose whose; /* calls are */
    int guards;   /* the library may make calls out of those, since nonblocking I/O was begun; else,
                     calls inside calls are the program's, by callbacks */
    MPI_Comm own; /* for ourselves */
    uint64_t threshold,
        limit; /* bytes: longer messages are synchronous; room for copies of shorter ones */
    int fixed_reductions;
    long delay;              /* microseconds */
    const char *function;    /* that the program is in */
    uintptr_t caller, stack; /* where it was called: the return address, and the frame */
};
extern struct rp_det rp_det;

void rp_det_refuse_thread(const char *function) __attribute__((noreturn));
void rp_det_delay(void); /* for tests: a random time */

/* Every call of the program begins so. */
static inline __attribute__((always_inline)) void rp_det_enter(const char *function)
{
    if (__builtin_expect(!rp_det_is_owner, 0))
        rp_det_refuse_thread(function);
    if (__builtin_expect(rp_det.whose == REPRISE_DET_BESIDE, 0))
        return;
    rp_det.function = function;
    rp_det.caller = (uintptr_t)__builtin_return_address(0);
    rp_det.stack = (uintptr_t)__builtin_frame_address(0);
    rp_shared_tick(RP_DET_CALL);
    if (__builtin_expect(rp_det.delay != 0, 0))
        rp_det_delay();
}

void rp_det_refuse(const char *function) __attribute__((noreturn));
void rp_det_end_job(int exit_status) __attribute__((noreturn));

/* The digest of what was decided. */
enum rp_det_decision { RP_DET_MATCH, RP_DET_ANSWER };
void rp_det_note(enum rp_det_decision decision, uint64_t a, uint64_t b);

/* Communicators: det_comms.c */

struct rp_det_comm {
    MPI_Comm comm;
    uint64_t id;       /* the same in all ranks */
    int size;          /* of those that can be sent to */
    int from;          /* our rank as others see it */
    uint32_t *world;   /* by rank in it: rank in the job */
    uint64_t *members; /* a bit for each rank of the job that takes part in collective calls */
    uint32_t member_count;
    uint64_t made, met; /* communicators made from it; collective calls on it, of any kind */
    bool is_freed;
    const char *made_by; /* the function; and how many were made before it here */
    size_t made_before;
};

struct rp_det_comm *
rp_det_comm_with(uint64_t id); /* that number; NULL: we are not in it, or it was freed */
struct rp_det_comm *rp_det_comm_find(MPI_Comm comm); /* NULL: no communicator */
void rp_det_add_members(uint64_t *members, MPI_Group group);
void rp_det_comms_start(void);
void rp_det_comm_made(MPI_Comm parent, MPI_Comm made);
void rp_det_comm_made_apart(uint64_t salt, MPI_Comm made); /* not by all of a parent */
uint64_t rp_det_mix(uint64_t a, uint64_t b);
uint64_t rp_det_times(uint64_t key); /* how often it was asked for this key */

/* Files: those who opened one meet in its collective calls, as on a communicator of their own. */
void rp_det_file_opened(MPI_Comm comm, MPI_File file);
void rp_det_file_closed(MPI_File file);
bool rp_det_is_file(uint64_t id); /* whether it is the number of one */
struct rp_det_comm *rp_det_file_comm(MPI_File file);
uint64_t rp_det_comm_later(MPI_Comm parent); /* the number of one that is being made */
void rp_det_comm_made_later(MPI_Comm made, uint64_t id);
int rp_det_Comm_free(int (*real)(MPI_Comm *), MPI_Comm *comm, uint32_t function);

/* Receives: det_receives.c */

struct rp_det_receive {
    struct rp_det_comm *comm;
    int source, tag;
    uint32_t world; /* the source in the job, where it is named */
    uint64_t posted;
    bool is_known; /* which message it takes: */
    uint64_t stamp;
    uint32_t from_world;
    int from, its_tag;
    struct rp_message_note *note; /* unless it is the sender's to give back */
    bool is_probe; /* it takes the message out of the matching; its sender, if synchronous, waits on
                    */
    bool is_listed;
    struct rp_det_line *line; /* of those of which it is not known (det_posted.h) */
    struct rp_det_receive *next, *previous;
    uint64_t number;
    /* The real one. */
    bool is_delayed; /* it is made when the message is known */
    bool is_made;
    MPI_Request real;
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    bool owns_type;
};

enum rp_det_known {
    RP_DET_KNOWN, /* when */
    RP_DET_AFTER, /* that it is later than the limit */
    RP_DET_OPEN,  /* nothing yet */
};

bool rp_det_receive_open(struct rp_det_receive *receive, MPI_Comm comm, int source,
                         int tag); /* false: PROC_NULL, or an error for MPI to tell */
void rp_det_receive_post(struct rp_det_receive *receive);
bool rp_det_receive_must_delay(const struct rp_det_receive *receive);
void rp_det_receive_close(
    struct rp_det_receive *receive); /* forgets it, with its message if it has one */
void rp_det_tell_sender(
    struct rp_message_note *note,
    uint64_t posted); /* of a synchronous message: it is received, by a receive of this time */
void rp_det_receive_cancel(
    struct rp_det_receive *receive); /* forgets it; a message that it had may be taken by others */
enum rp_det_known rp_det_receive_look(struct rp_det_receive *receive, uint64_t limit,
                                      uint64_t *when);

/* Waits until the message is known; then time has come to it. */
void rp_det_receive_wait(struct rp_det_receive *receive);

/* As a probe: the message that the receive would take, without taking it. */
struct rp_message_note *rp_det_probe_wait(struct rp_det_receive *probe);
struct rp_message_note *rp_det_probe_test(struct rp_det_receive *probe,
                                          uint64_t limit); /* waits until the answer is certain */

/* Reads the inbox, where receives that name their source find their messages; gives messages to the
 * others as far as that is certain; or both. Only while running. */
void rp_det_read_mail(void);
void rp_det_resolve(void);
void rp_det_receive_mail(void);
bool rp_det_would_resolve(void); /* whether rp_det_resolve would do something */
uint64_t rp_det_candidate(
    const struct rp_det_receive *probe); /* the earliest stamp of a message that a receive (or
                                            probe, if any) may take, or RP_SEND_NEVER */
/* Messages of this rank that no receive has: the first, chained by own_next; 0: none. */
uint64_t rp_det_unreceived(uint32_t source);
uint64_t rp_det_mail_count(void); /* how many messages have come, ever */
bool rp_det_has_delayed(void);
bool rp_det_has_receives(void);

/* Bounds, once found, stay true; but there may be better ones later. */
void rp_det_forget_bounds(void);

/* Whether no message of this rank of the job comes that was sent at the limit or before. Messages
 * sent before may be in the inbox. */
bool rp_det_is_later(uint32_t world, uint64_t limit);

/* Waiting: det_wait.c */

struct rp_det_wait {
    enum rp_shared_wait kind;
    uint32_t target;
    uint64_t candidate, object;
    const struct rp_det_receive *probe;
    const struct rp_det_receive *receive; /* it goes on with this one's message, and not before */
    const char *what;
    const MPI_Request *requests; /* all that the call still waits for, or for the first of: so many;
                                    NULL: only for this */
    int count;
    bool runs; /* it waits for others' clocks alone, and says nothing */
};

/* What this rank waits for; false: it runs. */
bool rp_det_plan(struct rp_shared_plan *plan);
bool rp_det_awaits(const struct rp_det_receive *receive);

/* Before this rank waits inside MPI, or having ended: if no rank runs, whether one of them waits
 * for ever. Not between hosts, where what is known of others may be of before. */
void rp_det_last_look(void);

/* Waits until `ready`, which must have no effect where it is asked `only whether`. */
void rp_det_wait(bool (*ready)(void *data, bool only_whether), void *data,
                 const struct rp_det_wait *wait);

/* Deadlocks: det_deadlock.c. What this rank waits for (NULL: inside MPI, or nothing) is told to the
 * one that speaks for all. */
void rp_det_tell_wait(const struct rp_det_wait *wait);

/* "for a message from rank 1 with tag 0 on MPI_COMM_WORLD": what it waits for, without the
 * place. */
void rp_det_put_wait(struct rp_buffer *text, const struct rp_det_wait *wait);
void rp_det_say_deadlock(void);
void rp_det_tell_comm(const struct rp_det_comm *comm); /* before a collective call on it inside MPI,
                                                          where we can say no more */

void rp_det_put_comm_with(struct rp_buffer *text, uint64_t id); /* " on NAME", if it is known */

/* Where calls are made: det_sites.c */
/* The number of the place of the call that the program is in, among those of this rank. */
uint32_t rp_det_site(void);
/* " (FILE:LINE)", as far as it is known; the MPI function. */
void rp_det_put_place(struct rp_buffer *text, uint32_t rank, uint32_t site);
void rp_det_put_function(struct rp_buffer *text, uint32_t rank, uint32_t site);
void rp_det_sites_start(void);

/* Errors of the program, which end the job: det_mismatch.c */
void rp_det_check_mismatch(void); /* of collective calls, found here */
/* The program uses a request that `became` something ("was freed") at a place of this rank. */
void rp_det_say_stale(const char *became, uint32_t site) __attribute__((noreturn));

/* Operations: det_operations.c. A number that is the same in all ranks; those of the program cannot
 * be told apart, but by whether they commute. */
uint32_t rp_det_op(MPI_Op op);
const char *rp_det_op_name(uint32_t number);
void rp_det_operations_start(void);

/* At the end: det_unreceived.c. All ranks say which messages none of them received. */
void rp_det_count_sent(uint32_t dest);
void rp_det_say_unreceived(void);

/* Sends: det_sends.c */

enum rp_det_mode { RP_DET_STANDARD, RP_DET_SYNCHRONOUS, RP_DET_BUFFERED };

int rp_det_send(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                int dest, int tag, MPI_Comm comm);
int rp_det_isend(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request);
int rp_det_sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int rp_det_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status);
void rp_det_progress(void); /* lets MPI work, and frees copies that were sent */
void rp_det_flush(void);    /* until all were */

/* Blocking receives and probes: det_calls.c */

int rp_det_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status *status);
int rp_det_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int rp_det_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int rp_det_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int rp_det_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                   MPI_Status *status);
void rp_det_matched(const MPI_Message *message); /* before it is received */

/* The real functions, for counts of any size. */
int rp_real_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status);
int rp_real_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request);

/* Requests: det_requests.c */

enum rp_det_request_kind {
    RP_DET_RECEIVE,
    RP_DET_SEND,    /* synchronous */
    RP_DET_MEETS,   /* a nonblocking collective call */
    RP_DET_FOREIGN, /* MPI's own business, whose moment of completion is not ours to say */
};

struct rp_det_request {
    enum rp_det_request_kind kind;
    bool is_persistent, is_active;
    struct rp_det_receive receive;
    struct rp_message_note *note; /* of a synchronous send */
    uint32_t dest;
    struct rp_shared_collective *meeting;
    MPI_Comm *made; /* by a nonblocking call */
    uint64_t made_id;
    uint64_t number, starts; /* of a persistent collective call; how often it was started */
    bool stands_in;          /* its handle is a stand-in: the real request is receive.real */
    bool is_started;         /* persistent: the real one is the handle */
    bool is_cancelled;
    /* a persistent one's arguments */
    enum rp_det_mode mode;
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

void rp_det_requests_start(void);
void rp_det_requests_learn(void); /* what of MPI's own must be known */
struct rp_det_request *rp_det_request_new(enum rp_det_request_kind kind);
void rp_det_request_note(MPI_Request handle, struct rp_det_request *request);
/* NULL: none of ours. One that is over ends the job. */
struct rp_det_request *rp_det_request_find(MPI_Request handle);
/* MPI has made one that is not noted; its handle may have been in use before. Returns rc. */
int rp_det_new_handle(int rc, const MPI_Request *request);

int rp_det_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request *request);
int rp_det_recv_init(int rc, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                     MPI_Comm comm, MPI_Request *request);
int rp_det_send_init(int rc, enum rp_det_mode mode, const void *buf, MPI_Count count,
                     MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int rp_det_start(MPI_Request *request);
int rp_det_startall(int count, MPI_Request *requests);
int rp_det_cancel(MPI_Request *request);
int rp_det_request_free(MPI_Request *request);
int rp_det_request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int rp_det_foreign(int rc, MPI_Request *request);

/* The real completion of a request of which it is certain that it completes. */
int rp_det_complete(MPI_Request *request, MPI_Status *status);

/* When it completes, or whether that is after the limit. */
enum rp_det_known rp_det_request_look(MPI_Request handle, uint64_t limit, uint64_t *when);

/* Completion: det_completion.c */

int rp_det_wait_one(MPI_Request *request, MPI_Status *status);
int rp_det_waitall(int count, MPI_Request *requests, MPI_Status *statuses);
int rp_det_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status);
int rp_det_waitsome(int count, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses);
int rp_det_test(MPI_Request *request, int *flag, MPI_Status *status);
int rp_det_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses);
int rp_det_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status);
int rp_det_testsome(int count, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses);
bool rp_det_test_at(MPI_Request handle, uint64_t now); /* waits until it is certain */

/* Collective calls: det_collectives.c */

enum rp_det_manner {
    RP_DET_SYNCHRONISES, /* by itself: nobody leaves before all have come */
    RP_DET_MAY_NOT,
};

enum { RP_DET_NO_ROOT = -1000000 };

/* What is called, as entries say it. */
struct rp_det_what {
    uint32_t function; /* a number that is made of its name */
    int root;
    uint32_t op; /* 0: none */
};

/* Around the real call. A meeting is NULL where there is nobody to meet. */
struct rp_shared_collective *rp_det_meet(enum rp_det_manner manner, MPI_Comm comm,
                                         struct rp_det_what what);
void rp_det_met(struct rp_shared_collective *meeting);
/* Waits until `size` members have come, and goes on. */
void rp_det_meet_at(uint64_t key, uint64_t number, const uint64_t *members, uint32_t size,
                    const struct rp_shared_call *call);
struct rp_shared_call rp_det_call(const struct rp_det_comm *comm, struct rp_det_what what);
/* Of calls that need not wait, it is only looked whether all make them. Returns their number. */
uint64_t rp_det_pass_by(MPI_Comm comm, struct rp_det_what what);

/* The same before other calls: det_meetings.c */
void rp_det_meet_file(MPI_File file, struct rp_det_what what);
void rp_det_meet_group(MPI_Comm comm, MPI_Group group, int tag, struct rp_det_what what);
void rp_det_meet_leaders(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag,
                         struct rp_det_what what);
struct rp_shared_collective *rp_det_begin_meeting(MPI_Comm comm, struct rp_det_what what);
struct rp_shared_collective *
rp_det_start_meeting(struct rp_det_request *own); /* of a persistent call */
int rp_det_began(int rc, struct rp_shared_collective *meeting, MPI_Request *request);
int rp_det_began_comm(int rc, struct rp_shared_collective *meeting, MPI_Comm parent, MPI_Comm *made,
                      MPI_Request *request);
/* Persistent. */
int rp_det_init_meeting(int rc, MPI_Comm comm, uint64_t number, MPI_Request *request);

/* Reductions in the order of ranks: det_reductions.c */

bool rp_det_is_fixed(MPI_Comm comm);
int rp_det_fixed_Allreduce(const void *from, void *into, MPI_Count count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm);
int rp_det_fixed_Reduce(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm);
int rp_det_fixed_Reduce_scatter(const void *from, void *into, const int *counts, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm);
int rp_det_fixed_Reduce_scatter_block(const void *from, void *into, MPI_Count count,
                                      MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int rp_det_fixed_Scan(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm);
int rp_det_fixed_Exscan(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm);

/* System calls: det_costs.c */
enum rp_status rp_det_costs_start(struct rp_problem *why);

/* Life: det_life.c */

int rp_det_Init(const struct rp_next *next, int *argc, char ***argv);
#if MPI_VERSION >= 4
int rp_det_Session_init(const struct rp_next *next, MPI_Info info, MPI_Errhandler handler,
                        MPI_Session *session);
#endif
int rp_det_Init_thread(const struct rp_next *next, int *argc, char ***argv, int required,
                       int *provided);

#endif
