/* SPDX-License-Identifier: MIT */
/*
 * How often: Daly's estimate of the optimum, from what a checkpoint and an iteration take. All
 * ranks must get the same result, so all exchange what they measured, once. What a rank measured is
 * a determinant: if it recovers it measures the same.
 */
#include "ft/ft_interval.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "ft/ft_abort.h"
#include "ft/ft_checkpoint.h"
#include "ft/ft_collectives.h"
#include "ft/ft_comms.h"
#include "ft/ft_determinants.h"
#include "ft/ft_state.h"
#include "job/settings.h"

static struct {
    double mtbf; /* seconds; 0: the interval is not chosen */
    double since;
    long first; /* iteration */
} loop;

void rp_ft_interval_start(void)
{
    const char *text = rp_setting("REPRISE_FT_MTBF");

    if (text)
        loop.mtbf = strtod(text, NULL);
}

void rp_ft_interval_begin(long iteration)
{
    loop.first = iteration;
    loop.since = rp_ft_now();
}

static double measured_once(double seconds)
{
    int64_t nanoseconds;

    if (!rp_ft_outcome_next(&nanoseconds)) {
        nanoseconds = (int64_t)(seconds * 1e9);
        rp_ft_outcome_put(nanoseconds);
    }
    return (double)nanoseconds * 1e-9;
}

static double square_root(double x)
{
    double root = x > 1 ? x : 1;

    for (int i = 0; i < 100; i++)
        root = (root + x / root) / 2;
    return root;
}

static double daly(double cost, double between_failures)
{
    double ratio = cost / (2 * between_failures);

    if (ratio >= 1)
        return between_failures;
    return square_root(2 * cost * between_failures) * (1 + square_root(ratio) / 3 + ratio / 9) -
           cost;
}

static void choose_interval(long iteration)
{
    double own[2] = {measured_once(rp_ft_checkpointing.seconds),
                     measured_once((rp_ft_now() - loop.since) / (double)(iteration - loop.first))},
           most[2] = {1e-9, 1e-9};
    double(*all)[2] = rp_ft_alloc((size_t)rp_ft.ranks * sizeof *all);

    rp_ft_allgather(rp_ft_comm_world(), own, sizeof own, all);
    for (int i = 0; i < rp_ft.ranks; i++)
        for (int k = 0; k < 2; k++)
            most[k] = all[i][k] > most[k] ? all[i][k] : most[k];
    free(all);
    double best = daly(most[0], loop.mtbf) / most[1];
    rp_ft_checkpointing.interval = best < 1 ? 1 : best > 1e9 ? 1000000000 : (long)best;
    rp_ft_checkpointing.has_chosen = true;
    if (rp_ft.rank == 0)
        rp_note("a checkpoint takes %.3g ms, an iteration %.3g ms: with a failure every %.6g s, a "
                "checkpoint every %ld iterations is best",
                1e3 * most[0], 1e3 * most[1], loop.mtbf, rp_ft_checkpointing.interval);
}

void rp_ft_interval_update(long iteration)
{
    enum { MEASURED = 5 };

    if (loop.mtbf > 0 && !rp_ft_checkpointing.has_chosen && iteration >= loop.first + MEASURED)
        choose_interval(iteration);
}
