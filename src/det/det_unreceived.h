/* SPDX-License-Identifier: MIT */
/* Messages that were sent and never received. */
#ifndef RP_DET_UNRECEIVED_H
#define RP_DET_UNRECEIVED_H

#include "det/det_state.h"

/* A message is sent to this rank of the job. */
void rp_det_count_sent(uint32_t dest);

/* At the end of all ranks: rank 0 reports the messages that no rank received. */
void rp_det_report_unreceived(void);

#endif
