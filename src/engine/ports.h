/* SPDX-License-Identifier: MIT */
/*
 * Ports of MPI_Open_port. Their names differ from run to run, and the program uses those of its own
 * run. Which of several clients is accepted first is open: clients of one port connect one after
 * another, in the order of their tickets. A recording gives the tickets, a replay keeps to them.
 */
#ifndef RP_PORTS_H
#define RP_PORTS_H

#include <stdatomic.h>
#include <stdint.h>

/* What all processes of a record know of a port, in a file beside the record or the state of a
 * replay. Layout: docs/format.md, section 17. */
struct rp_port {
    _Atomic uint64_t asked;    /* the last ticket that a client took */
    _Atomic uint64_t served;   /* the last ticket whose client has connected */
    _Atomic uint64_t accepted; /* calls of MPI_Comm_accept that have returned */
};

/* Where the files are: their paths begin with `base` and end in a name made of the port's. */
void rp_ports_open(const char *base);

const char *rp_ports_base(void);

/* The 64-bit FNV-1a hash: names of ports are long, and have slashes and spaces. */
uint64_t rp_ports_hash(const char *name);

/* Makes and removes the file of a port. */
void rp_ports_add(const char *port);
void rp_ports_remove(const char *port);

/* Maps the file of a port; rp_ports_leave ends that. Ends the job if no process of this record has
 * opened it, in the words of `function`. */
struct rp_port *rp_ports_enter(const char *function, const char *port);
void rp_ports_leave(struct rp_port *port);

/* For a client, in a recording: waits until no other client connects to the port. Returns what
 * rp_ports_unlock takes; -1: no lock could be had. */
int rp_ports_lock(const char *port);
void rp_ports_unlock(int lock);

/* An MPI_Comm_accept has returned. Ends the job if it accepted a process of another record. */
void rp_ports_accepted(const char *function, const char *port);

#endif
