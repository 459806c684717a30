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
    const char *about; /* NULL: our own parts use it, users do not */
};

/* All settings. The last entry has a NULL name. */
extern const struct rp_setting rp_settings[];

/* Checks the environment. An unknown REPRISE_ variable is RP_USAGE: a mistyped setting must not be
 * ignored. */
enum rp_status rp_settings_check(struct rp_problem *why);

/* Checks REPRISE_WRAPPERS, which names functions: a pattern that matches every name is RP_USAGE.
 * rp_settings_check calls this. */
enum rp_status rp_settings_check_wrappers(struct rp_problem *why);

/* Checks REPRISE_CAPTURE: a word that names nothing that can be captured is RP_USAGE. */
enum rp_status rp_settings_check_capture(struct rp_problem *why);

/* Returns the value of a setting, or NULL if it is unset or empty. A setting counts even if the
 * program has unset it since the process began. */
const char *rp_setting(const char *name);

/* Sets *out to the value of a setting, a number of at least `least`, or to `fallback` if it is
 * unset. RP_USAGE: the value is no such number. */
enum rp_status rp_setting_number(const char *name, long least, long fallback, long *out,
                                 struct rp_problem *why);

/* Does the same for a number of bytes, such as 65536, 64k or 16M. */
enum rp_status rp_setting_bytes(const char *name, long fallback, long *out, struct rp_problem *why);

/* Reads a number of bytes, with or without k, K, M or G behind it. Returns false if `text` is none.
 */
bool rp_bytes_read(const char *text, long *out);

/* Sets *rank to this process's rank in the launcher's environment; MPI need not be initialised.
 * Returns false if the environment does not say it. */
bool rp_launched_rank(int *rank);

/* Returns whether `word` is in the comma-separated list. */
bool rp_list_has(const char *list, const char *word);

/* For lists of ranks, such as 0,4-7, or `all`: rp_ranks_have returns whether `rank` is in the list,
 * rp_ranks_are_good whether the list is well formed. */
bool rp_ranks_have(const char *list, long rank);
bool rp_ranks_are_good(const char *list);

/* Returns the ranks of a well-formed list that a job of `ranks` ranks does not have, such as
 * 9,12-20. The caller frees the string. Returns NULL if there are none. */
char *rp_ranks_beyond(const char *list, long ranks);

#endif
