/* SPDX-License-Identifier: MIT */
/* Communicators and files, by numbers that are the same in all ranks. */
#ifndef RP_DET_COMMS_H
#define RP_DET_COMMS_H

#include "det/det_state.h"

struct rp_det_comm {
    MPI_Comm comm;
    uint64_t id;       /* the same in all ranks */
    int size;          /* of those that can be sent to */
    int from;          /* our rank as others see it */
    uint32_t *world;   /* by rank in it: rank in the job */
    uint64_t *members; /* a bit for each rank of the job that takes part in collectives */
    uint32_t member_count;
    uint64_t made;        /* communicators that were made from it */
    uint64_t collectives; /* that began on it, of any kind */
    bool is_freed;
    const char *made_by; /* the MPI function */
    size_t made_before;  /* how many communicators were made before it in this rank */
};

void rp_det_comms_start(void);

/* The communicator of all ranks of the job, as of MPI_COMM_WORLD. */
MPI_Comm rp_det_comms_all(void);

/* MPI_COMM_WORLD and MPI_COMM_SELF are there now, in a run that began with a session. */
void rp_det_comms_add_world(void);

/* The communicator with this number; NULL: this rank is not in it, or it was freed. */
struct rp_det_comm *rp_det_comm_by_id(uint64_t id);

/* Whether this is the number of our MPI_COMM_WORLD. */
bool rp_det_comm_is_world(uint64_t id);

/* NULL: MPI_COMM_NULL. Ends the job if the communicator is not known. */
struct rp_det_comm *rp_det_comm_find(MPI_Comm comm);

/* Adds the ranks of a group to `members`, a bit for each rank of the job. */
void rp_det_add_members(uint64_t *members, MPI_Group group);

/* The rank of the job that is this one of the group. UINT32_MAX: the group has no such rank. */
uint32_t rp_det_rank_in_job(MPI_Group group, int rank);

/* `made` (perhaps MPI_COMM_NULL) was made from the parent by all of the parent's ranks; or not by
 * all of them, then `salt` is what the others know too. */
void rp_det_comm_made(MPI_Comm parent, MPI_Comm made);
void rp_det_comm_made_by_some(uint64_t salt, MPI_Comm made);

/* The same for an intercommunicator, whose other side may be of another job. */
void rp_det_comm_made_between(uint64_t salt, MPI_Comm made);

/* The number of a communicator that a nonblocking call makes from the parent; and it is made. */
uint64_t rp_det_comm_reserve_id(MPI_Comm parent);
void rp_det_comm_made_with_id(MPI_Comm made, uint64_t id);

/* Parents and children: the intercommunicator of a spawn, whose number both know. */
void rp_det_comm_spawned(MPI_Comm made, uint64_t id);

/* The program freed it. It is forgotten, unless something under way still uses it. */
void rp_det_comm_freed(struct rp_det_comm *comm, bool is_used);

/* A number made of two, or of bytes (never 0); and how often this function was called with this
 * key. */
uint64_t rp_det_hash(const void *bytes, size_t length);
uint64_t rp_det_mix(uint64_t a, uint64_t b);
uint64_t rp_det_count_of(uint64_t key);

/* Files. The ranks that opened one make collectives on it, as on a communicator of its own. NULL:
 * the file is not known. */
void rp_det_file_opened(MPI_Comm comm, MPI_File file);
void rp_det_file_closed(MPI_File file);
struct rp_det_comm *rp_det_file_comm(MPI_File file);

/* Appends " on NAME": of a communicator; and of the number of one or of a file, if that is known.
 */
void rp_det_put_comm(struct rp_buffer *text, const struct rp_det_comm *comm);
void rp_det_put_comm_of(struct rp_buffer *text, uint64_t id);

#endif
