/* SPDX-License-Identifier: MIT */
#include "engine/replay_ports.h"

#include "engine/names.h"
#include "engine/ports.h"
#include "engine/replay_end.h"
#include "engine/replay_patience.h"
#include "engine/wakeup.h"
#include "entry/entry.h"
#include "entry/threads.h"
#include "preload/constants.h"

/* What the record has; false: it has ended before. */
static bool recall(const struct rp_call *call, int32_t *small, uint64_t *large)
{
    rp_threads_enter();
    rp_thread_state.depth++;
    bool known = rp_engine->value(call, small, large);
    if (known)
        rp_engine->value_taken();
    rp_thread_state.depth--;
    rp_threads_leave();
    return known;
}

static void await_turn(const struct rp_call *call, const struct rp_port *port, uint64_t ticket)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_CALL};

    rp_threads_enter();
    while (port->served + 1 < ticket && !rp_replay_is_free())
        rp_patience_poll(&patience, call, "clients that connected to the port before");
    rp_patience_end(&patience);
    rp_threads_leave();
}

int rp_replay_connect(const struct rp_call *call, const struct rp_connection *c)
{
    int rc;
    int32_t unused = 0;
    uint64_t ticket = 0;
    struct rp_port *port = rp_ports_enter(call->function, c->port);

    if (recall(call, &unused, &ticket))
        await_turn(call, port, ticket);
    port->asked = port->asked + 1;
    RP_INSIDE(rc, call->next->Comm_connect(c->port, c->info, c->root, c->comm, c->newcomm));
    if (rc == MPI_SUCCESS)
        port->served = port->served + 1;
    rp_ports_leave(port);
    rp_wakeup_ring_all();
    return rc;
}

/* Returns false if the program runs on without its record. */
static bool await_publication(const struct rp_call *call, uint64_t publication, char *port)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_CALL};
    bool is_there = false;

    rp_threads_enter();
    while (!is_there && !rp_replay_is_free()) {
        is_there = rp_names_replayed(publication, port);
        if (!is_there)
            rp_patience_poll(&patience, call, "a name that another process publishes");
    }
    rp_patience_end(&patience);
    rp_threads_leave();
    return is_there;
}

/* Where the record does not say which publication: quietly, until the name is there. */
static void await_name(const struct rp_call *call, const char *service, MPI_Info info)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_CALL};
    char port[MPI_MAX_PORT_NAME];
    MPI_Errhandler before;
    int rc = MPI_ERR_OTHER;

    rp_threads_enter();
    rp_thread_state.depth++;
    rp_pmpi.Comm_get_errhandler(rp_constant.world, &before);
    while (rc != MPI_SUCCESS && !rp_replay_is_free()) {
        rp_pmpi.Comm_set_errhandler(rp_constant.world, rp_constant.errors_return);
        rc = rp_pmpi.Lookup_name(service, info, port);
        rp_pmpi.Comm_set_errhandler(rp_constant.world, before);
        if (rc != MPI_SUCCESS)
            rp_patience_poll(&patience, call, "a name that another process publishes");
    }
    rp_pmpi.Errhandler_free(&before);
    rp_patience_end(&patience);
    rp_thread_state.depth--;
    rp_threads_leave();
}

int rp_replay_lookup(const struct rp_call *call, const char *service, MPI_Info info, char *port)
{
    int rc;
    int32_t was_found = 0;
    uint64_t publication = 0;
    bool known = recall(call, &was_found, &publication);

    if (known && was_found && publication != 0 && await_publication(call, publication, port))
        return MPI_SUCCESS;
    if (known && was_found)
        await_name(call, service, info);
    if (known && !was_found)
        service = "a name that reprise looks up, and nobody publishes";
    RP_INSIDE(rc, call->next->Lookup_name(service, info, port));
    return rc;
}
