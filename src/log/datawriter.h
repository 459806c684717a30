/* SPDX-License-Identifier: MIT */
/*
 * Writing the data log of one rank: a stream of entries, one for each MPI call, with all that the
 * call gave to the program. docs/format.md, section 10.
 *
 * An entry is begun, put and ended. After it was ended it survives whatever kills the process.
 */
#ifndef RP_DATAWRITER_H
#define RP_DATAWRITER_H

#include <stdint.h>

#include "base/status.h"
#include "log/dataformat.h"

struct rp_data_writer;

/* Without a place, a log of loads (partial/partial_tracking.c). */
enum rp_status rp_data_create(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                              const struct rp_data_place *place, struct rp_data_writer **out,
                              struct rp_problem *why);

/* `function` numbers the MPI functions in any way; its name stands in the log where it first
 * appears. */
void rp_data_begin(struct rp_data_writer *writer, uint32_t function, const char *name);
void rp_data_put(struct rp_data_writer *writer, const void *bytes, size_t count);
void rp_data_put_number(struct rp_data_writer *writer, uint64_t number);
void rp_data_put_signed(struct rp_data_writer *writer, int64_t number);

/* Bytes with their length, or where they stood before. */
void rp_data_put_content(struct rp_data_writer *writer, const void *bytes, size_t count);
void rp_data_end(struct rp_data_writer *writer);

uint64_t rp_data_entries(const struct rp_data_writer *writer);

/* The rank called a function that makes a window for one-sided communication. */
void rp_data_note_windows(struct rp_data_writer *writer);
bool rp_data_noted_windows(const struct rp_data_writer *writer);

/* The rank has a log of loads, too. */
void rp_data_note_tracked(struct rp_data_writer *writer);

/* Where the number of loads is kept, so that it survives the process too; until the writer is
 * closed. */
uint64_t *rp_data_loads(struct rp_data_writer *writer);

/* Writes what is left and the end, and frees the writer. `bytes`, of the whole file, may be
 * NULL. */
enum rp_status rp_data_close(struct rp_data_writer *writer, uint64_t *bytes,
                             struct rp_problem *why);

/* Removes the files and frees the writer, as if there had been none. */
void rp_data_discard(struct rp_data_writer *writer);

#endif
