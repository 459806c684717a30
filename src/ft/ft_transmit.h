/* SPDX-License-Identifier: MIT */
/* Sends messages of the program from the log. */
#ifndef RP_FT_TRANSMIT_H
#define RP_FT_TRANSMIT_H

#include <stdint.h>

#include "ft/ft_log.h"

/* Sets the handlers. */
void rp_ft_transmit_start(void);

/* Sends a message to a rank. `flags` is 0 or RP_FT_SETUP. `payload` is where a long one is nearer
 * than in the log, and must stay; or NULL. Does nothing while there is no world. */
void rp_ft_transmit(struct rp_ft_entry *entry, int to, uint32_t flags, const void *payload);

/* Sends the payload by itself, to a rank that has the envelope. */
void rp_ft_transmit_payload(struct rp_ft_entry *entry, int to, uint32_t flags);

/* Notes which messages have left. */
void rp_ft_transmit_progress(void);

/* Ends all that are being sent: behind rp_ft_transport_close. */
void rp_ft_transmit_close(void);

#endif
