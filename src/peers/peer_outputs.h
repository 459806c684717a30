/* SPDX-License-Identifier: MIT */
/* What libreprise-outputs.so offers to libreprise.so, which stands behind it. The engine calls
 * these where a commutative region of the program begins and ends. `return_address` and `stack`
 * say where the program calls. Where libreprise-outputs.so is not preloaded, they are NULL. */
#ifndef RP_PEER_OUTPUTS_H
#define RP_PEER_OUTPUTS_H

#include <stdint.h>

#define RP_OUTPUTS_OFFERED __attribute__((weak, visibility("default")))

RP_OUTPUTS_OFFERED void reprise_outputs_region_begins(uintptr_t return_address, uintptr_t stack);
RP_OUTPUTS_OFFERED void reprise_outputs_region_ends(void);

#endif
