/* SPDX-License-Identifier: MIT */
/*
 * What all of libreprise-partial.so knows of the run: whether a rank is recorded or fed, and from
 * which log. A rank is fed in a partial replay, without the others: there, MPI itself is a job of
 * one process.
 *
 * The program's threads take turns (partial_threads.h); calls of others pass.
 */
#ifndef RP_PARTIAL_STATE_H
#define RP_PARTIAL_STATE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"
#include "log/datareader.h"
#include "log/datawriter.h"
#include "preload/constants.h"
#include "preload/real_functions.h"
#include "next.h"

/* > 0: calls of this thread pass: nothing is recorded or fed, it is another thread, or it is inside
 * another call. */
extern RP_HIDDEN __thread int rp_data_off __attribute__((tls_model("initial-exec")));
#define RP_PASSES                                                                                  \
    (__builtin_expect(rp_data_off != 0 || rp_partial.has_threads, 0) && rp_threads_passes())
/* Where rp_data_off is set, or several threads call: whether it passes. A thread of the program is
 * taken in by its first call (partial_threads.h). */
bool rp_threads_passes(void);

/* An MPI function, as the log knows it. */
struct rp_function {
    uint32_t number;
    const char *name;
};
enum {
    RP_VALUE_NUMBER = 1000,
    RP_FREED_NUMBER,
    RP_WINDOW_NUMBER,
    RP_GOT_NUMBER,
    RP_SYMMETRIC_NUMBER,
    RP_FOUND_NUMBER,
    RP_ARRIVED_NUMBER,
    RP_THREAD_NUMBER,
    RP_THREADS_NUMBER,
    RP_HANDLER_NUMBER,
    RP_LEFT_NUMBER
};

/* Predefined handles that constants.h does not have. */
struct rp_data_handles {
    MPI_Op no_op, replace;
    MPI_Group group_null, group_empty;
    MPI_File file_null;
};

struct rp_area;
struct rp_early;
struct rp_traced_read;

/* What parts of this room do at calls of parts below them. partial_life.c sets it before anything
 * is recorded or fed. */
struct rp_partial_hooks {
    /* Recording: the entry of a call is about to begin. What happened meanwhile gets entries of its
     * own in front of it. */
    void (*before_entry)(void);
    /* Recording: MPI returned these bytes, which are about to be written into an entry. Returns the
     * bytes to write, valid until the next call. */
    const void *(*taken)(const void *bytes, size_t size);
    /* Recording: a message was unpacked into such memory. `packed` is its content. */
    void (*unpacked)(const struct rp_area *area, int64_t count, const uint8_t *packed,
                     size_t length);
    /* Feeding: returns what reads an entry of this name, which is that of no MPI function, or
     * NULL. */
    void (*(*reader_of)(const char *name))(void);
    /* Feeding: the entry of the call is there. */
    void (*entry_found)(void);
    /* A traced read got its result; it will get none any more. */
    void (*read_filled)(struct rp_traced_read *read, const struct rp_area *area);
    void (*read_dropped)(struct rp_traced_read *read);
    /* The result of this operation is looked for no more (NULL: it never was). */
    void (*early_dropped)(struct rp_early *early);
    /* Recording: the program's stores into all windows become public. */
    void (*stores_out)(void);
    /* Feeding, traced: whether these bytes are other than is known of them; a tracked program
     * loaded or stored them. */
    bool (*differs)(const void *at, size_t size);
    void (*accessed)(bool loads, const void *at, const void *value, size_t size, uint64_t load);
    /* The process is about to end. */
    void (*job_ends)(void);
};

struct rp_partial {
    bool is_feeding;
    bool times_captured; /* the engine captures time, of MPI_Wtime too */
    bool has_threads;    /* several threads call (partial_threads.h) */
    bool is_traced;      /* feeding: accesses to windows are traced (partial_access_trace.h) */
    struct rp_data_writer *writer; /* recording */
    struct rp_data_reader *reader; /* feeding */
    struct rp_data_handles handle;
    uintptr_t caller, caller_stack; /* feeding: where the program called */
    const struct rp_partial_hooks *hooks;
};
extern RP_HIDDEN struct rp_partial rp_partial;

/* Notes where the program called. */
#define RP_HERE()                                                                                  \
    (rp_partial.caller = (uintptr_t)__builtin_return_address(0),                                   \
     rp_partial.caller_stack = (uintptr_t)__builtin_frame_address(0))

/* A check of the numbers that a call has, one after the other; the first has check 0. */
static inline uint32_t rp_check(uint32_t check, int64_t value)
{
    return (check ^ (uint32_t)value ^ (uint32_t)(value >> 32)) * 0x9e3779b1u + 1;
}

/* A rank that calls this function cannot be fed: says so, and ends the job with status 123. */
void rp_data_refuse(const char *function) __attribute__((noreturn));

/* Ends the job, or if it is fed the process, with this status. */
void rp_data_end_job(int exit_status) __attribute__((noreturn));

#endif
