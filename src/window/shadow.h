/* SPDX-License-Identifier: MIT */
/*
 * Window memory exists three times. Other processes write into `public` at any time; the program
 * works on `own`; `shadow` is what the two last had in common. Where own differs from shadow, the
 * program has stored; where public differs, others have. If own and public are the same memory, it
 * is not known who stored.
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

/* Returns the most lines of 64 bytes that a range of `size` bytes can touch. */
size_t rp_shadow_lines(size_t size);

/* Returns the part of `mirror` that has `size` bytes from byte `at` on. It uses the same memory. */
struct rp_shadow rp_shadow_part(const struct rp_shadow *mirror, size_t at, size_t size);

/* Makes public what the program stored in this range. The caller issues the fences. */
void rp_shadow_out(struct rp_shadow *mirror, size_t at, size_t length);

enum { RP_MIRROR_RUN = 4096 }; /* no run has more bytes */

/*
 * The type of the callback for a run of bytes that came in: `bytes` is what own memory has at `at`
 * now. Everything that changed is in `lanes` of its words of eight bytes (window/byte_planes.h).
 * `lanes` has fewer than all lanes only where the program never stored. There, all bytes came in by
 * such runs, so the bytes of the other lanes are known from earlier runs.
 */
typedef void rp_shadow_changed(void *data, size_t at, const uint8_t *bytes, size_t length,
                               unsigned lanes);

/* Copies into own memory what others stored in this range. Calls changed(data, ...) for each run.
 * Runs that only a few unchanged bytes separate are one run. */
void rp_shadow_in(struct rp_shadow *mirror, size_t at, size_t length, rp_shadow_changed *changed,
                  void *data);

/* For tests: as on processors that have nothing better. */
extern bool rp_shadow_only_words;

#endif
