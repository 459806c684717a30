/* SPDX-License-Identifier: MIT */
/* Recording: ports, and processes that connect by them. */
#ifndef RP_RECORD_PORTS_H
#define RP_RECORD_PORTS_H

#include "entry/engine.h"

int rp_record_connect(const struct rp_call *call, const struct rp_connection *connection);
int rp_record_lookup(const struct rp_call *call, const char *service, MPI_Info info, char *port);
void rp_record_accepted(const char *function, const char *port);

#endif
