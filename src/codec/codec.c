/* SPDX-License-Identifier: MIT */
#include "codec/codec.h"

#include <string.h>

static const struct rp_codec *const codecs[] = {&rp_codec_tables, &rp_codec_mix};

const struct rp_codec *rp_codec_by_id(uint8_t id)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i]->id == id)
            return codecs[i];
    return NULL;
}

const struct rp_codec *rp_codec_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (strcmp(codecs[i]->name, name) == 0)
            return codecs[i];
    return NULL;
}
