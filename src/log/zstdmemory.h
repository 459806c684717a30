/* SPDX-License-Identifier: MIT */
/* Contexts of zstd whose memory is had and given back by our own libraries, which make it zero
 * (preload/zero_on_free.c). */
#ifndef RP_ZSTDMEMORY_H
#define RP_ZSTDMEMORY_H

#include <zstd.h>

/* NULL without memory. */
ZSTD_CCtx *rp_zstd_compressor(void);
ZSTD_DCtx *rp_zstd_decompressor(void);

#endif
