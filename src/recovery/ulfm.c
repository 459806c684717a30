/* SPDX-License-Identifier: MIT */
#include "recovery/ulfm.h"

#include <string.h>

struct rp_ulfm rp_ulfm;

bool rp_ulfm_find(void *(*symbol)(const char *name))
{
    static const char *const names[] = {"PMPIX_Comm_revoke", "PMPIX_Comm_shrink",
                                        "PMPIX_Comm_agree", "PMPIX_Comm_get_failed"};
    void *found[sizeof names / sizeof *names];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(found[i] = symbol(names[i])))
            return false;
    _Static_assert(sizeof found == sizeof rp_ulfm, "a name for each function");
    memcpy(&rp_ulfm, found, sizeof found);
    return true;
}
