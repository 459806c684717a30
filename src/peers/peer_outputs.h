/* SPDX-License-Identifier: MIT */
/* What libreprise-outputs.so offers to libreprise.so, which stands behind it: where the program's
 * commutative regions begin and end. Where it is not preloaded, these are NULL. */
#ifndef RP_PEER_OUTPUTS_H
#define RP_PEER_OUTPUTS_H

#include <stdint.h>

#define RP_OUTPUTS_OFFERED __attribute__((weak, visibility("default")))

RP_OUTPUTS_OFFERED void reprise_outputs_region_begins(uintptr_t return_address, uintptr_t stack);
RP_OUTPUTS_OFFERED void reprise_outputs_region_ends(void);

#endif
