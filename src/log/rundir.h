/* SPDX-License-Identifier: MIT */
/* Where records are: a base directory (REPRISE_DIR, else .reprise here) with one directory a run,
 * and `latest`. */
#ifndef RP_RUNDIR_H
#define RP_RUNDIR_H

#include "base/status.h"

/* Makes a new private directory `<base>/<name>-<n>` with the first free n. The path is absolute and
 * to be freed. */
enum rp_status rp_run_new(const char *name, char **out, struct rp_problem *why);

/* Makes exactly this directory, private, which must not exist or be empty. The path is absolute and
 * to be freed. */
enum rp_status rp_run_new_at(const char *path, char **out, struct rp_problem *why);

/*
 * The same, for this process until it ends. Another process that has reserved an empty directory in
 * this way makes rp_run_new_at fail with RP_BUSY. Then, as two recordings into one directory were
 * asked for at once, the first free of `path.2`, `path.3` and so on is reserved here instead.
 */
enum rp_status rp_run_reserve(const char *path, char **out, struct rp_problem *why);

/* Lets `<base>/latest` point there. Best effort: a record is none the worse without. */
void rp_run_set_latest(const char *directory);

/* The directory that a user means by `name`: a path, a name in the base, or NULL and "latest".
 * Absolute, to be freed. */
enum rp_status rp_run_find(const char *name, char **out, struct rp_problem *why);

#endif
