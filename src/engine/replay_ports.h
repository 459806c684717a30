/* SPDX-License-Identifier: MIT */
/* Replay: processes connect by ports in the recorded order. */
#ifndef RP_REPLAY_PORTS_H
#define RP_REPLAY_PORTS_H

#include "entry/engine.h"

/* Waits until the clients that connected before in the record have connected. */
int rp_replay_connect(const struct rp_call *call, const struct rp_connection *connection);

/* Returns the port of the publication that was found in the record, once it is there. Where the
 * record does not say which: waits until the name is published, if it was when it was looked up in
 * the record. If it was not, looks up a name that nobody publishes, so that the error is the same.
 */
int rp_replay_lookup(const struct rp_call *call, const char *service, MPI_Info info, char *port);

#endif
