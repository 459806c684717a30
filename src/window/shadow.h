/* SPDX-License-Identifier: MIT */
/*
 * Memory that other processes write into at any time (public), apart from the memory that the
 * program works on (own). What the two had in common is kept a third time (shadow): where own
 * differs from it the program has stored, where public differs others have. If own and public are
 * the same memory, it is not known who stored.
 *
 * Aligned words of eight bytes, and of four and two at the ends of a range, are read and written
 * whole, so that neither side ever sees a value that was not stored; and of such a word, only the
 * bytes that changed.
 */
#ifndef RP_SHADOW_H
#define RP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_shadow {
    uint8_t *own, *public,
        *shadow; /* the caller's; public and own at the same distance from a multiple of eight */
    size_t size;
    uint8_t *stored; /* the caller's, zeros in the beginning: for each line of 64 bytes of public
                        memory, whether the program ever stored something else there; or NULL */
};

/* Lines of which a range has at least some bytes, at most. */
size_t rp_shadow_lines(size_t size);

/* What this mirror has of a part of it. */
struct rp_shadow rp_shadow_part(const struct rp_shadow *mirror, size_t at, size_t size);

/* What the program stored in this range becomes public. Fences are the caller's. */
void rp_shadow_out(struct rp_shadow *mirror, size_t at, size_t length);

enum { RP_MIRROR_RUN = 4096 }; /* no run has more bytes */

/*
 * A run of bytes that came in: what own memory has there now. All that changed is in these lanes of
 * its words of eight bytes (window/byte_planes.h). They are less than all only where nobody but
 * others ever stored, so that all that is there came in, and whoever was told of all that did has
 * the rest.
 */
typedef void rp_shadow_came(void *data, size_t at, const uint8_t *bytes, size_t length,
                            unsigned lanes);

/* What others stored in this range comes in. `came` is told of each run. Bytes that few others part
 * are one run. */
void rp_shadow_in(struct rp_shadow *mirror, size_t at, size_t length, rp_shadow_came *came,
                  void *data);

/* For tests: as on processors that have nothing better. */
extern bool rp_shadow_only_words;

#endif
