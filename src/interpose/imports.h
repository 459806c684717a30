/* SPDX-License-Identifier: MIT */
/* Which MPI functions the program may call. */
#ifndef RP_IMPORTS_H
#define RP_IMPORTS_H

#include <stdbool.h>

/* Returns whether any file loaded so far, other than the MPI library's own, imports MPI_Cancel by
 * any of its names (C, Fortran, C++). Returns true if that cannot be decided. Files that are loaded
 * later, and look-ups by dlsym, are not seen. */
bool rp_imports_cancel(void);

#endif
