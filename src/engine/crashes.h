/* SPDX-License-Identifier: MIT */
/* A crash is replayed too. It would end the other ranks before they came to their own ends, so a replay waits for them first. */
#ifndef RP_CRASHES_H
#define RP_CRASHES_H

/* From now on a signal that would end this process has `wait` called first. Handlers of the program are left alone; those of MPI come behind. */
void rp_crashes_handle(void (*wait)(void));

#endif
