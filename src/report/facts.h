/* SPDX-License-Identifier: MIT */
/* Facts about a record, computed once; info, record and verify print them. */
#ifndef RP_FACTS_H
#define RP_FACTS_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "log/format.h"
#include "log/manifest.h"

struct rp_rank_facts {
    uint64_t events, receives, polls, bytes, digest;
    enum rp_end_reason reason;
    int64_t code;
    uint64_t data; /* bytes of the data log, 0: none; rp_facts_add looks for it */
};

struct rp_facts {
    char *directory;
    struct rp_manifest manifest;
    struct rp_rank_facts *rank;
    struct rp_rank_facts sum; /* digest of all ranks' digests */
    uint32_t stopped;         /* ranks whose recording an error ended */
    uint32_t unfinished;      /* ranks that did not complete MPI_Finalize */
    /* The jobs that were spawned, without jobs of their own; the sums have them in. */
    struct rp_facts *job;
    size_t jobs;
    uint32_t children; /* processes of these */
};

/* rp_facts_begin reads the manifest of the record; *out has no facts of ranks yet. rp_facts_add
 * adds those of one rank; ranks are added in order. */
enum rp_status rp_facts_begin(const char *directory, struct rp_facts *out, struct rp_problem *why);
void rp_facts_add(struct rp_facts *facts, uint32_t rank, const struct rp_rank_facts *of_rank);

/* Reads and checks all logs of the record. */
enum rp_status rp_facts_collect(const char *directory, struct rp_facts *out,
                                struct rp_problem *why);

/* The same from the ends of the logs alone, where they have one: no polls, and nothing is checked
 * that is not needed. */
enum rp_status rp_facts_summary(const char *directory, struct rp_facts *out,
                                struct rp_problem *why);
void rp_facts_free(struct rp_facts *facts);

/* "called MPI_Abort(7)", "was killed", ... */
void rp_facts_put_end(struct rp_buffer *out, enum rp_end_reason reason, int64_t code);

void rp_facts_put_text(struct rp_buffer *out, const struct rp_facts *facts);
void rp_facts_put_json(struct rp_buffer *out, const struct rp_facts *facts);

/* The members of that object alone, for one that has more; each line is put behind `indent`. */
void rp_facts_put_members(struct rp_buffer *out, const struct rp_facts *facts, const char *indent);

/* The line that ends a recording. */
void rp_facts_put_summary(struct rp_buffer *out, const struct rp_facts *facts);

#endif
