/* SPDX-License-Identifier: MIT */
/* Long payloads in the log by zstd at its quickest, where memory is scarcer than time (--compress).
 * One that does not get smaller stays as it is. */
#include "ft/ft_compression.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/device_memory.h"
#include "ft/ft_abort.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"
#include "job/settings.h"
#include "reprise.h"

static struct {
    ZSTD_CCtx *context; /* NULL: no compression */
    void *scratch;
    size_t room;
} compression;

void rp_ft_compression_start(void)
{
    if (!rp_setting("REPRISE_FT_COMPRESS"))
        return;
    compression.context = ZSTD_createCCtx();
    if (!compression.context)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "out of memory");
}

bool rp_ft_compresses(void)
{
    return compression.context != NULL;
}

const void *rp_ft_compress(const void *buffer, int count, MPI_Datatype type, size_t bytes,
                           size_t *compressed)
{
    size_t size, room = ZSTD_compressBound(bytes);
    void *packed = NULL;

    if (room > compression.room) {
        free(compression.scratch);
        compression.scratch = rp_ft_alloc(room);
        compression.room = room;
    }
    if (!rp_ft_is_plain(type, &size) || rp_is_device(buffer)) {
        packed = rp_ft_alloc(bytes);
        rp_ft_pack(buffer, count, type, packed, bytes);
    }
    *compressed = ZSTD_compressCCtx(compression.context, compression.scratch, room,
                                    packed ? packed : buffer, bytes, 1);
    free(packed);
    return ZSTD_isError(*compressed) || *compressed >= bytes ? NULL : compression.scratch;
}

void *rp_ft_decompress(const void *compressed, size_t length, size_t bytes)
{
    void *whole = rp_ft_alloc(bytes);

    if (ZSTD_decompress(whole, bytes, compressed, length) != bytes)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "%s: a message of %zu bytes in the log is damaged",
                  rp_ft.call, bytes);
    return whole;
}
