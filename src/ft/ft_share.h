/* SPDX-License-Identifier: MIT */
/* Payloads that need not travel: a receiver on the same host reads them in the sender's log. */
#ifndef RP_FT_SHARE_H
#define RP_FT_SHARE_H

#include <stdbool.h>

#include "ft/ft_log.h"

/* Prepares the log of this rank to be read. */
void rp_ft_share_start(void);

/* There is a new world: the ranks offer each other their logs once more. */
void rp_ft_share_begin_world(void);

/* Returns whether `to` reads the payload of this entry in our log. */
bool rp_ft_share_with(int to, const struct rp_ft_entry *entry);

/* Offers `to` our log, once in a world. */
void rp_ft_share_offer(int to);

/* `by` cannot read our log any more. */
void rp_ft_share_end(int by);

/* Returns the payload of a message that is in its sender's log. NULL: it cannot be read, and its
 * sender is asked to send it. */
const void *rp_ft_share_find(const struct rp_ft_envelope *envelope);

/* The payload that was found has been copied: its sender may drop it. */
void rp_ft_share_take(const void *payload);

#endif
