/* SPDX-License-Identifier: MIT */
/* Sends and receives, by which everything else communicates. Peers are ranks of the communicator.
 */
#ifndef RP_FT_PT2PT_H
#define RP_FT_PT2PT_H

#include <stdint.h>

#include "ft/ft_mpi.h"
#include "ft/ft_comms.h"
#include "ft/ft_request.h"

/* Sends a message, with RP_FT_SYNC or RP_FT_STABLE_BUFFER in `flags`. `request` is done when it has
 * left, or is NULL: the log has a copy. */
void rp_ft_send(struct rp_ft_comm *comm, int32_t context, int to, int tag, const void *buffer,
                int count, MPI_Datatype type, uint32_t flags, struct rp_ft_request *request);

/* Posts a receive. Returns its request, which is active. */
struct rp_ft_request *rp_ft_receive(struct rp_ft_comm *comm, int32_t context, int from, int tag,
                                    void *buffer, int count, MPI_Datatype type);

/* Waits for a request and frees it. Returns the error in its status. */
int rp_ft_finish(struct rp_ft_request *request);

/* Waits for the payloads of all messages that nobody has received yet. */
void rp_ft_pull_payloads(void);

#endif
