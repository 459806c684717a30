/* SPDX-License-Identifier: MIT */
/* Codec mix once more, which tells what the bits of each field cost. Its own time means nothing. */
#include <math.h>

extern double codec_field_bits[32];

#define RP_MIXER_TELL(set, probability, bit, reading)                                              \
    do {                                                                                           \
        if (!(reading))                                                                            \
            codec_field_bits[(set) / 256] -=                                                       \
                log2(((bit) ? (probability) : 65536 - (probability)) / 65536.0);                   \
    } while (0)
#define rp_codec_mix codec_mix_that_tells

#include "codec/mix.c"
