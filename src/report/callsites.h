/* SPDX-License-Identifier: MIT */
/*
 * The call sites of all ranks by place of source: one row for each MPI function and line, whatever
 * chains of calls lead there. Where wrappers call MPI (event/naming.h), the line is that of their
 * caller; rows of one wrapper have the same `fold`.
 */
#ifndef RP_CALLSITES_H
#define RP_CALLSITES_H

#include "event/naming.h"
#include "log/manifest.h"
#include "report/intern.h"

struct rp_call_site {
    char *function; /* of MPI, or what was captured */
    char *in;       /* the program's function; NULL: unknown */
    char *file;     /* NULL: unknown */
    int line;
    char *module;    /* of the frame of that line, or of the innermost; NULL: unknown */
    uint64_t offset; /* in it */
    char *through;   /* the wrappers between, as rp_site_place_put_wrappers has them; NULL: none */
    char *wrapper_in,
        *wrapper_file; /* of the innermost wrapper, which calls MPI; NULL: unknown, or none */
    int wrapper_line;
    uint32_t fold; /* the first row of the same wrapper; its own number, if there is none before */
    char build_id[2 * RP_BUILD_ID_MAX + 1];
    uint32_t chains; /* of calls that lead here */
    uint32_t ranks;  /* that have events of it */
    uint64_t events;
    uint64_t calls;        /* that made events; polls that answered no are calls too */
    uint64_t matches;      /* messages that a wildcard took or found */
    uint64_t out_of_order; /* of these, by a receive that was posted before one whose match was
                              recorded earlier */
    uint64_t polls;        /* that answered no */
    uint32_t sources;      /* the most different ones on one rank */
    uint64_t
        outcomes; /* that `bits` are of: matches, or where there are none answers with an index */
    double bits;  /* what all outcomes together would take if each were independent of the others:
                     the entropy of each rank times its outcomes */
};

struct rp_call_sites {
    struct rp_call_site *rows;
    size_t count, room;
    struct rp_intern chains, places; /* a place is a row */
    struct rp_intern folds;          /* by wrapper */
    struct rp_buffer rows_of_folds;  /* u32 */
    struct rp_buffer rows_of_chains; /* u32 */
    struct rp_naming *naming;
};

/* Looks who calls whom in all logs of a record; one that cannot be read is passed over. */
void rp_learn_callers(struct rp_naming *naming, const char *directory,
                      const struct rp_manifest *manifest);

/* Opens libdw, if there is one, and learns the callers in the record. */
void rp_call_sites_open(struct rp_call_sites *sites, const char *directory,
                        const struct rp_manifest *manifest);
void rp_call_sites_free(struct rp_call_sites *sites);

/* The row of each site of a log, in a new array; NULL without memory. */
uint32_t *rp_call_sites_rows(struct rp_call_sites *sites, const struct rp_site_table *table);

/* Bits an outcome; 0 if there is none. */
double rp_call_site_entropy(const struct rp_call_site *site);

/* Whether the record shows that MPI had a choice here. */
bool rp_call_site_is_open(const struct rp_call_site *site);

/* Whether other rows have the same wrapper. */
bool rp_call_site_is_folded(const struct rp_call_sites *sites, size_t row);

/* What the rows under one wrapper have in common: "take at wrap.c:7". */
void rp_call_site_put_wrapper(struct rp_buffer *out, const struct rp_call_site *site);

/* "main at app.c:12 (through take at wrap.c:7)", "app(+0x1234)" or "?" */
void rp_call_site_put_place(struct rp_buffer *out, const struct rp_call_site *site);

#endif
