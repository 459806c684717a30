/* SPDX-License-Identifier: MIT */
/* Contexts of zstd that allocate and free their memory by functions of this tree, which fill freed
 * memory with zeros (preload/zero_on_free.c). */
#ifndef RP_ZSTDMEMORY_H
#define RP_ZSTDMEMORY_H

#include <zstd.h>

/* Both return NULL if there is no memory. */
ZSTD_CCtx *rp_zstd_compressor(void);
ZSTD_DCtx *rp_zstd_decompressor(void);

#endif
