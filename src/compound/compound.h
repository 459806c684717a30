/* SPDX-License-Identifier: MIT */
/*
 * What the generated entry points of libreprise-compound.so call. It stands in front of whatever
 * library of ours comes first, and makes some functions of MPI of others, as if the program had
 * called these: so no other library of ours has to know of them.
 */
#ifndef RP_COMPOUND_H
#define RP_COMPOUND_H

#include "compound/dist_graph.h"
#include "compound/pairs.h"
#include "compound/persistent.h"
#include "compound/request_status.h"
#include "compound/shared_files.h"

#define RP_TAIL

#endif
