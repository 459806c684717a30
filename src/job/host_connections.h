/* SPDX-License-Identifier: MIT */
/*
 * TCP connections between the hosts of a job: one process of each host connects to one process of
 * each other host. Both ends prove that they know the secret of the job, which they got by MPI.
 * What they send afterwards is not encrypted.
 */
#ifndef RP_HOST_CONNECTIONS_H
#define RP_HOST_CONNECTIONS_H

#include <stdint.h>

#include "base/status.h"

enum { RP_HOST_SECRET = 16 /* bytes */, RP_HOST_ADDRESSES = 16 };

/* Where a host listens: a port, and the first `count` of its addresses. */
struct rp_host_address {
    uint32_t port, count;
    uint32_t address[RP_HOST_ADDRESSES]; /* IPv4, in network byte order */
};

/* Opens a socket on a free port. Sets *own to the port and the addresses of this host, and
 * *listener to the socket, which the caller closes or passes to rp_host_connect. RP_SYSTEM: the
 * socket cannot be opened; *why has the reason. */
enum rp_status rp_host_listen(struct rp_host_address *own, int *listener, struct rp_problem *why);

/*
 * Connects this host to all others, and returns when all connections are open or a minute has
 * passed. All hosts call it at the same time.
 *   addresses  of each host, as its rp_host_listen set it
 *   hosts      how many there are
 *   self       the number of this host
 *   secret     RP_HOST_SECRET bytes, the same on all hosts
 *   listener   the socket of rp_host_listen; this function closes it
 *   sockets    gets `hosts` sockets, which the caller closes; the one of `self` is -1
 * RP_SYSTEM: a host could not be reached, or did not know the secret; *why names it.
 */
enum rp_status rp_host_connect(const struct rp_host_address *addresses, uint32_t hosts,
                               uint32_t self, const uint8_t *secret, int listener, int *sockets,
                               struct rp_problem *why);

#endif
