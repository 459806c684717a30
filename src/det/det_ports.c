/* SPDX-License-Identifier: MIT */
/*
 * Ranks that connect to a port come to it one after another, in the order of their logical times:
 * each waits for its turn, and then takes the next ticket. The n-th call of MPI_Comm_accept on a
 * port belongs to the n-th ticket, whoever comes first in real time. Both go on at the later of
 * their two times and the latency. Only then do they call MPI, with all ranks of their
 * communicators: inside MPI their clocks stand still, and others would wait for these.
 *
 * The first of the two, in logical time, publishes that it waits for any rank (RP_WAIT_ANY). The
 * second finds it there, because it was its turn before, and does not wait: so one of the two
 * always counts as running, and what others know of their times stays true.
 *
 * Two ranks that join by a socket meet in the same way; both know the addresses of its ends. Names
 * are published, found and withdrawn by turns. They are looked up in our memory, not by MPI.
 */
#include "det/det_ports.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/diagnostics.h"
#include "det/det_comms.h"
#include "det/det_turns.h"
#include "det/det_wait.h"
#include "preload/constants.h"
#include "reprise.h"

enum { PORTS = RP_SHARED_PORTS, NAMES = RP_SHARED_NAMES };

static uint64_t last_ticket;

uint64_t reprise_det_ticket(void)
{
    return last_ticket;
}

__attribute__((noreturn)) static void stop(const char *why)
{
    rp_error("%s cannot be made deterministic: %s", rp_det.function, why);
    rp_det_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static void require_one_host(void)
{
    if (rp_shared.host_of)
        stop("its ranks are on several hosts, and that needs all of them on one");
}

/* FNV-1a, never 0. */
static struct rp_shared_port *find(uint64_t name)
{
    struct rp_shared_port *ports = rp_shared_common()->port;

    for (size_t i = 0; i < PORTS; i++)
        if (atomic_load(&ports[i].name) == name)
            return &ports[i];
    return NULL;
}

/* Ports are opened at any time: two ranks may look for room at once. */
static struct rp_shared_port *add(uint64_t name)
{
    struct rp_shared_port *ports = rp_shared_common()->port;

    for (size_t i = 0; i < PORTS; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&ports[i].name, &none, RP_SHARED_PORT_TAKEN)) {
            ports[i].asked = ports[i].connected = 0;
            ports[i].accepting = ports[i].accepted = ports[i].offered = 0;
            ports[i].busy_until = 0;
            atomic_store(&ports[i].name, name);
            return &ports[i];
        }
    }
    stop("there is no room for more than 256 ports that are open, and sockets that are joined");
}

int rp_det_open_port(MPI_Info info, char *port)
{
    rp_det.inside++;
    int rc = rp_pmpi.Open_port(info, port);
    rp_det.inside--;
    if (rc == MPI_SUCCESS && !rp_shared.host_of)
        add(rp_det_hash(port, strlen(port)));
    return rc;
}

int rp_det_close_port(const char *port)
{
    struct rp_shared_port *p = rp_shared.host_of ? NULL : find(rp_det_hash(port, strlen(port)));

    if (p)
        atomic_store(&p->name, 0);
    rp_det.inside++;
    int rc = rp_pmpi.Close_port(port);
    rp_det.inside--;
    return rc;
}

/* Waiting for the other side */

struct meeting {
    struct rp_shared_port *port;
    uint64_t number;
};

struct awaited {
    const _Atomic uint64_t *count;
    uint64_t number;
};

static bool is_reached(void *data, bool only_whether)
{
    const struct awaited *a = data;

    (void)only_whether;
    return atomic_load(a->count) >= a->number;
}

/* Until the count of the port has come to this number. */
static void wait_for(const _Atomic uint64_t *count, uint64_t number, const char *whom)
{
    struct awaited awaited = {count, number};
    struct rp_det_wait wait = {.kind = RP_WAIT_ANY,
                               .candidate = RP_SEND_NEVER,
                               .what = rp_det.function,
                               .whom = whom};

    rp_det_wait(is_reached, &awaited, &wait);
}

/* The same, where the other side is there and needs nobody else. */
static void wait_shortly(const _Atomic uint64_t *count, uint64_t number)
{
    struct awaited awaited = {count, number};
    struct rp_det_wait wait = {.runs = true};

    rp_det_wait(is_reached, &awaited, &wait);
}

/* When two that came at these times go on. */
static uint64_t later_of(uint64_t own, uint64_t other)
{
    return (own > other ? own : other) + rp_shared.latency;
}

/* The port, at the turn of this rank, whose time then is *now. */
static struct rp_shared_port *come_to(const char *port, uint64_t *now)
{
    struct rp_shared_port *p = find(rp_det_hash(port, strlen(port)));

    if (!p)
        stop("no process of this run has opened that port");
    rp_det_wait_for_turn();
    *now = rp_shared_now();
    return p;
}

/* The root of the server's or client's communicator, before it calls MPI. Clients know the number
 * of the communicator that will be made. An MPI_Comm_accept lasts until busy_until: whether it has
 * returned by then depends on more than logical time. */
static struct meeting await_client(const char *port)
{
    uint64_t now;
    struct meeting m = {.port = come_to(port, &now)};

    if (atomic_load(&m.port->accepting) != atomic_load(&m.port->accepted) ||
        now <= m.port->busy_until)
        stop("another rank accepts at this port");
    m.port->server_time = now;
    m.number = atomic_fetch_add(&m.port->accepting, 1) + 1;
    wait_for(&m.port->asked, m.number, "for a client of its port");
    wait_shortly(&m.port->offered, m.number);
    m.port->busy_until = later_of(now, m.port->client_time);
    rp_shared_raise(m.port->busy_until);
    rp_det_decided(RP_DET_ANSWER, 2, m.port->client);
    return m;
}

static struct meeting await_server(const char *port, uint64_t id)
{
    uint64_t now;
    struct meeting m = {.port = come_to(port, &now)};

    m.number = last_ticket = atomic_fetch_add(&m.port->asked, 1) + 1;
    wait_for(&m.port->accepting, m.number, "until a rank accepts it at the port");
    wait_shortly(&m.port->connected, m.number - 1);
    wait_shortly(&m.port->accepted, m.number - 1);
    m.port->client_time = now;
    m.port->client = rp_shared.rank;
    m.port->client_comm = id;
    atomic_store(&m.port->offered, m.number);
    rp_shared_raise(later_of(now, m.port->server_time));
    return m;
}

/* Outside of MPI the others of the communicator wait for its root, as for a spawn. */
static void gather(MPI_Comm comm, struct rp_det_operation what)
{
    rp_det_collective_leave(rp_det_collective_enter(RP_DET_MAY_NOT, comm, what));
}

int rp_det_comm_accept(struct rp_det_operation what, const char *port, MPI_Info info, int root,
                       MPI_Comm comm, MPI_Comm *made)
{
    const struct rp_det_comm *c = rp_det_comm_find(comm);
    struct meeting m = {0};
    uint64_t id = 0;

    require_one_host();
    if (!c || root < 0 || root >= c->size)
        return rp_pmpi.Comm_accept(port, info, root, comm, made);
    what.root = root;
    gather(comm, what);
    if (c->from == root) {
        m = await_client(port);
        id = m.port->client_comm;
    }
    gather(comm, what);
    rp_det.inside++;
    int rc = rp_pmpi.Comm_accept(port, info, root, comm, made);
    if (rc == MPI_SUCCESS) {
        rp_pmpi.Bcast(&id, sizeof id, rp_constant.byte, root, comm);
        rp_det_comm_spawned(*made, id);
    }
    rp_det.inside--;
    if (m.port)
        atomic_store(&m.port->accepted, m.number);
    return rc;
}

int rp_det_comm_connect(struct rp_det_operation what, const char *port, MPI_Info info, int root,
                        MPI_Comm comm, MPI_Comm *made)
{
    const struct rp_det_comm *c = rp_det_comm_find(comm);
    struct meeting m = {0};

    require_one_host();
    if (!c || root < 0 || root >= c->size)
        return rp_pmpi.Comm_connect(port, info, root, comm, made);
    what.root = root;
    gather(comm, what);
    uint64_t id = rp_det_comm_reserve_id(comm);
    if (c->from == root)
        m = await_server(port, id);
    gather(comm, what);
    rp_det.inside++;
    int rc = rp_pmpi.Comm_connect(port, info, root, comm, made);
    if (rc == MPI_SUCCESS)
        rp_det_comm_spawned(*made, id);
    rp_det.inside--;
    if (m.port)
        atomic_store(&m.port->connected, m.number);
    return rc;
}

/* Sockets */

/* A name that both ends of the socket give it; 0: it has none. */
static uint64_t name_of_socket(int fd)
{
    struct {
        struct sockaddr_storage address;
        socklen_t length;
    } end[2] = {{.length = sizeof end[0].address}, {.length = sizeof end[1].address}};

    if (getsockname(fd, (struct sockaddr *)&end[0].address, &end[0].length) != 0 ||
        getpeername(fd, (struct sockaddr *)&end[1].address, &end[1].length) != 0 ||
        (end[0].address.ss_family != AF_INET && end[0].address.ss_family != AF_INET6))
        return 0;
    uint64_t one = rp_det_hash(&end[0].address, end[0].length),
             other = rp_det_hash(&end[1].address, end[1].length);
    return one == other ? 0 : rp_det_mix(one < other ? one : other, one < other ? other : one) | 1;
}

int rp_det_comm_join(int fd, MPI_Comm *made)
{
    uint64_t name = name_of_socket(fd), id = rp_det_comm_reserve_id(rp_constant.self), now;
    struct meeting m = {0};

    require_one_host();
    if (!name)
        stop("only a connected socket with internet addresses has a name that both ranks know");
    rp_det_wait_for_turn();
    now = rp_shared_now();
    m.port = find(name);
    if (m.port) {
        id = m.port->client_comm;
        m.port->server_time = now;
        atomic_store(&m.port->accepting, 1);
        rp_shared_raise(later_of(now, m.port->client_time));
    } else {
        m.port = add(name);
        m.port->client_time = now;
        m.port->client_comm = id;
        wait_for(&m.port->accepting, 1, "until the rank at the other end of the socket joins it");
        rp_shared_raise(later_of(now, m.port->server_time));
        atomic_store(&m.port->name, 0);
    }
    rp_det.inside++;
    int rc = rp_pmpi.Comm_join(fd, made);
    if (rc == MPI_SUCCESS && *made != rp_constant.comm_null)
        rp_det_comm_spawned(*made, id);
    rp_det.inside--;
    return rc;
}

/* Names */

static struct rp_shared_published *published(uint64_t service)
{
    struct rp_shared_published *names = rp_shared_common()->published;

    for (size_t i = 0; i < NAMES; i++)
        if (names[i].service == service)
            return &names[i];
    return NULL;
}

int rp_det_publish_name(const char *service, MPI_Info info, const char *port)
{
    uint64_t name = rp_det_hash(service, strlen(service));

    require_one_host();
    rp_det_wait_for_turn();
    rp_det.inside++;
    int rc = rp_pmpi.Publish_name(service, info, port);
    rp_det.inside--;
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_shared_published *at = published(name) ? published(name) : published(0);
    if (!at || strlen(port) >= sizeof at->port)
        stop("there is no room for more than 64 names, with ports of less than 1024 bytes");
    snprintf(at->port, sizeof at->port, "%s", port);
    at->service = name;
    return rc;
}

int rp_det_unpublish_name(const char *service, MPI_Info info, const char *port)
{
    require_one_host();
    rp_det_wait_for_turn();
    rp_det.inside++;
    int rc = rp_pmpi.Unpublish_name(service, info, port);
    rp_det.inside--;
    struct rp_shared_published *at = published(rp_det_hash(service, strlen(service)));
    if (rc == MPI_SUCCESS && at)
        at->service = 0;
    return rc;
}

int rp_det_lookup_name(const char *service, MPI_Info info, char *port)
{
    require_one_host();
    rp_det_wait_for_turn();
    const struct rp_shared_published *at = published(rp_det_hash(service, strlen(service)));
    rp_det_decided(RP_DET_ANSWER, 3, at != NULL);
    if (at) {
        strcpy(port, at->port);
        return MPI_SUCCESS;
    }
    rp_det.inside++;
    int rc = rp_pmpi.Lookup_name("a name that reprise looks up, and nobody publishes", info, port);
    rp_det.inside--;
    return rc;
}
