/* SPDX-License-Identifier: MIT */
/*
 * From an address to a line of source, by debug information. libdw does the work; it is opened when it is first needed, so that recorded programs do not carry
 * it, and where it is not installed nothing is found.
 */
#ifndef RP_LINES_H
#define RP_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/site.h"

struct rp_lines;

struct rp_line {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    int line;
};

/* NULL without libdw or memory: every function here takes that, and finds nothing. */
struct rp_lines *rp_lines_open(void);
void rp_lines_close(struct rp_lines *lines);

/* Where the call returns to; the line is that of the call. False if nothing is known, or if the file is not the one that was recorded. Strings last as long as
 * `lines`. */
bool rp_lines_find(struct rp_lines *lines, const struct rp_module *module, uint64_t offset, struct rp_line *out);

/* The innermost frame of the site that has a line: the program's own call, past the frames of bindings. */
bool rp_lines_of_site(struct rp_lines *lines, const struct rp_site_table *table, uint32_t site, struct rp_line *out);

/* One line a frame, each after `indent`: `program(+0x12ab) function at file:line`, as far as it is known. */
void rp_lines_print_site(struct rp_lines *lines, const struct rp_site_table *table, uint32_t site, const char *indent,
                         struct rp_buffer *out);

/* The same as a JSON array of objects: module and offset, and function, file and line as far as they are known. */
void rp_lines_put_frames(struct rp_lines *lines, const struct rp_site_table *table, uint32_t site, struct rp_buffer *out);

#endif
