/* SPDX-License-Identifier: MIT */
/* Areas: the receive buffers of one call, into which it puts what it receives. */
#ifndef RP_PARTIAL_AREAS_H
#define RP_PARTIAL_AREAS_H

#include "partial/partial_state.h"

struct rp_area {
    char *buf;
    int64_t count;
    MPI_Datatype type; /* of those that are not dense */
    size_t size;       /* of an element */
    bool dense;        /* an element is so many bytes without holes */
    bool in_device;    /* it has memory of a GPU */
    bool owned;        /* the type is ours to free */
};

struct rp_areas {
    size_t count;
    bool sized; /* the status says how much was received */
    struct rp_area *area, one;
    struct rp_traced_read *read;        /* the trace of this one-sided read, or NULL */
    struct rp_early *early;             /* the watch for an early result, or NULL */
    const struct rp_function *begun_by; /* the call that began this one-sided read */
};

void rp_areas_one(struct rp_areas *areas, uint64_t members, void *buf, int64_t count,
                  MPI_Datatype type);
void rp_areas_times(struct rp_areas *areas, uint64_t members, void *buf, int64_t count,
                    MPI_Datatype type);
/* One for each part of a buffer, of `count` elements each; and a part of these, valid as long as
 * they are. */
void rp_areas_parts(struct rp_areas *areas, uint64_t members, void *buf, int parts, int64_t count,
                    MPI_Datatype type);
struct rp_areas rp_areas_part(const struct rp_areas *areas, int part);
/* One for each member. Displacements in elements, or of `w` in bytes; `wide`: counts and
 * displacements have the sizes of MPI_Count and MPI_Aint. */
void rp_areas_v(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                const void *displs, MPI_Datatype type, size_t count_size, size_t displ_size);
void rp_areas_w(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                const void *displs, const MPI_Datatype *types, size_t count_size,
                size_t displ_size);
/* One area of as many elements as this rank's element of `counts` says; `members` is the rank
 * + 1. */
void rp_areas_mine(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                   MPI_Datatype type, size_t count_size);
/* Makes the areas fit to outlive the call: they get duplicates of their datatypes. */
void rp_areas_keep(struct rp_areas *areas);
void rp_areas_free(struct rp_areas *areas);

/* rp_areas_put writes the content of the areas into the entry; `bytes` is how much was received, -1
 * for all. rp_areas_fill reads the content from the entry into the areas. */
void rp_areas_put(const struct rp_areas *areas, int64_t bytes);
void rp_areas_fill(const struct rp_areas *areas);

/* The whole content of the areas, packed: rp_areas_length returns its length; the other two copy it
 * from the areas into `bytes` and back. */
size_t rp_areas_length(const struct rp_areas *areas);
/* Returns whether any of them has device memory. */
bool rp_areas_in_device(const struct rp_areas *areas);
void rp_areas_copy_out(const struct rp_areas *areas, uint8_t *bytes);
void rp_areas_copy_in(const struct rp_areas *areas, const uint8_t *bytes);

/* Returns the length of the message that *status describes; -1 if it is unknown. */
int64_t rp_data_received(const MPI_Status *status);

#endif
