/* SPDX-License-Identifier: MIT */
/*
 * The name of a call site, for whoever reads it: the innermost function of its chain that is no
 * thin wrapper, and in brackets the wrappers through which it called MPI. Everything that names a
 * place does it by rp_naming_find.
 *
 * A wrapper is thin if its name is listed (event/wrappers.h), or if it is small and has two callers
 * or more, as far as the chains tell that were learned before: so learn all of them, then ask.
 * Functions that the compiler inlined are functions here, too.
 */
#ifndef RP_NAMING_H
#define RP_NAMING_H

#include "event/source_lines.h"

enum { RP_SITE_WRAPPERS = 8 };

struct rp_spot {
    struct rp_source_line line;
    const struct rp_module *module; /* NULL: unknown */
    uint64_t offset;                /* in it */
};

struct rp_site_place {
    struct rp_spot spot;
    size_t wrappers;
    struct rp_spot wrapper[RP_SITE_WRAPPERS]; /* innermost first */
};

struct rp_naming;

/* `list`: names of wrappers besides those of rp_wrappers_list, or NULL. NULL without memory: every
 * function here takes that, and finds no lines. */
struct rp_naming *rp_naming_open(const char *list);
void rp_naming_close(struct rp_naming *naming);

/* By which it finds lines. */
struct rp_source_lines *rp_naming_lines(const struct rp_naming *naming);

/* Looks who calls whom in the chains of this table. */
void rp_naming_learn(struct rp_naming *naming, const struct rp_site_table *table);

/* True if its line is known; if not, what is known is there all the same. Strings last as long as
 * `naming`. */
bool rp_naming_find(struct rp_naming *naming, const struct rp_site_table *table, uint32_t site,
                    struct rp_site_place *out);

/* "main at app.c:12 (through take at wrap.c:7)", "app(+0x1234)" or "?" */
void rp_site_place_put(struct rp_buffer *out, const struct rp_site_place *place);

/* "take_more at wrap.c:13, take at wrap.c:7": the outermost first; nothing, if there are none. */
void rp_site_place_put_wrappers(struct rp_buffer *out, const struct rp_site_place *place);

/* "app.c:12, through take", "app+0x1234" or nothing: for the end of a sentence. */
void rp_site_place_put_short(struct rp_buffer *out, const struct rp_site_place *place);

/* The place, and behind it one line a frame, as rp_source_lines_print_site has them. */
void rp_naming_print_site(struct rp_naming *naming, const struct rp_site_table *table,
                          uint32_t site, const char *indent, struct rp_buffer *out);

#endif
