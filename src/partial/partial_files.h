/* SPDX-License-Identifier: MIT */
/* Files: reads that are begun by one call and ended by another. */
#ifndef RP_PARTIAL_FILES_H
#define RP_PARTIAL_FILES_H

#include "partial/partial_areas.h"

/* Begins a read, and takes the areas over. */
void rp_split_begin(MPI_File file, struct rp_areas *areas);
/* Both end the read. rp_split_put writes what it received into the entry (`bytes` is how much, -1
 * for all); rp_split_fill reads it from the entry into the areas. */
void rp_split_put(MPI_File file, int64_t bytes);
void rp_split_fill(MPI_File file);

#endif
