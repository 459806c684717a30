/* SPDX-License-Identifier: MIT */
/* What the command sees of this process (job/job_progress.h), and how the program ends. */
#ifndef RP_FT_PROCESS_H
#define RP_FT_PROCESS_H

#include <stdbool.h>

#include "job/job_progress.h"

/* From here on the library knows how the program ends. */
void rp_ft_process_start(void);

/* Notes how far this process has come. */
void rp_ft_process_note_state(enum rp_process_state state);

/* Notes its rank, and where it is in the loop. */
void rp_ft_process_note_iteration(void);

/* Returns whether the command knows of this process. */
bool rp_ft_process_is_watched(void);

/* Leaves MPI_Init. Returns unless the job is to be started again. */
void rp_ft_process_leave_init(void);

#endif
