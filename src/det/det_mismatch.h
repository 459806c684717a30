/* SPDX-License-Identifier: MIT */
/* Errors of the program that end the job: one rank reports them, in one sentence. */
#ifndef RP_DET_MISMATCH_H
#define RP_DET_MISMATCH_H

#include "det/det_state.h"

/* Ends the job if collectives do not match, as far as that was found on this host. */
void rp_det_check_mismatch(void);

/* Ends the job: the program uses a request that `became` something ("was freed") at a site of this
 * rank; UINT32_MAX: it is not known where. */
void rp_det_report_stale(const char *became, uint32_t site) __attribute__((noreturn));

#endif
