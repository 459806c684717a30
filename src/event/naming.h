/* SPDX-License-Identifier: MIT */
/*
 * Names of call sites for people. A site is named by the innermost function of its chain of calls
 * that is no thin wrapper, with the wrappers through which it called MPI in brackets. Everything
 * that prints a place uses rp_naming_find.
 *
 * A wrapper is thin if its name is listed (event/wrappers.h), or if it is small and the chains that
 * were learned so far show two callers or more. So the caller learns all chains first. Inlined
 * functions count as functions.
 */
#ifndef RP_NAMING_H
#define RP_NAMING_H

#include "event/source_lines.h"

enum { RP_SITE_WRAPPERS = 8 };

struct rp_spot {
    struct rp_source_line line;
    const struct rp_module *module; /* NULL: unknown */
    uint64_t offset;                /* the offset in the module */
};

struct rp_site_place {
    struct rp_spot spot;
    size_t wrappers;
    struct rp_spot wrapper[RP_SITE_WRAPPERS]; /* innermost first */
};

struct rp_naming;

/* Opens a naming. `list` has names of wrappers besides those of rp_wrappers_list, or is NULL.
 * Returns NULL if there is no memory; all functions here accept NULL, and find no lines. */
struct rp_naming *rp_naming_open(const char *list);
void rp_naming_close(struct rp_naming *naming);

/* Returns the reader of debug information that `naming` uses, and owns. */
struct rp_source_lines *rp_naming_lines(const struct rp_naming *naming);

/* Learns who calls whom from all chains of `table`. */
void rp_naming_learn(struct rp_naming *naming, const struct rp_site_table *table);

/* Names site `site` of `table` in *out. Returns whether its line is known; if not, *out holds what
 * else is known. Strings are valid as long as `naming`. */
bool rp_naming_find(struct rp_naming *naming, const struct rp_site_table *table, uint32_t site,
                    struct rp_site_place *out);

/* Appends the place: "main at app.c:12 (through take at wrap.c:7)", "app(+0x1234)" or "?". */
void rp_site_place_put(struct rp_buffer *out, const struct rp_site_place *place);

/* Appends the wrappers, outermost first: "take_more at wrap.c:13, take at wrap.c:7". Appends
 * nothing if there are none. */
void rp_site_place_put_wrappers(struct rp_buffer *out, const struct rp_site_place *place);

/* Appends the place for the end of a sentence: "app.c:12, through take", "app+0x1234" or nothing.
 */
void rp_site_place_put_short(struct rp_buffer *out, const struct rp_site_place *place);

/* Appends the place, and then one line for each frame, as rp_source_lines_print_site does. */
void rp_naming_print_site(struct rp_naming *naming, const struct rp_site_table *table,
                          uint32_t site, const char *indent, struct rp_buffer *out);

#endif
