/* SPDX-License-Identifier: MIT */
/* Files: reads that are begun by one call and ended by another. */
#ifndef RP_PARTIAL_FILES_H
#define RP_PARTIAL_FILES_H

#include "partial/partial_areas.h"

/* A read begins. Takes the areas over. */
void rp_split_begin(MPI_File file, struct rp_areas *areas);
/* It ends: what it received is put, or filled in. `bytes`: how much; -1: all. */
void rp_split_put(MPI_File file, int64_t bytes);
void rp_split_fill(MPI_File file);

#endif
