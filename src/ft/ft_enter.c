/* SPDX-License-Identifier: MIT */
/* What there may be to do at the entry of an MPI function. */
#include "ft/ft_enter.h"

#include "ft/ft_events.h"
#include "ft/ft_inject.h"

void rp_ft_do_work(void)
{
    rp_ft_event_went_on();
    rp_ft.has_work = rp_ft_inject_call();
}
