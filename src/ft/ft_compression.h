/* SPDX-License-Identifier: MIT */
/* Payloads in the log by zstd (--compress). */
#ifndef RP_FT_COMPRESSION_H
#define RP_FT_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/ft_mpi.h"

/* Reads the setting. */
void rp_ft_compression_start(void);

/* Returns whether the user wants compression. */
bool rp_ft_compresses(void);

/* Compresses a payload of `bytes`. Returns the `compressed` bytes, which are valid until the next
 * call, or NULL if they would not be fewer. */
const void *rp_ft_compress(const void *buffer, int count, MPI_Datatype type, size_t bytes,
                           size_t *compressed);

/* Returns the payload of `bytes` from `length` compressed ones. The caller frees it. */
void *rp_ft_decompress(const void *compressed, size_t length, size_t bytes);

#endif
