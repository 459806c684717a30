/* SPDX-License-Identifier: MIT */
/* In which call of MPI a process of this host is, and where in the program that was called. */
#ifndef RP_WHEREABOUTS_H
#define RP_WHEREABOUTS_H

#include <stdbool.h>
#include <sys/types.h>

struct rp_whereabouts {
    char call[64];      /* empty: in none */
    char function[128]; /* of the program, that called; empty: unknown */
    char file[512];     /* empty: unknown */
    int line;
};

/* Stops the process for the moment that it takes to walk up its stack. False if nothing can be known: it is gone, it is somebody else's, there is no libdw. */
bool rp_whereabouts_find(pid_t pid, struct rp_whereabouts *out);

#endif
