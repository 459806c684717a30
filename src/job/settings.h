/* SPDX-License-Identifier: MIT */
/* The settings in the environment, by which the command line talks to the library inside the
 * application. */
#ifndef RP_SETTINGS_H
#define RP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct rp_setting {
    const char *name;
    const char *about; /* NULL: between our own parts, not for users */
};

/* All settings, ended by a NULL name. */
extern const struct rp_setting rp_settings[];

/* An unknown REPRISE_ variable is an error: a mistyped setting must not be passed over. */
enum rp_status rp_settings_check(struct rp_problem *why);

/* REPRISE_WRAPPERS names functions: a pattern that fits every name is none. rp_settings_check asks
 * this, too. */
enum rp_status rp_settings_check_wrappers(struct rp_problem *why);

/* REPRISE_CAPTURE names what can be captured, and nothing else. */
enum rp_status rp_settings_check_capture(struct rp_problem *why);

/* The value, or NULL if unset or empty. One that was unset since the process began still counts. */
const char *rp_setting(const char *name);

/* The value as a number of at least `least`, or `fallback` if unset. */
enum rp_status rp_setting_number(const char *name, long least, long fallback, long *out,
                                 struct rp_problem *why);

/* The same of bytes, such as 65536, 64k or 16M. */
enum rp_status rp_setting_bytes(const char *name, long fallback, long *out, struct rp_problem *why);

/* A number of bytes, with k, K, M or G behind it or nothing. False: it is none. */
bool rp_bytes_read(const char *text, long *out);

/* The rank that the launcher gave this process, before MPI can be asked. False: it did not say. */
bool rp_launched_rank(int *rank);

/* Whether `word` is in the comma-separated list. */
bool rp_list_has(const char *list, const char *word);

/* Ranks, such as 0,4-7, or `all`: whether one is among them; whether it is such a list. */
bool rp_ranks_have(const char *list, long rank);
bool rp_ranks_are_good(const char *list);

/* Those of a good list that a job of so many ranks has not, such as 9,12-20; NULL: it has them all.
 * To be freed. */
char *rp_ranks_beyond(const char *list, long ranks);

#endif
