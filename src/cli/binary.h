/* SPDX-License-Identifier: MIT */
/* What a program file says about itself: which MPI it needs, and what would keep us out of it. */
#ifndef RP_BINARY_H
#define RP_BINARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum rp_binary_kind { RP_BINARY_NONE, RP_BINARY_SCRIPT, RP_BINARY_STATIC, RP_BINARY_DYNAMIC };

struct rp_binary {
    enum rp_binary_kind kind;
    char *path;
    const char *mpi;   /* its family: "openmpi", "mpich", "abi", or NULL: none seen */
    char *mpi_library; /* its path */
    char *asan;        /* path of libasan, which must come first; or NULL */
    bool setuid, fortran, cxx, shmem;
    bool executable;
    bool compounds; /* it or a library of it imports a function that is made of others, or it may
                       load one that does */
    char **refused; /* refused MPI functions that it imports, NULL-terminated */
    char *makes_window;  /* the first function it imports that makes a window; or NULL */
    char *refused_alone; /* the first it imports that only `record --ranks` refuses; or NULL */
};

/* Looks at a file, found as the shell would find it. Fails only if there is no such file. */
enum rp_status rp_binary_look(const char *name, struct rp_binary *out, struct rp_problem *why);
bool rp_binary_is_static(const char *path); /* a program without a loader */
void rp_binary_free(struct rp_binary *binary);

/* Returns the MPI that a launcher belongs to, by its name; NULL: not known. */
const char *rp_binary_launcher_mpi(const char *name);

#endif
