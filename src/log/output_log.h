/* SPDX-License-Identifier: MIT */
/*
 * The outputs of a rank: what it handed to MPI since its first commutative region began. In replays
 * that are compared with each other (`reprise replay --shuffle`), libreprise-outputs.so writes this
 * log; the command removes it after the comparison. The log has a digest of the data, not the data.
 * It is a journal (log/journalfile.h, kind `G`, run 0) of these entries: `S`, records of one call
 * site (format.md, section 4); `B`, varint site: a region begins; `E`: the region ends; `I`, varint
 * site, varint bytes, varint peer + 1 (0: none), byte (1: floating-point numbers), u64 digest: an
 * output; `T`: the log is cut off here.
 */
#ifndef RP_OUTPUTSLOG_H
#define RP_OUTPUTSLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "event/site.h"

enum { RP_OUTPUTS_NO_PEER = -1 };

struct rp_outputs_item {
    uint64_t digest, bytes;
    uint32_t site;
    int32_t peer;     /* the rank that gets it, as the call names it, or RP_OUTPUTS_NO_PEER */
    uint32_t region;  /* number, from 0, of the region that began last before it */
    bool is_inside;   /* that region had not ended */
    bool is_floating; /* its datatype is of floating-point numbers */
};

struct rp_outputs_writer;

/* Makes `directory/rank-NNNNN.given`, which must not exist yet. If there is no room for the whole
 * log, one message says so. rp_outputs_close frees *out. */
enum rp_status rp_outputs_create(const char *directory, uint32_t rank,
                                 struct rp_outputs_writer **out, struct rp_problem *why);
/* Returns the number of a call site, for rp_outputs_begin and rp_outputs_put. */
uint32_t rp_outputs_site(struct rp_outputs_writer *writer, const char *function,
                         uintptr_t return_address, uintptr_t stack);
void rp_outputs_begin(struct rp_outputs_writer *writer, uint32_t site);
void rp_outputs_end(struct rp_outputs_writer *writer);
void rp_outputs_put(struct rp_outputs_writer *writer, const struct rp_outputs_item *item);
/* Marks that the log is cut off here: later outputs are not in it. */
void rp_outputs_cease(struct rp_outputs_writer *writer);
/* Cuts the file to its used length and frees the writer. A log that was not closed can be read,
 * too. */
void rp_outputs_close(struct rp_outputs_writer *writer);

struct rp_outputs {
    struct rp_outputs_item *item;
    size_t items;
    uint32_t *region; /* the call site where each region began */
    size_t regions;
    struct rp_site_table sites;
    bool is_cut; /* there were more outputs, which are not in the log */
};

/* Reads the outputs of a rank; rp_outputs_free frees them. A rank without regions has no file: *out
 * is then empty, and the function returns RP_OK. */
enum rp_status rp_outputs_read(const char *directory, uint32_t rank, struct rp_outputs *out,
                               struct rp_problem *why);
void rp_outputs_free(struct rp_outputs *given);

#endif
