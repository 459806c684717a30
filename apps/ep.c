/* SPDX-License-Identifier: MIT */
/*
 * Embarrassingly parallel: pairs of Gaussian deviates, after the NAS benchmark EP.
 *
 * A linear congruential generator of 46 bits, x = 5^13 x mod 2^46, makes points in a square; those
 * in the unit circle become pairs of Gaussian deviates by the polar method. The pairs are counted
 * by the square annulus in which they lie, and their coordinates summed. Pairs are made in blocks,
 * dealt to the ranks in turn; a block's first random number is found by raising the factor to a
 * power. The only communication is three reductions at the end.
 *
 * Sums and counts must be within six standard deviations of what the distributions say. Seed 1 is
 * NAS's, for which the sums are published for some numbers of pairs.
 */
#include "app.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>

enum { ANNULI = 10 };
enum { OPTION_SIZE, OPTION_WORK };

#define GENERATOR_FACTOR UINT64_C(1220703125) /* 5^13 */
#define GENERATOR_MASK ((UINT64_C(1) << 46) - 1)
#define NAS_SEED UINT64_C(271828183)

static const double pi = 3.14159265358979323846;

static struct app_option options[] = {
    [OPTION_SIZE] = {"size", "blocks of pairs, of all ranks", 512, 1, UINT64_C(1) << 24},
    [OPTION_WORK] = {"work", "pairs in a block", 65536, 1, UINT64_C(1) << 20},
    {0},
};

static const struct app_spec spec = {"ep", "Gaussian pairs; nothing but reductions.", 1, options};

struct tally {
    double sum[2];
    double squares;
    uint64_t annuli[ANNULI];
};

struct published {
    uint64_t pairs;
    double sum[2];
};

static const struct published published[] = {
    {UINT64_C(1) << 24, {-3.247834652034740e3, -6.958407078382297e3}},
    {UINT64_C(1) << 25, {-2.863319731645753e3, -6.320053679109499e3}},
    {UINT64_C(1) << 28, {-4.295875165629892e3, -1.580732573678431e4}},
    {UINT64_C(1) << 30, {4.033815542441498e4, -2.660669192809235e4}},
    {0},
};

static double next_number(uint64_t *state)
{
    *state = *state * GENERATOR_FACTOR & GENERATOR_MASK;
    return (double)*state * 0x1p-46;
}

/* The state from which the generator has made `count` numbers, if it began at `state`. */
static uint64_t jump(uint64_t state, uint64_t count)
{
    for (uint64_t factor = GENERATOR_FACTOR; count; count >>= 1) {
        if (count & 1)
            state = state * factor & GENERATOR_MASK;
        factor = factor * factor & GENERATOR_MASK;
    }
    return state;
}

static void add_pair(struct tally *tally, double x, double y)
{
    double larger = fmax(fabs(x), fabs(y));
    tally->annuli[larger < ANNULI ? (int)larger : ANNULI - 1]++;
    tally->sum[0] += x;
    tally->sum[1] += y;
    tally->squares += x * x + y * y;
}

static void run_block(struct tally *tally, uint64_t state, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        double x = 2 * next_number(&state) - 1;
        double y = 2 * next_number(&state) - 1;
        double square = x * x + y * y;
        if (square > 1 || square == 0)
            continue;
        double scale = sqrt(-2 * log(square) / square);
        add_pair(tally, scale * x, scale * y);
    }
}

static struct tally run_blocks(const struct app *app)
{
    struct tally tally = {0};
    uint64_t start = NAS_SEED + 2 * (app->seed - 1), pairs = options[OPTION_WORK].value;
    for (uint64_t block = (uint64_t)app->rank; block < options[OPTION_SIZE].value;
         block += (uint64_t)app->ranks)
        run_block(&tally, jump(start, 2 * pairs * block), pairs);
    return tally;
}

static struct tally sum_tallies(const struct tally *own)
{
    struct tally all;
    MPI_Allreduce(own->sum, all.sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own->squares, &all.squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(own->annuli, all.annuli, ANNULI, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static uint64_t count_pairs(const struct tally *tally)
{
    uint64_t count = 0;
    for (int i = 0; i < ANNULI; i++)
        count += tally->annuli[i];
    return count;
}

static void verify_near(struct app *app, double value, double expected, double variance,
                        const char *what)
{
    double most = 6 * sqrt(variance) + 1;
    app_verify(app, fabs(value - expected) < most, "%s is %.9g, not within %.3g of %.9g", what,
               value, most, expected);
}

static void verify_distribution(struct app *app, const struct tally *tally)
{
    double tried = (double)(options[OPTION_SIZE].value * options[OPTION_WORK].value);
    double accepted = (double)count_pairs(tally);
    verify_near(app, accepted, pi / 4 * tried, pi / 4 * (1 - pi / 4) * tried,
                "the number of pairs");
    verify_near(app, tally->sum[0], 0, accepted, "the sum of x");
    verify_near(app, tally->sum[1], 0, accepted, "the sum of y");
    verify_near(app, tally->squares, 2 * accepted, 4 * accepted, "the sum of squares");
    for (int i = 0; i < ANNULI; i++) {
        double inside = erf(i / sqrt(2)), share = erf((i + 1) / sqrt(2)); /* of one coordinate */
        share = share * share - inside * inside;
        verify_near(app, (double)tally->annuli[i], share * accepted, share * accepted,
                    "the number in an annulus");
    }
}

static void verify_published(struct app *app, const struct tally *tally)
{
    uint64_t tried = options[OPTION_SIZE].value * options[OPTION_WORK].value;
    for (const struct published *p = published; p->pairs && app->seed == 1; p++)
        for (int i = 0; i < 2 && p->pairs == tried; i++)
            app_verify(app, fabs(tally->sum[i] / p->sum[i] - 1) < 1e-8,
                       "a sum is %.15e, but was published as %.15e", tally->sum[i], p->sum[i]);
}

int main(int argc, char **argv)
{
    struct app app;
    app_start(&app, &spec, &argc, &argv);
    struct tally own = run_blocks(&app), all = sum_tallies(&own);
    if (app.rank == 0) {
        verify_distribution(&app, &all);
        verify_published(&app, &all);
    }
    app_hash_add_double(&app.hash, own.sum[0]);
    app_hash_add_double(&app.hash, own.sum[1]);
    app_hash_add_words(&app.hash, all.annuli, ANNULI);
    return app_result(&app, "pairs=%" PRIu64 " sums=%.12e,%.12e", count_pairs(&all), all.sum[0],
                      all.sum[1]);
}
