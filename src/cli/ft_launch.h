/* SPDX-License-Identifier: MIT */
/* Starting jobs that survive dead processes: what `reprise ft` does with and without --tasks. */
#ifndef RP_FT_LAUNCH_H
#define RP_FT_LAUNCH_H

#include <limits.h>
#include <stdbool.h>

#include "base/status.h"
#include "cli/jobwatch.h"
#include "cli/options.h"

enum { RP_FT_MOST_SPARES = 1000 };

/* The number that an option was given. */
enum rp_status rp_ft_number(const char *option, const char *text, long least, long most,
                            long *value, struct rp_problem *why);

/* The prefix of an Open MPI with ULFM: that of the launcher if it was named by its path, or
 * another. */
enum rp_status rp_ft_find_mpi(const char *launcher, char prefix[PATH_MAX], struct rp_problem *why);

/* The command with the launcher of that MPI, for so many processes more than it says, whose number
 * goes to REPRISE_FT_RANKS. */
enum rp_status rp_ft_rewrite(char **words, const char *prefix, long spares, char ***out,
                             struct rp_problem *why);

/* Whether all processes will be on this host. */
bool rp_ft_is_on_one_host(char **words);

/* Makes a directory for the run, which is locked while this command lives, and puts it into
 * REPRISE_FT_DIR. */
enum rp_status rp_ft_make_directory(char path[PATH_MAX], struct rp_problem *why);

/* Sets what any Open MPI 5 needs to survive failures, in the environment of the launcher. */
void rp_ft_set_up_mpi(char **words, const char *prefix, const char *directory);

/* Of a job that ended: whether it is to be launched once more, for which the directory is made
 * empty and the note `what` is printed. It is not if a process had left MPI_Init, if nobody was
 * killed, if the user ended it, or after so many launches. */
bool rp_ft_begins_again(const char *directory, struct rp_job *job, const char *what, long launches,
                        long retries);

/* reprise ft --tasks: runs the command, whose words may be changed. `kills`, which may be NULL, is
 * what --kill says. Returns the exit status. */
int rp_ft_run_tasks(const struct rp_command *command, char **words, const char *kills,
                    long retries);

#endif
