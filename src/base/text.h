/* SPDX-License-Identifier: MIT */
/*
 * Text that is not ours, on its way to a terminal: names of programs, files, functions, hosts and
 * communicators, arguments, variables, whatever a record says. What a terminal would obey or hide
 * is written as an escape: control characters (\x1b, \x7f, \u009b), bytes that are not UTF-8
 * (\xff), characters that change the direction of a line or have no width (\u202e, \u200b). All
 * other UTF-8 stays as it is.
 */
#ifndef RP_TEXT_H
#define RP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

/* The length of the UTF-8 sequence at `at`, whose character is in `code`; 0: there is none before
 * `end`. */
int rp_text_decode(const unsigned char *at, const unsigned char *end, uint32_t *code);

/* Whether a terminal shows the character, and does nothing else. */
bool rp_text_is_shown(uint32_t code);

/* Escapes into `to`, cut off before what has no room, with a NUL behind. Newlines and tabs stay if
 * `keeps_lines`. Returns the length. Needs no memory. */
size_t rp_text_escape(char *to, size_t room, const char *from, size_t length, bool keeps_lines);

/* One line of it, for %s: the text itself if there is nothing to escape, else a copy that stays
 * until eight more were made. NULL stays NULL. */
const char *rp_text_shown(const char *text);

/* Writes text of many lines, of which parts may not be ours. False: not all could be written. */
bool rp_text_print(FILE *out, const void *text, size_t length);

#endif
