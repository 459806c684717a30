/* SPDX-License-Identifier: MIT */
/*
 * Handles that a call makes. Recording, an entry says whether one is null, empty or new. Feeding, a
 * new one is a real handle of this process: communicators and groups of one member, messages that
 * the process sends to itself. So all handles can be converted, compared and freed.
 */
#ifndef RP_PARTIAL_HANDLES_H
#define RP_PARTIAL_HANDLES_H

#include "partial/partial_state.h"

enum { RP_HANDLE_NULL, RP_HANDLE_NEW, RP_HANDLE_EMPTY };
void rp_partial_record_comm(MPI_Comm comm);
void rp_partial_record_group(MPI_Group group);
void rp_partial_record_message(MPI_Message message);
void rp_partial_record_info(MPI_Info info);
void rp_partial_feed_info(MPI_Info *info);
/* `parent`: whose error handler it has. */
void rp_partial_feed_comm(MPI_Comm parent, MPI_Comm *comm);
void rp_partial_feed_dup(MPI_Comm comm);
void rp_partial_feed_world(int rank, int size);
void rp_partial_feed_group(MPI_Group *group);
void rp_partial_feed_message(MPI_Message *message);
void rp_partial_feed_take_message(MPI_Message *message);
MPI_Comm rp_partial_feed_own(void); /* a communicator for ourselves */

#endif
