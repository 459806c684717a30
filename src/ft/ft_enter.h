/* SPDX-License-Identifier: MIT */
/* The entry of every MPI function of the program. */
#ifndef RP_FT_ENTER_H
#define RP_FT_ENTER_H

#include "ft/ft_state.h"

/* Writes the event that the program goes on, and injects faults. */
void rp_ft_do_work(void);

/* The program calls the MPI function of this name. */
static inline void rp_ft_enter(const char *name)
{
    rp_ft.call = name;
    rp_ft.calls++;
    if (__builtin_expect(rp_ft.has_work, 0))
        rp_ft_do_work();
}

#endif
