/* SPDX-License-Identifier: MIT */
/* Where a replay stands in the record of its rank. */
#ifndef RP_REPLAY_CURSOR_H
#define RP_REPLAY_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/site.h"
#include "log/logreader.h"
#include "match/matcher.h"

/* Opens the log of this rank (rp_rank.session). Fails if it cannot be read. */
enum rp_status rp_cursor_open(struct rp_problem *why);

/* How many events the record has. */
uint64_t rp_cursor_total(void);

/* The values that were captured before MPI_Init have been fed to the program by now: their events
 * are used up. Fails if the program asked for more or fewer of them. */
enum rp_status rp_cursor_skip_early_values(struct rp_problem *why);

/* Uses up the events at the front that belong to no call of the program. */
void rp_cursor_skip_notes(void);

/*
 * The next event; NULL: the record has ended. It is valid until something is used up, or
 * rp_cursor_ahead is called. This and rp_cursor_ahead end the job if the log turns out to be
 * damaged.
 */
const struct rp_event *rp_cursor_front(void);

/* The same, but NULL also if the record was cut off among the events of one call. */
const struct rp_event *rp_cursor_whole_front(void);

/* The k-th event behind the next one; NULL: the record ends before it. */
const struct rp_event *rp_cursor_ahead(size_t k);

/* The same among the events that are in memory already, so that nothing moves; else NULL. */
const struct rp_event *rp_cursor_loaded(size_t k);

/* Uses up `event`, which is the next one. */
void rp_cursor_use(const struct rp_event *event);

/* The same of a note, which accounts for the posts that it counts; and of any other event that
 * counts posts, which accounts for all so far. */
void rp_cursor_use_note(const struct rp_event *event);
void rp_cursor_use_event(const struct rp_event *event);

/* The same for the event of a call of the program, with the notes behind it. */
void rp_cursor_take(const struct rp_event *event);

/* Non-blocking receives that the program has posted since the event before. */
uint64_t rp_cursor_posts(void);

/* How many events were used up, and the digest of them. */
uint64_t rp_cursor_position(void);
uint64_t rp_cursor_digest(void);

/* What receive number `post` matched; false: nothing, as far as the record goes. */
bool rp_cursor_match(uint64_t post, struct rp_match *out);

/* The recorded call sites, and the MPI function of an event. */
const struct rp_site_table *rp_cursor_sites(void);
const char *rp_cursor_function(const struct rp_event *event);

/* How the record ends, and whether it does so in MPI_Finalize. */
struct rp_log_end rp_cursor_end(void);
bool rp_cursor_ends_in_finalize(void);

/* The path of the log, for messages. */
const char *rp_cursor_log_name(void);

#endif
