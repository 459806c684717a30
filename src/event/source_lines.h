/* SPDX-License-Identifier: MIT */
/*
 * Finds the source line of an address by debug information. libdw does the work. It is opened when
 * it is first needed, so that recorded programs do not load it. Where it is not installed, nothing
 * is found.
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

/* Returns NULL without libdw or memory. All functions here accept NULL, and find nothing. */
struct rp_source_lines *rp_source_lines_open(void);
void rp_source_lines_close(struct rp_source_lines *lines);

/* Finds the function and the line of the call that returns to `offset` in `module`. Returns false
 * if nothing is known, or if the file is not the one that was recorded. Strings are valid as long
 * as `lines`. */
bool rp_source_lines_find(struct rp_source_lines *lines, const struct rp_module *module,
                          uint64_t offset, struct rp_source_line *out);

/* Finds the line of the innermost frame of the site that has one, even if it is that of a wrapper.
 * event/naming.h finds the place that people want to read. */
bool rp_source_lines_of_site(struct rp_source_lines *lines, const struct rp_site_table *table,
                             uint32_t site, struct rp_source_line *out);

/* One function at an address: the one that contains it, or one that was inlined there. */
struct rp_code {
    struct rp_source_line
        line;           /* the name as in the source, if it was inlined; the line of its call */
    const char *symbol; /* as the symbol table has it; NULL: unknown */
    uint64_t size;      /* bytes of code; 0: unknown */
};

/* Lists the functions at an address, innermost first. The last one is that of the symbol table, and
 * is what rp_source_lines_find finds, but for the line. Returns how many; the caller frees *out,
 * strings are valid as long as `lines`. */
size_t rp_source_lines_expand(struct rp_source_lines *lines, const struct rp_module *module,
                              uint64_t offset, struct rp_code **out);

/* Appends one line for each frame of the site, each after `indent`: `program(+0x12ab) function at
 * file:line`, as far as it is known. The first line names the MPI function. */
void rp_source_lines_print_site(struct rp_source_lines *lines, const struct rp_site_table *table,
                                uint32_t site, const char *indent, struct rp_buffer *out);

/* Does the same without that first line. */
void rp_source_lines_print_frames(struct rp_source_lines *lines, const struct rp_site_table *table,
                                  uint32_t site, const char *indent, struct rp_buffer *out);

/* Appends the frames as a JSON array of objects, with module and offset, and function, file and
 * line as far as they are known. */
void rp_source_lines_put_frames(struct rp_source_lines *lines, const struct rp_site_table *table,
                                uint32_t site, struct rp_buffer *out);

#endif
