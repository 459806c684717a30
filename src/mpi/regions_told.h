/* SPDX-License-Identifier: MIT */
/* What libreprise-given.so offers to libreprise.so, which stands behind it: where the program's
 * commutative regions begin and end. Where it is not preloaded, these are NULL. */
#ifndef RP_REGIONS_TOLD_H
#define RP_REGIONS_TOLD_H

#include <stdint.h>

#define RP_GIVEN_OFFERED __attribute__((weak, visibility("default")))

RP_GIVEN_OFFERED void reprise_given_region_begins(uintptr_t return_address, uintptr_t stack);
RP_GIVEN_OFFERED void reprise_given_region_ends(void);

#endif
