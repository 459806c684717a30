/* SPDX-License-Identifier: MIT */
/* One line at the end of a terminal that shows how far a run is, once a second. If standard error
 * is not a terminal, there is none. */
#ifndef RP_PROGRESSLINE_H
#define RP_PROGRESSLINE_H

#include <stdbool.h>

bool rp_progress_line_wanted(void);

/* Whether it is time for another one. */
bool rp_progress_line_due(void);

/* Shows the text, as much of it as fits. What is written next by others goes over it. */
void rp_progress_line_show(const char *text);

/* Before messages that are to stay. */
void rp_progress_line_clear(void);

#endif
