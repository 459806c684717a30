/* SPDX-License-Identifier: MIT */
/*
 * Writes the data log of one rank: a stream of entries, one for each MPI call, with everything that
 * the call returned to the program (docs/format.md, section 10).
 *
 * The caller begins an entry, puts its parts and ends it. An ended entry survives the death of the
 * process.
 */
#ifndef RP_DATAWRITER_H
#define RP_DATAWRITER_H

#include <stdint.h>

#include "base/status.h"
#include "log/dataformat.h"

struct rp_data_writer;

/* Makes the data log of `rank` in `directory`. `place` says where and how the rank was started;
 * NULL makes a log of loads instead (partial/partial_tracking.c), and rp_data_create_turns one of
 * turns (partial/partial_threads.c). rp_data_close frees *out. */
enum rp_status rp_data_create(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                              const struct rp_data_place *place, struct rp_data_writer **out,
                              struct rp_problem *why);

enum rp_status rp_data_create_turns(const char *directory, uint64_t run, uint32_t rank,
                                    uint32_t ranks, struct rp_data_writer **out,
                                    struct rp_problem *why);

/* Begins an entry. `function` is any number that belongs to this `name` alone; the log has the name
 * at the function's first entry. */
void rp_data_begin(struct rp_data_writer *writer, uint32_t function, const char *name);
void rp_data_put(struct rp_data_writer *writer, const void *bytes, size_t count);
void rp_data_put_number(struct rp_data_writer *writer, uint64_t number);
void rp_data_put_signed(struct rp_data_writer *writer, int64_t number);

/* Puts a content: the bytes with their length, or the place of the same bytes earlier in the
 * stream. */
void rp_data_put_content(struct rp_data_writer *writer, const void *bytes, size_t count);
void rp_data_end(struct rp_data_writer *writer);

uint64_t rp_data_entries(const struct rp_data_writer *writer);

/* Notes that the rank called a function that makes a window for one-sided communication. */
void rp_data_note_windows(struct rp_data_writer *writer);

/* Notes that the rank has a log of loads, too. */
void rp_data_note_tracked(struct rp_data_writer *writer);

/* Returns the counter of loads, which the caller increments. It is in the tail file, so it survives
 * the process; it is valid until the writer is closed. */
uint64_t *rp_data_loads(struct rp_data_writer *writer);

/* Writes the rest of the stream and its end, and frees the writer. Sets *bytes, unless `bytes` is
 * NULL, to the size of the file. */
enum rp_status rp_data_close(struct rp_data_writer *writer, uint64_t *bytes,
                             struct rp_problem *why);

#endif
