/* SPDX-License-Identifier: MIT */
/*
 * The MPI that a library of ours is built for: Open MPI (OPEN_MPI), MPICH and what shares its ABI,
 * or the standard ABI (RP_STANDARD_ABI). With the standard ABI, the MPI behind it is known at run
 * time.
 */
#ifndef RP_FAMILY_H
#define RP_FAMILY_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Handles are pointers (or constants of a pointer's type), or numbers. */
#if defined(OPEN_MPI) || defined(RP_STANDARD_ABI)
#define RP_POINTER_HANDLES 1
#define RP_HANDLE_BITS(handle) ((uint64_t)(uintptr_t)(handle))
#else
#define RP_POINTER_HANDLES 0
#define RP_HANDLE_BITS(handle) ((uint64_t)(uint32_t)(handle))
#endif

/* Whether the MPI of this process is Open MPI. */
#if defined(RP_STANDARD_ABI)
bool rp_is_openmpi(void);
#elif defined(OPEN_MPI)
static inline bool rp_is_openmpi(void)
{
    return true;
}
#else
static inline bool rp_is_openmpi(void)
{
    return false;
}
#endif

#endif
