/* SPDX-License-Identifier: MIT */
/* Messages in device memory (base/device_memory.h): MPI_Pack and MPI_Unpack for these. MPI's own
 * would need an MPI that knows the device. */
#ifndef RP_DEVICE_TYPES_H
#define RP_DEVICE_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether the message has data in device memory. `buf` may be MPI_BOTTOM. */
bool rp_device_holds(const void *buf, MPI_Count count, MPI_Datatype type);

/* Copies the data of `count` elements to `out`, packed, as MPI_Pack would. `bytes`: the room there.
 * Returns how many bytes these are. Parts in host memory are copied, too. A datatype that it cannot
 * walk ends the process, with a message. */
size_t rp_device_pack(const void *buf, MPI_Count count, MPI_Datatype type, void *out, size_t bytes);

/* Copies `bytes` of packed data into at most `count` elements. They may end within an element. */
void rp_device_unpack(const void *in, size_t bytes, void *buf, MPI_Count count, MPI_Datatype type);

#endif
