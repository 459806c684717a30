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

/* The thread, on these connections. */
enum rp_status rp_hosts_start(const int *sockets, struct rp_problem *why);
void rp_hosts_stop(void); /* when no rank of the job needs it any more */

#endif
