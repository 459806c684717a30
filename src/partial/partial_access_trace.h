/* SPDX-License-Identifier: MIT */
/*
 * Who wrote what: a rank that is fed tells of its accesses to windows, if that is asked for
 * (rp_partial.is_traced).
 */
#ifndef RP_PARTIAL_ACCESS_TRACE_H
#define RP_PARTIAL_ACCESS_TRACE_H

#include "partial/partial_areas.h"

enum rp_status rp_access_trace_open(const char *path, const char *directory, uint64_t run,
                                    uint32_t rank, struct rp_problem *why);
void rp_access_trace_close(void);
int rp_access_trace_self(uint64_t window); /* this rank in it */
void rp_access_trace_window(uint64_t window, bool dynamic, int unit, size_t size,
                            const struct rp_function *function);
/* Where the rank had the memory that it attached to this window as the `nth`, from 0; false: that
 * is not known. */
bool rp_access_trace_attached(uint64_t window, size_t nth, size_t size, uint64_t *address);
void rp_access_trace_write(const struct rp_function *function, MPI_Win win, int target,
                           MPI_Aint disp, int64_t targetcount, MPI_Datatype targettype,
                           const void *origin, int64_t count, MPI_Datatype type, MPI_Op op);
/* A read is begun; NULL: there is nothing to tell of it. An atomic operation has an operand. */
struct rp_traced_read *rp_access_trace_read(const struct rp_function *function, MPI_Win win,
                                            int target, MPI_Aint disp, int64_t targetcount,
                                            MPI_Datatype targettype);
void rp_access_trace_operand(struct rp_traced_read *read, const void *origin, int64_t count,
                             MPI_Datatype type, MPI_Op op);
void rp_access_trace_swap(struct rp_traced_read *read, const void *origin, const void *compare);
void rp_access_trace_got(struct rp_traced_read *read, const struct rp_area *area);
void rp_access_trace_forget(struct rp_traced_read *read);
/* Writes to this target, or if that is -1 to all, are complete. */
void rp_access_trace_done(const struct rp_function *function, MPI_Win win, int target);
/* What the program stored since `from` entries were complete, whether there was any: `before`
 * becomes as `now` is. `member`: whose memory it is; -1: the rank's own. `origin`: its place in the
 * window. */
bool rp_access_trace_stores(const struct rp_function *function, uint64_t window, int member,
                            uint64_t origin, uint64_t from, const uint8_t *now, uint8_t *before,
                            size_t size);
void rp_access_trace_out(const struct rp_function *function, uint64_t window);
void rp_access_trace_change(const struct rp_function *function, uint64_t window, int member,
                            size_t at, const uint8_t *value, size_t length);
/* A tracked program loaded what others wrote, or stored. `load`: the number of the load, or of the
 * next; `known`: it is of this window alone. */
void rp_access_trace_direct(bool loads, uint64_t window, int member, size_t at,
                            const uint8_t *value, size_t length, uint64_t load, bool known);

#endif
