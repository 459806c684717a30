/* SPDX-License-Identifier: MIT */
/* What the program could call. */
#ifndef RP_IMPORTS_H
#define RP_IMPORTS_H

#include <stdbool.h>

/* Whether any file loaded so far, other than the MPI library's own, asks the dynamic linker for
 * MPI_Cancel by any of its names: C, Fortran, C++. True if that cannot be told. What is loaded
 * later, or looks the function up itself, is not seen. */
bool rp_imports_cancel(void);

#endif
