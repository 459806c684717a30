/* SPDX-License-Identifier: MIT */
#include "engine/record_ports.h"

#include "engine/names.h"
#include "engine/ports.h"
#include "entry/entry.h"
#include "entry/threads.h"
#include "peers/peer_det.h"

/* An outcome of no other kind: in a log it is a VALUE of the function. */
static void note(const struct rp_call *call, int32_t small, uint64_t large)
{
    rp_threads_enter();
    rp_thread_state.depth++;
    rp_engine->value(call, &small, &large);
    rp_thread_state.depth--;
    rp_threads_leave();
}

/* In a deterministic run, its library has clients connect one after another. One that waited for a
 * lock here would keep the others from going on. */
static int connect_in_order(const struct rp_call *call, const struct rp_connection *c)
{
    int rc;

    RP_INSIDE(rc, call->next->Comm_connect(c->port, c->info, c->root, c->comm, c->newcomm));
    note(call, 0, reprise_det_ticket());
    return rc;
}

int rp_record_connect(const struct rp_call *call, const struct rp_connection *c)
{
    if (reprise_det_ticket)
        return connect_in_order(call, c);
    int rc, lock = rp_ports_lock(c->port);
    struct rp_port *port = rp_ports_enter(call->function, c->port);
    uint64_t ticket = port->served + 1;

    note(call, 0, ticket);
    port->asked = ticket;
    RP_INSIDE(rc, call->next->Comm_connect(c->port, c->info, c->root, c->comm, c->newcomm));
    if (rc == MPI_SUCCESS)
        port->served = ticket;
    rp_ports_leave(port);
    rp_ports_unlock(lock);
    return rc;
}

int rp_record_lookup(const struct rp_call *call, const char *service, MPI_Info info, char *port)
{
    int rc;

    RP_INSIDE(rc, call->next->Lookup_name(service, info, port));
    note(call, rc == MPI_SUCCESS, rc == MPI_SUCCESS ? rp_names_recorded(service, port) : 0);
    return rc;
}

/* In a deterministic run, no process of another record can connect. */
void rp_record_accepted(const char *function, const char *port)
{
    if (!reprise_det_ticket)
        rp_ports_accepted(function, port);
}
