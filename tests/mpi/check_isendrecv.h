/* SPDX-License-Identifier: MIT */
// What MPICH 4.0 does natively about MPI_Isendrecv is not all that MPI asks for: it tells no source
// of a receive from anyone, and no truncation. Under reprise, which makes two calls of it, all of
// that is expected.
#ifndef CHECK_ISENDRECV_H
#define CHECK_ISENDRECV_H

#include "check.h"

static inline int check_is_told(void)
{
    return getenv("REPRISE_MODE") || getenv("REPRISE_DET") || getenv("REPRISE_FT_RANKS");
}

// A received check_value, with its status as far as that is to be relied on.
static inline void check_note_exchanged(long value, int tag, const MPI_Status *status)
{
    check_note(value);
    if (!check_is_told())
        return;
    check_note_message(value, status);
    CHECK(status->MPI_TAG == tag, "tag %d, not %d", status->MPI_TAG, tag);
}

#endif
