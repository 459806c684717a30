/* SPDX-License-Identifier: MIT */
/* Finds in which MPI call a process of this host is, and which place in the program made that call.
 * The place is past the wrappers whose names are listed (event/wrappers.h): one stack alone does
 * not show how many callers a function has. */
#ifndef RP_MPI_BACKTRACE_H
#define RP_MPI_BACKTRACE_H

#include <stdbool.h>
#include <sys/types.h>

struct rp_mpi_backtrace {
    char call[64];      /* empty: in none */
    char through[256];  /* wrappers that called for it, the outermost first; empty: none */
    char function[128]; /* of the program, that called; empty: unknown */
    char file[512];     /* empty: unknown */
    int line;
};

/* Stops the process for the moment that it takes to walk up its stack. False if nothing can be
 * known: it is gone, it is somebody else's, there is no libdw. */
bool rp_mpi_backtrace_find(pid_t pid, struct rp_mpi_backtrace *out);

#endif
