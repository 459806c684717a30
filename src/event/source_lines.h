/* SPDX-License-Identifier: MIT */
/*
 * From an address to a line of source, by debug information. libdw does the work; it is opened when
 * it is first needed, so that recorded programs do not carry it, and where it is not installed
 * nothing is found.
 */
#ifndef RP_SOURCE_LINES_H
#define RP_SOURCE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/site.h"

struct rp_source_lines;

struct rp_source_line {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    int line;
};

/* NULL without libdw or memory: every function here takes that, and finds nothing. */
struct rp_source_lines *rp_source_lines_open(void);
void rp_source_lines_close(struct rp_source_lines *lines);

/* Where the call returns to; the line is that of the call. False if nothing is known, or if the
 * file is not the one that was recorded. Strings last as long as `lines`. */
bool rp_source_lines_find(struct rp_source_lines *lines, const struct rp_module *module,
                          uint64_t offset, struct rp_source_line *out);

/* The innermost frame of the site that has a line, be it that of a wrapper: event/naming.h tells
 * the place. */
bool rp_source_lines_of_site(struct rp_source_lines *lines, const struct rp_site_table *table,
                             uint32_t site, struct rp_source_line *out);

/* A function at an address: the one that is there, or one that was inlined into it. */
struct rp_code {
    struct rp_source_line line; /* its name as in the source, if it was inlined; where it calls */
    const char *symbol;         /* as a linker would call it; NULL: unknown */
    uint64_t size;              /* bytes of code; 0: unknown */
};

/* The functions at the address, innermost first; the last one is that of the symbol table, and is
 * what rp_source_lines_find says but for the line. Returns how many; `*out` is to be freed, strings
 * last as long as `lines`. */
size_t rp_source_lines_expand(struct rp_source_lines *lines, const struct rp_module *module,
                              uint64_t offset, struct rp_code **out);

/* One line a frame, each after `indent`: `program(+0x12ab) function at file:line`, as far as it is
 * known. */
void rp_source_lines_print_site(struct rp_source_lines *lines, const struct rp_site_table *table,
                                uint32_t site, const char *indent, struct rp_buffer *out);

/* Without the line that says which function was called. */
void rp_source_lines_print_frames(struct rp_source_lines *lines, const struct rp_site_table *table,
                                  uint32_t site, const char *indent, struct rp_buffer *out);

/* The same as a JSON array of objects: module and offset, and function, file and line as far as
 * they are known. */
void rp_source_lines_put_frames(struct rp_source_lines *lines, const struct rp_site_table *table,
                                uint32_t site, struct rp_buffer *out);

#endif
