/* SPDX-License-Identifier: MIT */
/* What an MPI library says about itself. */
#ifndef RP_MPI_VERSION_H
#define RP_MPI_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* Asks the library file `path` by MPI_Get_library_version, in a child process, and puts the first
 * line of the answer into `text`. Returns false if the library cannot be loaded, or does not answer
 * within a few seconds. */
bool rp_mpi_version(const char *path, char *text, size_t size);

#endif
