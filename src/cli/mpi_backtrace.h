/* SPDX-License-Identifier: MIT */
/* Finds the MPI call that a process of this host is in, and the function of the program that made
 * the call. Wrappers are skipped if their names are listed (event/wrappers.h): one stack alone does
 * not show how many callers a function has. */
#ifndef RP_MPI_BACKTRACE_H
#define RP_MPI_BACKTRACE_H

#include <stdbool.h>
#include <sys/types.h>

struct rp_mpi_backtrace {
    char call[64];      /* the MPI function; empty: the process is in none */
    char through[256];  /* wrappers between the two, the outermost first; empty: none */
    char function[128]; /* of the program, that made the call; empty: unknown */
    char file[512];     /* empty: unknown */
    int line;
};

/* Sets *out for the process `pid`, which is stopped while its stack is walked. Returns false if the
 * stack cannot be read: the process is gone or belongs to another user, or there is no libdw. */
bool rp_mpi_backtrace_find(pid_t pid, struct rp_mpi_backtrace *out);

#endif
