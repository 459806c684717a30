/* SPDX-License-Identifier: MIT */
#include "codec/mixer.h"

#include <pthread.h>

int16_t rp_mixer_stretch[4096];
uint16_t rp_mixer_squash[4096];
uint16_t rp_mixer_step[128];

_Static_assert((-1 >> 1) == -1, "negative numbers are shifted with their sign");

/* 65536 / (1 + exp(-x / 170)) at x = -2048, -1984, ..., 2048, at least 1 and at most 65535. Values
 * in between are interpolated. */
static const uint16_t knots[65] = {1,     1,     1,     1,     2,     3,     4,     5,     8,
                                   11,    17,    24,    35,    51,    75,    109,   158,   230,
                                   335,   487,   708,   1026,  1484,  2141,  3073,  4384,  6199,
                                   8659,  11898, 16008, 20983, 26672, 32768, 38864, 44553, 49528,
                                   53638, 56877, 59337, 61152, 62463, 63395, 64052, 64510, 64828,
                                   65049, 65201, 65306, 65378, 65427, 65461, 65485, 65501, 65512,
                                   65519, 65525, 65528, 65531, 65532, 65533, 65534, 65535, 65535,
                                   65535, 65535};

static void make_tables(void)
{
    for (uint32_t x = 0; x < 4096; x++) {
        uint32_t left = knots[x / 64], right = knots[x / 64 + 1], part = x % 64;
        rp_mixer_squash[x] = (uint16_t)((left * (64 - part) + right * part) / 64);
    }
    /* The first x at which squash reaches the middle of the 1/4096. */
    for (uint32_t p = 0, x = 1; p < 4096; p++) {
        while (x < 4095 && rp_mixer_squash[x] < p * 16 + 8)
            x++;
        rp_mixer_stretch[p] = (int16_t)((int32_t)x - 2048);
    }
    for (uint32_t seen = 0; seen <= RP_MIXER_LIMIT; seen++)
        rp_mixer_step[seen] = (uint16_t)(65536 * 5 / (seen * 5 + 7));
}

void rp_mixer_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_tables);
}

void rp_mixer_reset(struct rp_mixer *mixer)
{
    memset(mixer->lines, 0, sizeof mixer->lines);
    for (int set = 0; set < RP_MIXER_SETS; set++)
        for (int i = 0; i < RP_MIXER_LANES; i++)
            mixer->weights[set][i] = RP_MIXER_FIRST_WEIGHT;
}
