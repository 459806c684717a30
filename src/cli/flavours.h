/* SPDX-License-Identifier: MIT */
/*
 * The MPIs that reprise was built for. Our libraries for each of them lie in a folder of its own,
 * with a file `mpi` that says which one it is. Libraries of one family (Open MPI; MPICH and what
 * shares its ABI; the standard ABI) work with all MPIs of that family.
 */
#ifndef RP_FLAVOURS_H
#define RP_FLAVOURS_H

#include <limits.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/status.h"

struct rp_flavour {
    char name[64];          /* of its folder: the family, or FAMILY-VERSION */
    char family[16];        /* openmpi, mpich or abi */
    char version[64];       /* of the MPI of the build */
    char library[PATH_MAX]; /* the file of that MPI's library; empty: not known */
};

/* Returns the folder with a folder for each flavour, which the caller frees: beside the command, or
 * where REPRISE_LIBRARY says. NULL: out of memory. */
char *rp_flavours_folder(void);

/* Chooses the flavour for `mpi`, the name of a family or of a flavour. Of several in the family it
 * takes the one of `library`, which the program is linked with (or NULL), and else that of the
 * newest MPI. Fails with RP_USAGE if reprise was not built for such an MPI. */
enum rp_status rp_flavour_choose(const char *mpi, const char *library, struct rp_flavour *out,
                                 struct rp_problem *why);

/* Whether `mpi` names a family, or a flavour that is there. */
bool rp_flavour_is_name(const char *mpi);

/* Appends the names of all flavours: `mpich, openmpi`. */
void rp_flavours_list(struct rp_buffer *out);

#endif
