/* SPDX-License-Identifier: MIT */
/*
 * Copies of messages that MPI has not sent yet. A message of up to the threshold is sent from a
 * copy where MPI itself might wait for its receiver. This is instead of the paper's accepting
 * buffer (DMP 4.1): at the sender; the limit is --buffer, 16 MB.
 */
#ifndef RP_DET_COPIES_H
#define RP_DET_COPIES_H

#include "det/det_state.h"

/* Lets MPI work, and frees copies that were sent; and that until all were. */
void rp_det_progress(void);
void rp_det_flush(void);

/* Waits until there is room for `bytes` more in copies, as far as that may help. */
void rp_det_wait_for_room(uint64_t bytes);

/* Sends a message of `bytes` from a copy. Returns what MPI returns. */
int rp_det_send_copy(const void *buf, MPI_Count count, MPI_Datatype type, uint64_t bytes, int dest,
                     int tag, MPI_Comm comm);

/* Packs a message into `room` bytes, also from MPI_BOTTOM; *packed gets the length. Returns what
 * MPI returns. */
int rp_det_pack(const void *buf, MPI_Count count, MPI_Datatype type, char *into, int room,
                int *packed, MPI_Comm comm);

#endif
