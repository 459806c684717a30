/* SPDX-License-Identifier: MIT */
/* What happened, in the file events.jsonl of the run's directory (docs/format.md). */
#ifndef RP_FT_EVENTS_H
#define RP_FT_EVENTS_H

/* Writes an event, with further members of its JSON object. It is lost if it cannot be written. */
void rp_ft_event(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This process has seen a failure. At its next MPI call the program goes on. */
void rp_ft_event_detected(void);

/* The program is in another MPI call than that in which the failure was seen. */
void rp_ft_event_went_on(void);

/* This process has taken over the rank of a dead one. */
void rp_ft_event_begins_anew(void);

/* This process has repeated a message of its predecessor: the last one, perhaps. */
void rp_ft_event_repeated(void);

#endif
