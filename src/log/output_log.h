/* SPDX-License-Identifier: MIT */
/*
 * What a rank handed to MPI since its first commutative region began: written by
 * libreprise-outputs.so in replays that are compared with each other (`reprise replay --shuffle`),
 * and removed when they have been. Of data only a digest is kept. A journal (log/journalfile.h,
 * letter `G`, run 0): `S`, records of one call site (format.md, section 4); `B`, varint site: a
 * region begins; `E`: it ends; `I`, varint site, varint bytes, varint peer + 1 (0: none), byte (1:
 * of floating-point numbers), u64 digest; `T`: nothing is told from here on.
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
    int32_t peer;     /* who gets it, as the call names them */
    uint32_t region;  /* that began last before, from 0 */
    bool is_inside;   /* ... and had not ended */
    bool is_floating; /* data of floating-point numbers, as far as its datatype tells */
};

struct rp_outputs_writer;

/* Makes `directory/rank-NNNNN.given`, which must not exist yet. If there is no room for all of it,
 * that is said once. */
enum rp_status rp_outputs_create(const char *directory, uint32_t rank,
                                 struct rp_outputs_writer **out, struct rp_problem *why);
/* The place of a call, for the two below. */
uint32_t rp_outputs_site(struct rp_outputs_writer *writer, const char *function,
                         uintptr_t return_address, uintptr_t stack);
void rp_outputs_begin(struct rp_outputs_writer *writer, uint32_t site);
void rp_outputs_end(struct rp_outputs_writer *writer);
void rp_outputs_put(struct rp_outputs_writer *writer, const struct rp_outputs_item *item);
/* From now on nothing is told. */
void rp_outputs_cease(struct rp_outputs_writer *writer);
/* Gives back what is not used of the file. One that is not closed is as good. */
void rp_outputs_close(struct rp_outputs_writer *writer);

struct rp_outputs {
    struct rp_outputs_item *item;
    size_t items;
    uint32_t *region; /* the sites where they began */
    size_t regions;
    struct rp_site_table sites;
    bool is_cut; /* there was more, which is not told */
};

/* Of a rank without regions, which has no file, nothing. */
enum rp_status rp_outputs_read(const char *directory, uint32_t rank, struct rp_outputs *out,
                               struct rp_problem *why);
void rp_outputs_free(struct rp_outputs *given);

#endif
