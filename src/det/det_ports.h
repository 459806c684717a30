/* SPDX-License-Identifier: MIT */
/* MPI_Comm_connect, MPI_Comm_accept, MPI_Comm_join, and published names, between ranks of one host
 * that share logical time. */
#ifndef RP_DET_PORTS_H
#define RP_DET_PORTS_H

#include "det/det_collectives.h"

int rp_det_open_port(MPI_Info info, char *port);
int rp_det_close_port(const char *port);
int rp_det_comm_accept(struct rp_det_operation what, const char *port, MPI_Info info, int root,
                       MPI_Comm comm, MPI_Comm *made);
int rp_det_comm_connect(struct rp_det_operation what, const char *port, MPI_Info info, int root,
                        MPI_Comm comm, MPI_Comm *made);
int rp_det_comm_join(int fd, MPI_Comm *made);
int rp_det_publish_name(const char *service, MPI_Info info, const char *port);
int rp_det_unpublish_name(const char *service, MPI_Info info, const char *port);
int rp_det_lookup_name(const char *service, MPI_Info info, char *port);

#endif
