/* SPDX-License-Identifier: MIT */
/*
 * Writes the access log (log/accesslog.h) of a rank that is fed, if rp_partial.is_traced: all of
 * its accesses to windows. Attribution finds by it which rank wrote what.
 */
#ifndef RP_PARTIAL_ACCESS_TRACE_H
#define RP_PARTIAL_ACCESS_TRACE_H

#include "partial/partial_areas.h"

enum rp_status rp_access_trace_open(const char *path, const char *directory, uint64_t run,
                                    uint32_t rank, struct rp_problem *why);
void rp_access_trace_close(void);
int rp_access_trace_self(uint64_t window); /* returns this rank's number in the window's group */
void rp_access_trace_window(uint64_t window, bool dynamic, MPI_Aint unit, size_t size,
                            const struct rp_function *function);
/* Sets *address to where the recorded rank had the memory that it attached to this window as the
 * `nth`, from 0. Returns false if that is not known. */
bool rp_access_trace_attached(uint64_t window, size_t nth, size_t size, uint64_t *address);
void rp_access_trace_write(const struct rp_function *function, MPI_Win win, int target,
                           MPI_Aint disp, int64_t targetcount, MPI_Datatype targettype,
                           const void *origin, int64_t count, MPI_Datatype type, MPI_Op op);
/* Begins the trace of a read; returns NULL if there is nothing to trace. An atomic operation then
 * gets its operand by one of the two functions below; rp_access_trace_got or rp_access_trace_forget
 * ends the trace. */
struct rp_traced_read *rp_access_trace_read(const struct rp_function *function, MPI_Win win,
                                            int target, MPI_Aint disp, int64_t targetcount,
                                            MPI_Datatype targettype);
void rp_access_trace_operand(struct rp_traced_read *read, const void *origin, int64_t count,
                             MPI_Datatype type, MPI_Op op);
void rp_access_trace_swap(struct rp_traced_read *read, const void *origin, const void *compare);
void rp_access_trace_got(struct rp_traced_read *read, const struct rp_area *area);
void rp_access_trace_forget(struct rp_traced_read *read);
/* Traces that the writes to `target` are complete, or those to all targets if `target` is -1. */
void rp_access_trace_done(const struct rp_function *function, MPI_Win win, int target);
/* Traces the program's own stores since `from` entries were complete: where `now` differs from
 * `before`, which becomes equal to `now`. Returns whether there were any. `member` is the rank
 * whose memory it is, -1 for the rank's own; `origin` is the memory's place in the window. */
bool rp_access_trace_stores(const struct rp_function *function, uint64_t window, int member,
                            uint64_t origin, uint64_t from, const uint8_t *now, uint8_t *before,
                            size_t size);
void rp_access_trace_out(const struct rp_function *function, uint64_t window);
void rp_access_trace_change(const struct rp_function *function, uint64_t window, int member,
                            size_t at, const uint8_t *value, size_t length);
/* Traces that a tracked program loaded what others wrote (`loads`), or stored. `load` is the number
 * of this load, or of the next one after a store; `known` says that the memory belongs to this
 * window alone. */
void rp_access_trace_direct(bool loads, uint64_t window, int member, size_t at,
                            const uint8_t *value, size_t length, uint64_t load, bool known);

#endif
