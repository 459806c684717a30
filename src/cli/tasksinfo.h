/* SPDX-License-Identifier: MIT */
/* What 'reprise info' and 'reprise verify' say of a record of tasks. Both return the exit
 * status. */
#ifndef RP_TASKSINFO_H
#define RP_TASKSINFO_H

#include <stdbool.h>

int rp_tasks_info(const char *directory, bool json);
int rp_tasks_verify(const char *directory);

#endif
