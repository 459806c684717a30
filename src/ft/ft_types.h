/* SPDX-License-Identifier: MIT */
/* Payloads as datatypes describe them, and statuses. What MPI cannot do ends the job. */
#ifndef RP_FT_TYPES_H
#define RP_FT_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "ft/ft_mpi.h"

enum { RP_FT_ALIGN = 16 };

/* Returns whether elements of `type` lie in memory as they travel, one behind the other. Then
 * `size` is that of one. */
bool rp_ft_is_plain(MPI_Datatype type, size_t *size);

/* Returns the bytes of a payload of `count` elements. */
size_t rp_ft_size(int count, MPI_Datatype type);

/* Packs `count` elements of `buffer` into `out`; `bytes` is rp_ft_size of them. */
void rp_ft_pack(const void *buffer, int count, MPI_Datatype type, void *out, size_t bytes);

/* Unpacks a payload of `bytes` into at most `count` elements of `buffer`. Returns MPI_SUCCESS, or
 * MPI_ERR_TRUNCATE if the payload is longer; then its beginning is there. */
int rp_ft_unpack(const void *in, size_t bytes, void *buffer, int count, MPI_Datatype type);

/* Returns a datatype that stays when the program frees `type`: itself, or a copy. If `owns` is set,
 * it is a copy that the caller frees. */
MPI_Datatype rp_ft_type_keep(MPI_Datatype type, bool *owns);

/* Returns where in `buffer` the element of this number is. */
void *rp_ft_offset(const void *buffer, long elements, MPI_Datatype type);

/* Returns a buffer for `count` elements; rp_ft_temporary_free frees it, and takes NULL, too. */
void *rp_ft_temporary(int count, MPI_Datatype type);
void rp_ft_temporary_free(void *buffer, MPI_Datatype type);

/* Copies elements from one buffer into another, as a message would. */
void rp_ft_copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                MPI_Datatype to_type);

/* Fills in a status of a message of `bytes`, or the empty status of MPI. `status` may be
 * MPI_STATUS_IGNORE. */
void rp_ft_status_set(MPI_Status *status, int source, int tag, int error, size_t bytes);
void rp_ft_status_empty(MPI_Status *status);

#endif
