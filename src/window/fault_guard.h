/* SPDX-License-Identifier: MIT */
/*
 * Guards accesses to memory that the program may have freed: it may free the memory of a window
 * before the window itself. A system call before each access would cost more than the access, so
 * the guard catches the fault instead. Its handler stands before that of the program or of MPI, and
 * passes all other faults on. A handler that the program sets later gets the guard's faults, too.
 */
#ifndef RP_FAULT_GUARD_H
#define RP_FAULT_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Calls act(data). Returns false if act was left early, since it touched memory of the `size` bytes
 * at `from` that cannot be accessed. */
bool rp_guard(const void *from, size_t size, void (*act)(void *data), void *data);

#endif
