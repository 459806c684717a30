/* SPDX-License-Identifier: MIT */
/* How the program ends; recovery/survivor.h says how far it is. */
#ifndef RP_FT_PROCESS_H
#define RP_FT_PROCESS_H

/* From here on the library knows how the program ends. Before anything else it calls `end`, which
 * ends MPI if the program leaves that to its exit. */
void rp_ft_process_start(void (*end)(void));

/* Notes its rank, and where it is in the loop. */
void rp_ft_process_note_iteration(void);

#endif
