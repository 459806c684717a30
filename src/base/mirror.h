/* SPDX-License-Identifier: MIT */
/*
 * Memory that other processes write into at any time (public), apart from the memory that the program works on (own). What the two had in common is kept a third time (shadow): where own differs from it the program has stored,
 * where public differs others have. If own and public are the same memory, it is not known who stored.
 *
 * Aligned words of eight bytes, and of four and two at the ends of a range, are read and written whole, so that neither side ever sees a value that was not stored; and of such a word, only the bytes that changed.
 */
#ifndef RP_MIRROR_H
#define RP_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_mirror {
    uint8_t *own, *public, *shadow; /* the caller's; public and own at the same distance from a multiple of eight */
    size_t size;
};

/* What the program stored in this range becomes public. Fences are the caller's. */
void rp_mirror_out(struct rp_mirror *mirror, size_t at, size_t length);

/* What others stored in this range comes in. `came` is told of each run of bytes: what own memory has there now. Bytes that few others part are one run. */
void rp_mirror_in(struct rp_mirror *mirror, size_t at, size_t length, void (*came)(void *data, size_t at, const uint8_t *bytes, size_t length), void *data);

/* For tests: as on processors that have nothing better. */
extern bool rp_mirror_only_words;

#endif
