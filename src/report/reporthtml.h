/* SPDX-License-Identifier: MIT */
/* One page of HTML that shows records, or where two of them part; it needs no network and no file
 * besides itself. */
#ifndef RP_REPORTHTML_H
#define RP_REPORTHTML_H

#include "report/diff.h"
#include "report/report.h"

/* The most events that a page holds of one record; of one with more, the first of each rank. */
enum { RP_PAGE_EVENTS = 4000000 };

void rp_report_put_html(struct rp_output *out, const struct rp_report *reports, size_t count);

/* `reports` are those of the two records, with timelines. */
void rp_diff_put_html(struct rp_output *out, const struct rp_diff *diff,
                      const struct rp_report *reports);

#endif
