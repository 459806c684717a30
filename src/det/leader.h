/* SPDX-License-Identifier: MIT */
/*
 * The shared state of several hosts. The first rank of each host is its leader: a thread of its
 * process, which never calls MPI, carries what the ranks publish to the leaders of the other hosts
 * (job/host_connections.h).
 */
#ifndef RP_LEADER_H
#define RP_LEADER_H

#include "base/status.h"

/* Starts the thread. `sockets`, by host, are connections to the other leaders, which are the
 * thread's from now on. */
enum rp_status rp_leader_start(const int *sockets, struct rp_problem *why);

/* Ends the thread, when no rank of the job needs it any more. */
void rp_leader_stop(void);

#endif
