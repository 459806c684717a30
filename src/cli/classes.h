/* SPDX-License-Identifier: MIT */
/* The classes of api/functions.table, for those who have no mpi.h. */
#ifndef RP_CLASSES_H
#define RP_CLASSES_H

#include <stdbool.h>

/* Whether recording stops a program that calls this function. */
bool rp_class_is_refused(const char *function);

#endif
