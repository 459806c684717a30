/* SPDX-License-Identifier: MIT */
/* Step 3 of a recovery: what is to be sent again (ft_recover.c). */
#ifndef RP_FT_RESEND_H
#define RP_FT_RESEND_H

#include "ft/ft_attempt.h"

/* All ranks exchange how many messages of each channel arrived, and which payloads did not: where
 * the front line of the job is, in messages instead of iterations. */
void rp_ft_exchange_front_line(struct rp_ft_attempt *a);

/* Returns whether the logs of this rank have all that others lack. */
bool rp_ft_logs_suffice(const struct rp_ft_attempt *a);

/* Sends a process again what its rank lacks. What that has already is suppressed from here on. */
void rp_ft_resume_channel(const struct rp_ft_attempt *a, int process);

#endif
