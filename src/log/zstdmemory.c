/* SPDX-License-Identifier: MIT */
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_customMem */
#include "log/zstdmemory.h"

#include <stdlib.h>

static void *have(void *nothing, size_t size)
{
    (void)nothing;
    return malloc(size);
}

static void give(void *nothing, void *memory)
{
    (void)nothing;
    free(memory);
}

static const ZSTD_customMem ours = {have, give, NULL};

ZSTD_CCtx *rp_zstd_compressor(void)
{
    return ZSTD_createCCtx_advanced(ours);
}

ZSTD_DCtx *rp_zstd_decompressor(void)
{
    return ZSTD_createDCtx_advanced(ours);
}
