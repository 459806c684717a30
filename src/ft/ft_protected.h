/* SPDX-License-Identifier: MIT */
/* What the program protects (reprise_protect): the state that a checkpoint holds. */
#ifndef RP_FT_PROTECTED_H
#define RP_FT_PROTECTED_H

#include <stddef.h>
#include <stdint.h>

struct reprise_state;
struct rp_buffer;

/* reprise_protect, reprise_protect_state and reprise_unprotect (reprise.h). */
void rp_ft_protect(int id, void *memory, size_t bytes, const struct reprise_state *state);
void rp_ft_unprotect(int id);

/* Appends the protected state. Returns how many parts it has. */
uint32_t rp_ft_protected_put(struct rp_buffer *out);

/* Restores `count` parts. Ends the job if the program protects others now. */
void rp_ft_protected_restore(const uint8_t *from, uint32_t count);

/* Compares the state with what was put. Ends the job, as diverged, if iterations before this one
 * changed it otherwise. */
void rp_ft_protected_compare(const uint8_t *before, long iteration);

#endif
