/* SPDX-License-Identifier: MIT */
/* What libreprise.so asks for of threads (peers/peer_partial.h): when several may call MPI from now
 * on, and their turns. */
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial.h"
#include "peers/peer_partial.h"
#include "reprise.h"

static __attribute__((noreturn)) void refuse(const char *why)
{
    rp_error("several threads that may all call MPI: %s", why);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}

static const struct rp_function begins = {RP_THREADS_NUMBER, "pthread_create"};

static void put_begin(void)
{
    if (rp_partial.is_feeding) {
        rp_partial_feed_begin(&begins, false, 0);
        rp_partial_feed_end();
    } else {
        rp_partial_record_begin(&begins, false, 0, 0);
        rp_partial_record_end();
    }
}

void reprise_partial_threads(void)
{
    struct rp_problem why;

    if (rp_tracked())
        refuse("the loads of a tracked program are known by their number, which has no order "
               "among threads, so this rank cannot be replayed alone");
    if (rp_windows.symmetric)
        refuse("a rank of OpenSHMEM that has them cannot be replayed alone yet");
    if (rp_partial.is_traced)
        refuse("who wrote what cannot be told yet ('reprise solo' without --who replays the rank)");
    put_begin();
    rp_early_end();
    enum rp_status status = rp_threads_begin(&why);
    if (status != RP_OK) {
        rp_error("%s", why.text);
        rp_data_end_job(rp_exit_status(status));
    }
}

/* Turns */

static __thread bool is_in_turn; /* feeding: a turn or a value has begun, and not ended */

static bool is_followed(void)
{
    return rp_partial.has_threads && !rp_threads_passes();
}

void reprise_partial_turn_begin(const char *function)
{
    if (strncmp(function, "MPI_", 4) == 0) {
        reprise_partial_await(function);
        return;
    }
    if (!is_followed())
        return;
    if (rp_partial.is_feeding)
        is_in_turn = rp_partial_feed_turn(function);
    else
        rp_threads_put_lock(function);
}

void reprise_partial_turn_end(void)
{
    if (is_in_turn)
        rp_threads_advance();
    is_in_turn = false;
}

void reprise_partial_value_taken(void)
{
    if (is_followed() && rp_partial.is_feeding)
        rp_threads_advance();
}

void reprise_partial_await(const char *function)
{
    if (is_followed() && rp_partial.is_feeding)
        rp_threads_await(function);
}

int reprise_partial_poll(const char *function)
{
    return !is_followed() || !rp_partial.is_feeding || rp_threads_poll(function);
}

void reprise_partial_waits(int begins)
{
    rp_threads_waits(begins);
}

void reprise_partial_end(void)
{
    if (is_followed() && rp_partial.is_feeding)
        rp_threads_let_end();
}

void reprise_partial_asks(int begins)
{
    rp_threads_asks(begins);
}
