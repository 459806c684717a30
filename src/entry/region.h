/* SPDX-License-Identifier: MIT */
/*
 * Commutative regions of plain MPI programs: between reprise_commutative_begin(n) and
 * reprise_commutative_end() (reprise.h), messages that MPI_Recv takes from anyone may arrive in any
 * order: the result does not depend on it. The engine in force gets region_begin and region_end;
 * programs find this library by the symbol `reprise_region_calls`. Programs with several threads
 * that call MPI have no regions: their calls have one order.
 */
#ifndef RP_REGION_H
#define RP_REGION_H

#include "reprise.h"

extern __attribute__((visibility("default")))
const struct reprise_region_calls reprise_region_calls;

#endif
