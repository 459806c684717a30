/* SPDX-License-Identifier: MIT */
/*
 * What the generated entry points of libreprise-piggyback.so call. Each takes the real function
 * that the call would have reached, and then the program's arguments; counts are MPI_Count for all,
 * since the entries for large counts come here too.
 */
#ifndef RP_PIGGYBACK_ENTRIES_H
#define RP_PIGGYBACK_ENTRIES_H

#include <mpi.h>
#include <stddef.h>

#include "cdc/piggyback/lamport_clock.h"
#include "preload/completion_call.h"
#include "preload/real_functions.h"
#include "next.h"

#define RP_TAIL

/* Whether a call passes. Calls made inside others carry a stamp already, or are not the program's:
 * the MPI library makes them inside MPI-IO, which is a client of MPI, or a tool behind us does. */
#define RP_PASSES (!rp_piggyback_is_open || rp_piggyback_inside > 0)

extern int rp_piggyback_inside; /* > 0: in a call out of which others may make calls */
extern int rp_piggyback_guards; /* 1: they may do so in any call; else, calls made inside ours are
                                  the program's, by callbacks */

/* The real call. */
#define RP_INSIDE(rc, real)                                                                        \
    do {                                                                                           \
        int guard_ = rp_piggyback_guards;                                                          \
        rp_piggyback_inside += guard_;                                                             \
        (rc) = (real);                                                                             \
        rp_piggyback_inside -= guard_;                                                             \
    } while (0)

/* Messages: piggyback_sends.c, piggyback_receives.c */

typedef int rp_send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int rp_isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int rp_recv_function(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
typedef int rp_irecv_function(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int rp_mrecv_function(void *, int, MPI_Datatype, MPI_Message *, MPI_Status *);
typedef int rp_imrecv_function(void *, int, MPI_Datatype, MPI_Message *, MPI_Request *);
typedef int rp_sendrecv_function(const void *, int, MPI_Datatype, int, int, void *, int,
                                 MPI_Datatype, int, int, MPI_Comm, MPI_Status *);

int rp_piggyback_send(rp_send_function *real, rp_isend_function *immediate, const void *buf,
                      MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int rp_piggyback_isend(rp_isend_function *real, const void *buf, MPI_Count count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm, MPI_Request *request);
int rp_piggyback_send_init(rp_isend_function *real, const void *buf, MPI_Count count,
                           MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request);
int rp_piggyback_recv(rp_recv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                      int source, int tag, MPI_Comm comm, MPI_Status *status);
int rp_piggyback_irecv(rp_irecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                       int source, int tag, MPI_Comm comm, MPI_Request *request);
int rp_piggyback_recv_init(rp_irecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                           int source, int tag, MPI_Comm comm, MPI_Request *request);
int rp_piggyback_mrecv(rp_mrecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                       MPI_Message *matched, MPI_Status *status);
int rp_piggyback_imrecv(rp_imrecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                        MPI_Message *matched, MPI_Request *request);
int rp_piggyback_sendrecv(rp_sendrecv_function *real, const void *sendbuf, MPI_Count sendcount,
                          MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                          MPI_Comm comm, MPI_Status *status);
int rp_piggyback_sendrecv_replace(rp_sendrecv_function *real, void *buf, MPI_Count count,
                                  MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                                  MPI_Comm comm, MPI_Status *status);

/* Probes report the length of the payload alone. */
typedef int rp_probe_function(int, int, MPI_Comm, MPI_Status *);
typedef int rp_iprobe_function(int, int, MPI_Comm, int *, MPI_Status *);
typedef int rp_mprobe_function(int, int, MPI_Comm, MPI_Message *, MPI_Status *);
typedef int rp_improbe_function(int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *);

int rp_piggyback_probe(rp_probe_function *real, int source, int tag, MPI_Comm comm,
                       MPI_Status *status);
int rp_piggyback_iprobe(rp_iprobe_function *real, int source, int tag, MPI_Comm comm, int *flag,
                        MPI_Status *status);
int rp_piggyback_mprobe(rp_mprobe_function *real, int source, int tag, MPI_Comm comm,
                        MPI_Message *matched, MPI_Status *status);
int rp_piggyback_improbe(rp_improbe_function *real, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Message *matched, MPI_Status *status);

/* Requests: piggyback_sends.c, piggyback_completion.c */

int rp_piggyback_start(int (*real)(MPI_Request *), MPI_Request *request);
int rp_piggyback_startall(int (*real)(int, MPI_Request *), int count, MPI_Request *requests);
/* MPI_Wait, MPI_Test and their families. */
int rp_piggyback_complete(const struct rp_next *next, const struct rp_completion *asked);
int rp_piggyback_request_get_status(int (*real)(MPI_Request, int *, MPI_Status *),
                                    MPI_Request request, int *flag, MPI_Status *status);
int rp_piggyback_request_free(int (*real)(MPI_Request *), MPI_Request *request);

/*
 * Collective calls: piggyback_collectives.c learns of them before and after the real one. Of
 * nonblocking ones it only learns that there was one.
 */
void rp_sync_entering(MPI_Comm comm);
void rp_sync_unseen(int enters);
void rp_sync_all(MPI_Comm comm);
void rp_sync_made(MPI_Comm comm);
void rp_sync_child(MPI_Comm comm); /* may be none */

/* Types and buffers */

int rp_piggyback_type_free(int (*real)(MPI_Datatype *), MPI_Datatype *type);
int rp_piggyback_Buffer_attach(int (*real)(void *, int), void *buffer, int size);
int rp_piggyback_Buffer_detach(int (*real)(void *, int *), void *buffer, int *size);
#if RP_HAS_LARGE_COUNTS
int rp_piggyback_Buffer_attach_c(int (*real)(void *, MPI_Count), void *buffer, MPI_Count size);
int rp_piggyback_Buffer_detach_c(int (*real)(void *, MPI_Count *), void *buffer, MPI_Count *size);
#endif

/* Ends the job: the function cannot carry a clock. */
void rp_piggyback_refuse(const char *function) __attribute__((noreturn));

/* Ends the job with one of our exit statuses. The reason must have been said. */
void rp_piggyback_end_job(int exit_status) __attribute__((noreturn));

#endif
