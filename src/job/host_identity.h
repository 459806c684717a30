/* SPDX-License-Identifier: MIT */
#ifndef RP_HOST_IDENTITY_H
#define RP_HOST_IDENTITY_H

#include <stdint.h>

/* Returns a number that is the same in processes which can share memory through /dev/shm, and
 * another on each other host and in each other container. MPI_COMM_TYPE_SHARED does not say so: in
 * MPICH 5 each process may be alone. */
uint64_t rp_host_identity(void);

#endif
