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
 * Makes the directory as rp_run_new_at does, and reserves it for this process until that ends.
 * rp_run_new_at returns RP_BUSY for an empty directory that another process has reserved. If two
 * recordings want the same directory at once, rp_run_reserve reserves the first free one of
 * `path.2`, `path.3` and so on instead.
 */
enum rp_status rp_run_reserve(const char *path, char **out, struct rp_problem *why);

/* Makes the link `<base>/latest` point to `directory`. A failure is ignored: the record is complete
 * without the link. */
void rp_run_set_latest(const char *directory);

/* The directory that a user means by `name`: a path, a name in the base, or NULL and "latest".
 * Absolute, to be freed. */
enum rp_status rp_run_find(const char *name, char **out, struct rp_problem *why);

#endif
