/* SPDX-License-Identifier: MIT */
/* A defect of MPICH 4.1 and later: MPI_Request_get_status of a complete persistent request shows
 * its status once. After that, MPI_Wait and its like return an empty one. We ask by that function
 * before the program waits. */
#ifndef RP_LOST_STATUS_H
#define RP_LOST_STATUS_H

/* Called when the tables of real functions were filled. From then on their MPI_Request_get_status
 * keeps a status that MPI loses, and the functions that complete the request return it. */
void rp_lost_status_mend(void);

#endif
