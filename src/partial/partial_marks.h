/* SPDX-License-Identifier: MIT */
/*
 * Recording: marks of the time between entries, from which attribution finds which rank wrote what
 * (log/order_log.h). Their log is made with the first window. The record is of use without it.
 */
#ifndef RP_PARTIAL_MARKS_H
#define RP_PARTIAL_MARKS_H

#include "partial/partial_state.h"

void rp_marks_open(const char *directory, uint64_t run, uint32_t rank);
void rp_marks_close(void);

/* A window was made: who its members are. */
void rp_marks_window(MPI_Comm comm);
/* Memory was attached to a window. */
void rp_marks_attached(uint64_t window, const void *memory, size_t size);

/* The time, in any unit that is about a nanosecond. */
uint64_t rp_marks_now(void);
/* Marks this time. */
void rp_marks_put(uint64_t time);
/* Marks the time that rp_marks_glance() noted, or the time now, which it notes. */
void rp_marks_put_noted(void);
void rp_marks_put_now(void);
/* Notes the time now, for rp_marks_put_noted(), and returns it. */
uint64_t rp_marks_glance(void);
/* Marks that `loads` loads were made; most calls do nothing, so that there are few marks. */
void rp_marks_loads(uint64_t loads);

#endif
