/* SPDX-License-Identifier: MIT */
/*
 * Progress. Real MPI calls only note that something broke. Recovery starts here, outside of
 * coroutines. A call that waits (RP_FT_WAIT_UNTIL) recovers here and goes on waiting, unless all
 * ranks go back to a checkpoint. So no iteration is aborted and none is committed: iterations are
 * no transactions.
 */
#include "ft/ft_progress.h"

#include "ft/ft_coroutines.h"
#include "ft/ft_match.h"
#include "ft/ft_state.h"
#include "ft/ft_transmit.h"
#include "ft/ft_transport.h"

static struct {
    void (*recover)(void);
} progress;

void rp_ft_progress_start(void (*recover)(void))
{
    progress.recover = recover;
}

void rp_ft_progress(void)
{
    rp_ft_transport_progress();
    rp_ft_transmit_progress();
    rp_ft_payloads_progress();
    rp_ft_coroutines_step();
    if (rp_ft.broken)
        progress.recover();
}

void rp_ft_pause(void)
{
    if (rp_ft_coroutine_number() > 0)
        rp_ft_coroutine_yield();
    else
        rp_ft_progress();
}
