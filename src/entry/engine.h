/* SPDX-License-Identifier: MIT */
/* A mode is a table of operations, chosen once, when MPI is initialised. The entry points call it;
 * nothing else does. */
#ifndef RP_ENGINE_H
#define RP_ENGINE_H

#include <mpi.h>
#include <stdint.h>

#include "base/visibility.h"
#include "base/status.h"
#include "preload/completion_call.h"
#include "preload/requests.h"
#include "preload/spawn_command.h"
#include "next.h"

/* Who calls: the MPI function, from where, and the real functions that it is to reach. */
struct rp_call {
    const char *function;
    const struct rp_next *next;
    uintptr_t return_address;
    uintptr_t stack;
};

/* Where the program called: the return address, and the stack pointer, which distinguishes calls
 * from one place that have different callers. Only in an entry, or in a function that an entry ends
 * in. */
#define RP_PLACE (uintptr_t) __builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)

/* An entry point: the MPI function, and the real functions that it is to reach. */
struct rp_origin {
    const char *function;
    const struct rp_next *next;
};

/* What a receive asks for; an engine may change it before the real call. */
struct rp_envelope {
    int source, tag;
    MPI_Comm comm;
    MPI_Status *status;
    int sends; /* the call sends too: it must not wait before */
    void *buf; /* where it receives to */
    int64_t count;
    MPI_Datatype type;
    /* for the engine */
    int asked_source, asked_tag;
    uint64_t post;
    MPI_Comm asked_comm;
    MPI_Status own_status;
    void *note;
};

struct rp_buffer_args {
    void *buf;
    int64_t count;
    MPI_Datatype type;
};

/* MPI_Comm_accept and MPI_Comm_connect; port and info count at the root only. */
struct rp_connection {
    const char *port;
    MPI_Info info;
    int root;
    MPI_Comm comm;
    MPI_Comm *newcomm;
};

struct rp_engine {
    const char *name;
    int refuses_threads; /* calls that matter by threads without a stream end the job */
    /* After the real call: a wildcard receive returned; one did that failed, or that an older one
     * under way may overlap. An engine that wants every call has the operations below instead. */
    void (*received)(const char *function, uintptr_t return_address, uintptr_t stack, MPI_Comm,
                     const MPI_Status *, int rc);
    void (*received_other)(const struct rp_call *, int source, int tag, MPI_Comm,
                           const MPI_Status *, int rc);
    /* Where messages carry clocks: MPI_Mrecv returned. */
    void (*received_matched)(const struct rp_call *);
    int (*receive)(const struct rp_call *, struct rp_envelope *, const struct rp_buffer_args *);
    void (*receive_begin)(const struct rp_call *, struct rp_envelope *);
    void (*receive_end)(const struct rp_call *, struct rp_envelope *, int rc);
    void (*post_begin)(const struct rp_call *, struct rp_envelope *, const struct rp_buffer_args *);
    void (*post_end)(const struct rp_call *, struct rp_envelope *, int rc, MPI_Request *);
    void (*persistent_begin)(const struct rp_call *, struct rp_envelope *,
                             const struct rp_buffer_args *);
    void (*persistent_end)(const struct rp_call *, struct rp_envelope *, int rc, MPI_Request *);
    void (*sent)(int dest,
                 MPI_Comm); /* after a send, where rp_sends_seen is on and rp_threads_on is not */
    int (*Start)(const struct rp_call *, MPI_Request *);
    int (*Startall)(const struct rp_call *, int, MPI_Request *);
    int (*Probe)(const struct rp_call *, int source, int tag, MPI_Comm, MPI_Status *);
    int (*Mprobe)(const struct rp_call *, int source, int tag, MPI_Comm, MPI_Message *,
                  MPI_Status *);
    int (*Iprobe)(const struct rp_call *, int source, int tag, MPI_Comm, int *flag, MPI_Status *);
    int (*Improbe)(const struct rp_call *, int source, int tag, MPI_Comm, int *flag, MPI_Message *,
                   MPI_Status *);
    /* MPI_Wait, MPI_Test and their families. */
    int (*complete)(const struct rp_call *, const struct rp_completion *);
    int (*Request_get_status)(const struct rp_call *, MPI_Request, int *flag, MPI_Status *);
    int (*Parrived)(const struct rp_call *, MPI_Request, int partition, int *flag);
    int (*Cancel)(const struct rp_call *, MPI_Request *);
    int (*Request_free)(const struct rp_call *, MPI_Request *);
    int (*Comm_free)(const struct rp_call *, MPI_Comm *);
    int (*Comm_disconnect)(const struct rp_call *, MPI_Comm *);
    /* Not under the lock of threads. NULL: refused. */
    int (*spawn)(const struct rp_call *, const struct rp_spawn *);
    /* The same for ports. connect: at the root only. accepted: a process has connected to this
     * root, after the real call. */
    void (*port_opened)(const char *port);
    void (*port_closed)(const char *port);
    void (*publishing)(const char *service, const char *port); /* before the real call */
    int (*connect)(const struct rp_call *, const struct rp_connection *);
    void (*accepted)(const char *function, const char *port);
    int (*Lookup_name)(const struct rp_call *, const char *service, MPI_Info, char *port);
    /* With several threads, under their lock (entry/threads.h). Turns follow each other in one
     * order; a value is an outcome that is none of MPI's: recording logs it, a replay sets it
     * (false: the record has ended) and `value_taken` says that it was used. */
    int (*leads)(void); /* whether the order is the engine's, so that a thread waits for its turn */
    void (*threads_begin)(void);
    void (*turn_begin)(const struct rp_call *, int is_post);
    void (*turn_end)(void);
    int (*value)(const struct rp_call *, int32_t *a, uint64_t *c);
    void (*value_taken)(void);
    /* Regions of commutative receives (entry/region.h); NULL: nothing is different in them. */
    void (*region_begin)(unsigned long count);
    void (*region_end)(void);
    /* A call is refused, which was said: the job is about to be ended. May be NULL. */
    void (*refused)(const char *function);
    /* Before the real MPI_Finalize and MPI_Abort, and when the process exits without either. */
    void (*finalize)(void);
    void (*abort)(int code);
    void (*exit)(int status);
    /* Another thread ends the process: the owner may be inside a call, so nothing may be taken from
     * under it. */
    void (*end_elsewhere)(void);
};

/* Whether sends are more than calls that go through: with threads, and where the engine has
 * `sent`. */
extern RP_HIDDEN int rp_sends_seen;

/* The engine in force; NULL: none, all calls go through. */
extern RP_HIDDEN const struct rp_engine *rp_engine;

/*
 * What entries end in when nothing stands against a call (RP_IS_IDLE), so that the return address
 * is the program's and little need be passed on. Recording is the only engine that lets calls be
 * idle, so these are its own. Wait: for a receive with RP_REQUEST_USUAL.
 */
int rp_fast_Wait(MPI_Request *, MPI_Status *, struct rp_request *, const struct rp_origin *);
int rp_fast_Waitany(int, MPI_Request *, int *index, MPI_Status *, const struct rp_origin *);
int rp_fast_Waitsome(int, MPI_Request *, int *outcount, int *indices, MPI_Status *,
                     const struct rp_origin *);
int rp_fast_Test(MPI_Request *, int *flag, MPI_Status *, const struct rp_origin *);
int rp_fast_Testany(int, MPI_Request *, int *index, int *flag, MPI_Status *,
                    const struct rp_origin *);
int rp_fast_Testsome(int, MPI_Request *, int *outcount, int *indices, MPI_Status *,
                     const struct rp_origin *);
int rp_fast_Iprobe(int source, int tag, MPI_Comm, int *flag, MPI_Status *,
                   const struct rp_origin *);

/* Called after MPI was initialised, with the calling thread at depth 1. Each makes itself the
 * engine, or ends the job. */
void rp_record_start(void);
void rp_replay_start(void);
void rp_cdc_replay_start(void);

/* Before MPI is initialised in a replay: passes what was captured then to rp_capture_add_early. */
void rp_replay_load_early(void);

#endif
