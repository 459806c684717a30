/* SPDX-License-Identifier: MIT */
/* Checkpoints in files (--checkpoints). What cannot be read or written is reported, and not used.
 */
#ifndef RP_FT_FILES_H
#define RP_FT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/ft_generations.h"

/* Reads the settings. */
void rp_ft_files_start(void);

/* Returns whether there are files. */
bool rp_ft_files_on(void);

/* Returns what the user can do when the job has ended: a part of a message. */
const char *rp_ft_files_restart_hint(void);

/* Writes a checkpoint of this rank in the background; it must stay until rp_ft_files_wait. */
void rp_ft_files_write(const struct rp_ft_checkpoint *checkpoint);
void rp_ft_files_wait(void);

/* Writes what a dead rank, whose buddy we are, did not write any more. */
void rp_ft_files_write_for(int rank, const struct rp_ft_checkpoint list[RP_FT_GENERATIONS]);

/* All ranks have the files of this generation and of the one before it: removes older ones. */
void rp_ft_files_release(int64_t generation);

/* Lists the latest generations of a rank that there are files of; -1: none. */
void rp_ft_files_list(int rank, int64_t out[RP_FT_GENERATIONS]);

/* Reads a file into its place in the list. Returns false if it is not valid. */
bool rp_ft_files_read(int rank, int64_t generation,
                      struct rp_ft_checkpoint list[RP_FT_GENERATIONS]);

#endif
