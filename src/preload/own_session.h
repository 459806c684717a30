/* SPDX-License-Identifier: MIT */
/*
 * A program that begins with a session has no MPI_COMM_WORLD. In a session of its own, a library
 * makes a communicator of the set of all processes, which all of them must do then. It stands for
 * MPI_COMM_WORLD in rp_constant.world, one of this process alone for MPI_COMM_SELF.
 */
#ifndef RP_OWN_SESSION_H
#define RP_OWN_SESSION_H

#include "base/visibility.h"

/* Opens it. `tag` is that of the communicators (MPI_Comm_create_from_group). Returns NULL, or what
 * could not be had. */
RP_HIDDEN const char *rp_own_session_open(const char *tag);

/* Frees the communicators and ends the session. */
RP_HIDDEN void rp_own_session_close(void);

#endif
