/* SPDX-License-Identifier: MIT */
/* Long payloads in the log by zstd at its quickest, where memory is scarcer than time (--compress).
 * One that does not get smaller stays as it is. */
#include <stdlib.h>
#include <zstd.h>

#include "job/settings.h"
#include "ft/ft.h"
#include "reprise.h"

bool rp_ft_squeezes;
static ZSTD_CCtx *context;
static void *scratch;
static size_t scratch_room;

void rp_ft_squeeze_start(void)
{
    rp_ft_squeezes = rp_setting("REPRISE_FT_COMPRESS") != NULL;
    if (rp_ft_squeezes && !(context = ZSTD_createCCtx()))
        rp_ft_die(REPRISE_EXIT_INTERNAL, "out of memory");
}

const void *rp_ft_squeeze(const void *buffer, int count, MPI_Datatype type, size_t bytes,
                          size_t *squeezed)
{
    size_t size, room = ZSTD_compressBound(bytes);
    void *packed = NULL;

    if (room > scratch_room) {
        free(scratch);
        scratch = rp_ft_alloc(room);
        scratch_room = room;
    }
    if (!rp_ft_is_plain(type, &size)) {
        packed = rp_ft_alloc(bytes);
        rp_ft_pack(buffer, count, type, packed, bytes);
    }
    *squeezed = ZSTD_compressCCtx(context, scratch, room, packed ? packed : buffer, bytes, 1);
    free(packed);
    return ZSTD_isError(*squeezed) || *squeezed >= bytes ? NULL : scratch;
}

void *rp_ft_unsqueeze(const void *squeezed, size_t length, size_t bytes)
{
    void *whole = rp_ft_alloc(bytes);

    if (ZSTD_decompress(whole, bytes, squeezed, length) != bytes)
        rp_ft_die(REPRISE_EXIT_INTERNAL, "%s: a message of %zu bytes in the log is damaged",
                  rp_ft.call, bytes);
    return whole;
}
