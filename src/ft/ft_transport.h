/* SPDX-License-Identifier: MIT */
/*
 * The transport: messages between processes of the real communicator, and the library's own
 * messages. A failure never ends a call here: it sets rp_ft.broken.
 */
#ifndef RP_FT_TRANSPORT_H
#define RP_FT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/ft_mpi.h"
#include "ft/ft_envelope.h"
#include "ft/ft_state.h"

/* What is done with a message of one kind. `payload` is what follows the envelope, and is valid
 * until the handler returns. */
typedef void rp_ft_handler(const struct rp_ft_envelope *envelope, const void *payload);

/* Sets the handler of a kind. Each kind has one; parts set theirs when they start. */
void rp_ft_transport_handle(enum rp_ft_kind kind, rp_ft_handler *handler);

/* Begins to receive in rp_ft.world. */
void rp_ft_transport_open(void);
bool rp_ft_transport_is_open(void);

/* Ends all receives, and all sends of the library's own messages, in a world that was revoked and
 * that all who live have left. */
void rp_ft_transport_close(void);

/* Receives what has arrived, and handles it. */
void rp_ft_transport_progress(void);

/* Returns whether this is MPI_SUCCESS; else the world is broken (a process failed, or another rank
 * revoked the communicator). */
static inline bool rp_ft_check(int code)
{
    if (code != MPI_SUCCESS)
        rp_ft.broken = true;
    return code == MPI_SUCCESS;
}

/* Starts to send an envelope and the `behind` bytes that follow it in memory; both must stay.
 * `real` is MPI_REQUEST_NULL if that fails. */
void rp_ft_transport_send(const struct rp_ft_envelope *envelope, size_t behind, int to,
                          MPI_Request *real);

/* Starts to send the payload of an envelope by itself; it must stay. */
void rp_ft_transport_send_payload(const struct rp_ft_envelope *envelope, const void *payload,
                                  int to, MPI_Request *real);

/* Starts to receive such a payload into `memory`. */
void rp_ft_transport_receive_payload(const struct rp_ft_envelope *envelope, void *memory,
                                     MPI_Request *real);

/* Returns whether both requests, which may be MPI_REQUEST_NULL, have ended. */
bool rp_ft_transport_has_sent(MPI_Request real[2]);

/* Ends a request of the world that is closed; `peer` is a process of it, or -1. Returns false if it
 * does not end: its memory must not be used for anything else. */
bool rp_ft_transport_end_request(MPI_Request *real, int peer);
bool rp_ft_transport_end_both(MPI_Request real[2]);

/* Sends a message of the library's own. It is not logged. The payload must stay. */
void rp_ft_control(enum rp_ft_kind kind, int to, uint64_t seq, const void *payload, size_t bytes);

/* The same with more in its envelope, and without payload. */
void rp_ft_control_with(struct rp_ft_envelope envelope, int to);

/* Receives the payload of a message of the library's own into `memory`, and calls `arrived` when it
 * is there, or `lost` if it does not arrive: then MPI may still write there. */
void rp_ft_control_receive(const struct rp_ft_envelope *envelope, void *memory,
                           void (*arrived)(const struct rp_ft_envelope *),
                           void (*lost)(const struct rp_ft_envelope *));

#endif
