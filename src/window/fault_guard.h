/* SPDX-License-Identifier: MIT */
/*
 * Memory of the program's that may be gone. A program may free the memory of a window before the
 * window, which nobody minds who does not look at it. To ask the system each time costs more than
 * to look, so a fault is caught instead. The handler stands before that of the program or of MPI,
 * which gets all other faults; one that the program sets later gets ours as well.
 */
#ifndef RP_FAULT_GUARD_H
#define RP_FAULT_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Calls act(data). False: it was left, since something in this range of memory cannot be
 * touched. */
bool rp_guard(const void *from, size_t size, void (*act)(void *data), void *data);

#endif
