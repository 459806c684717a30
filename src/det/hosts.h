/* SPDX-License-Identifier: MIT */
/*
 * The sideband over several hosts. The first rank of each host is its leader: a thread of its
 * process, which never calls MPI, holds a connection to the leader of each other host. Who connects
 * has to prove that it knows the secret of the job, which goes to the ranks by MPI; what is said
 * then is not encrypted. No MPI.
 */
#ifndef RP_HOSTS_H
#define RP_HOSTS_H

#include <stdint.h>

#include "base/status.h"

enum { RP_HOSTS_SECRET = 16, RP_HOSTS_ADDRESSES = 16 };

/* Where a leader listens. */
struct rp_hosts_card {
    uint32_t port, count;
    uint32_t address[RP_HOSTS_ADDRESSES]; /* IPv4, as the network has them */
};

enum rp_status rp_hosts_listen(struct rp_hosts_card *card, int *listener, struct rp_problem *why);

/* By host: a connection to each other; `self` is our own (-1). The listener is closed. */
enum rp_status rp_hosts_connect(const struct rp_hosts_card *cards, uint32_t hosts, uint32_t self,
                                const uint8_t *secret, int listener, int *sockets,
                                struct rp_problem *why);

/* The thread, on these connections. */
enum rp_status rp_hosts_start(const int *sockets, struct rp_problem *why);
void rp_hosts_stop(void); /* when no rank of the job needs it any more */

#endif
