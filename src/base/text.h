/* SPDX-License-Identifier: MIT */
/*
 * Escapes foreign text (names of programs, files, functions and hosts, arguments, environment
 * variables, what a file holds) before it is printed on a terminal. Characters that a terminal
 * would interpret or hide become escapes: control characters (\x1b, \x7f, \u009b), bytes that are
 * not UTF-8 (\xff), characters that change the direction of a line or have no width (\u202e,
 * \u200b). All other UTF-8 stays unchanged.
 */
#ifndef RP_TEXT_H
#define RP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

/* Returns the length of the UTF-8 sequence at `at` and sets *code to its character. Returns 0 if no
 * valid sequence ends before `end`. */
int rp_text_decode(const unsigned char *at, const unsigned char *end, uint32_t *code);

/* Returns whether a terminal prints the character and does nothing else. */
bool rp_text_is_shown(uint32_t code);

/* Escapes `length` bytes of `from` into `to`, which has `room` bytes. What does not fit is cut off;
 * a NUL follows. Newlines and tabs stay if `keeps_lines`. Returns the length without the NUL.
 * Allocates no memory. */
size_t rp_text_escape(char *to, size_t room, const char *from, size_t length, bool keeps_lines);

/* Returns `text` as one escaped line, for %s: `text` itself if there is nothing to escape, else a
 * copy that is valid until eight more copies were made. Returns NULL for NULL. */
const char *rp_text_shown(const char *text);

/* Writes text of several lines, escaped. Returns false if not all could be written. */
bool rp_text_print(FILE *out, const void *text, size_t length);

#endif
