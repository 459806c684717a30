/* SPDX-License-Identifier: MIT */
/*
 * Inside libreprise-partial.so. Each MPI function that tells a rank something from outside has two
 * forms, most of them generated (api/partial.py): one that makes the call and writes down what it
 * gave, and one that gives it again from the log ("alone").
 *
 * Alone, MPI itself is a job of one process. Datatypes, operations, info objects, error handlers
 * and attributes are its own. Communicators and groups are real handles too, of one member, whose
 * questions are answered from the log; requests are generalised ones; messages are empty ones from
 * the process to itself. So all handles can be converted, compared and freed.
 *
 * Everything here is for one thread; calls of others pass.
 */
#ifndef RP_PARTIAL_H
#define RP_PARTIAL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"
#include "window/shadow.h"
#include "log/datareader.h"
#include "log/datawriter.h"
#include "preload/completion_call.h"
#include "preload/constants.h"
#include "preload/real_functions.h"
#include "next.h"

#define RP_ENTRY __attribute__((visibility("default")))

/* > 0: calls of this thread pass: nothing is recorded or replayed, another thread, or inside
 * another call. */
extern RP_HIDDEN __thread int rp_data_off __attribute__((tls_model("initial-exec")));
#define RP_PASSES __builtin_expect(rp_data_off != 0, 0)

extern RP_HIDDEN bool rp_partial_is_feeding;
extern RP_HIDDEN struct rp_data_writer *rp_data_writer;
extern RP_HIDDEN struct rp_data_reader *rp_data_reader;

/* The engine captures time, of MPI_Wtime too. */
extern RP_HIDDEN bool rp_data_times_captured;

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
    RP_ARRIVED_NUMBER
};

/* Predefined handles that constants.h does not have. */
struct rp_data_handles {
    MPI_Op no_op, replace;
    MPI_Group group_null, group_empty;
    MPI_File file_null;
    const int *unweighted; /* MPI_UNWEIGHTED, which MPICH has as a variable */
};
extern RP_HIDDEN struct rp_data_handles rp_handle;

/* --- areas: where a call puts what it receives --- */

struct rp_area {
    char *buf;
    int64_t count;
    MPI_Datatype type; /* of those that are not dense */
    size_t size;       /* of an element */
    bool dense;        /* an element is so many bytes without holes */
    bool owned;        /* the type is ours to free */
};

struct rp_areas {
    size_t count;
    bool sized; /* the status tells how much of it was received */
    struct rp_area *area, one;
    struct rp_read *read;               /* of a read that is told of; or NULL */
    struct rp_early *early;             /* how it is looked at while it is under way; or NULL */
    const struct rp_function *begun_by; /* of a one-sided read */
};

void rp_areas_one(struct rp_areas *areas, uint64_t members, void *buf, int64_t count,
                  MPI_Datatype type);
void rp_areas_times(struct rp_areas *areas, uint64_t members, void *buf, int64_t count,
                    MPI_Datatype type);
/* One for each member. Displacements in elements, or of `w` in bytes; `wide`: counts and
 * displacements have the sizes of MPI_Count and MPI_Aint. */
void rp_areas_v(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                const void *displs, MPI_Datatype type, size_t count_size, size_t displ_size);
void rp_areas_w(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                const void *displs, const MPI_Datatype *types, size_t count_size,
                size_t displ_size);
/* The element of `counts` that is this rank's: members is its rank + 1. */
void rp_areas_mine(struct rp_areas *areas, uint64_t members, void *buf, const void *counts,
                   MPI_Datatype type, size_t count_size);
/* May outlive the call: types are kept. */
void rp_areas_keep(struct rp_areas *areas);
void rp_areas_free(struct rp_areas *areas);

/* `bytes`: how much was received; -1: all. */
void rp_areas_put(const struct rp_areas *areas, int64_t bytes);
void rp_areas_fill(const struct rp_areas *areas);

/* All that they have room for, packed: its length, the bytes. */
size_t rp_areas_length(const struct rp_areas *areas);
void rp_areas_copy_out(const struct rp_areas *areas, uint8_t *bytes);
void rp_areas_copy_in(const struct rp_areas *areas, const uint8_t *bytes);

/* What a status says of the length of a message; -1: unknown. */
int64_t rp_data_received(const MPI_Status *status);

/* --- loads from window memory by a program that reprise-cc --track compiled (window/tracking.h)
 * --- */

enum rp_status rp_track_record(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why);
enum rp_status rp_track_follow(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why);
void rp_track_check_end(void);
uint64_t rp_track_close(void);  /* bytes written */
bool rp_tracked(void);          /* the program was compiled so, and if it is alone, recorded so */
bool rp_tracked_in_place(void); /* and others store into the memory that it works on */
extern RP_HIDDEN bool rp_track_parted; /* they do not: it calls before its accesses */

/* Memory becomes part of a window, and is so no longer. Recording, its shadow: what is in it now if
 * that is the program's own (`is_known`), else zeros. */
uint8_t *rp_track_add(void *memory, size_t size, bool is_known);
void rp_track_remove(const void *memory, size_t size);
/* Recording: the same of parted memory, if the program calls. The shadow and public memory are the
 * caller's. */
void rp_track_part(const struct rp_shadow *memory);
/* The program's last store is public from here on. */
void rp_track_settle_now(void);
static inline void rp_track_settle(void)
{
    if (rp_track_parted)
        rp_track_settle_now();
}

/* Recording: what is there now, which MPI gave, is written down by an entry; the bytes to be
 * written, valid until the next call. */
const void *rp_track_taken(const void *bytes, size_t size);
bool rp_track_touches(const void *at, size_t size);
/* How far the shadow is; false: this is not all in one window's memory. */
bool rp_track_to_shadow(const void *at, size_t size, ptrdiff_t *distance);

/* --- who takes part; recording only --- */

uint64_t rp_members_all(MPI_Comm comm);               /* of the group that data comes from */
uint64_t rp_members_root(MPI_Comm comm, int root);    /* the same at the root, else 0 */
uint64_t rp_members_at_root(MPI_Comm comm, int root); /* 1 at the root */
uint64_t rp_members_leaf(MPI_Comm comm, int root);    /* 1 where a broadcast is received */
uint64_t rp_members_scatter(MPI_Comm comm, int root, const void *buf);
uint64_t rp_members_mine(MPI_Comm comm); /* rank + 1 */
uint64_t rp_members_near(MPI_Comm comm); /* neighbours that data comes from */
uint64_t
rp_members_weighted(MPI_Comm comm,
                    const int *weights); /* 1: the graph has weights, and the program wants them */

/* --- recording --- */

static inline uint32_t rp_check(uint32_t check, int64_t value)
{
    return (check ^ (uint32_t)value ^ (uint32_t)(value >> 32)) * 0x9e3779b1u + 1;
}

/* Begins the entry of a call that returned rc. `checked` is put only if `has_check`. */
void rp_partial_record_begin(const struct rp_function *function, bool has_check, uint32_t check,
                             int rc);
static inline void rp_partial_record_bytes(const void *bytes, size_t count)
{
    rp_data_put(rp_data_writer, rp_track_taken(bytes, count), count);
}
static inline void rp_partial_record_number(uint64_t number)
{
    rp_data_put_number(rp_data_writer, number);
}
void rp_partial_record_array(const void *bytes, size_t count);
/* An update of a window failed. One that does not has no entry; nothing may stand between this one
 * and that of the call before. */
void rp_partial_record_failed(const struct rp_function *function, int rc);
static inline void rp_partial_record_end(void)
{
    rp_data_end(rp_data_writer);
}

/* --- alone --- */

/* Takes the next entry, which must be that of this call; returns what the call returned. Does not
 * return if the record ends here, is damaged, or says otherwise. */
int rp_partial_feed_begin(const struct rp_function *function, bool has_check, uint32_t check);
/* What an update of a window returned. */
int rp_partial_feed_update(const struct rp_function *function);
void rp_partial_feed_bytes(void *bytes, size_t count);
uint64_t rp_partial_feed_number(void);
void rp_partial_feed_array(void *bytes);
/* The entry was read: does not return if it could not be. */
void rp_partial_feed_end(void);
/* The record ends here. */
void rp_partial_feed_stop(const char *where) __attribute__((noreturn));
/* Calls the error handler. */
extern RP_HIDDEN int rp_partial_feed_in_handler;
void rp_partial_feed_refuse_in_handler(const struct rp_function *function)
    __attribute__((noreturn));
void rp_partial_feed_error_comm(MPI_Comm comm, int rc);
void rp_partial_feed_error_win(MPI_Win win, int rc);
void rp_partial_feed_error_file(MPI_File file, int rc);

void rp_data_refuse(const char *function) __attribute__((noreturn));
void rp_data_end_job(int exit_status) __attribute__((noreturn));

/* --- handles that a call makes --- */

enum { RP_HANDLE_NULL, RP_HANDLE_NEW, RP_HANDLE_EMPTY };
void rp_partial_record_comm(MPI_Comm comm);
void rp_partial_record_group(MPI_Group group);
void rp_partial_record_message(MPI_Message message);
void rp_partial_record_info(MPI_Info info);
void rp_partial_feed_info(MPI_Info *info);
/* `parent`: whose error handler it has. */
void rp_partial_feed_comm(MPI_Comm parent, MPI_Comm *comm);
void rp_partial_feed_dup(MPI_Comm comm);
void rp_partial_feed_world(int rank, int size);
void rp_partial_feed_group(MPI_Group *group);
void rp_partial_feed_message(MPI_Message *message);
void rp_partial_feed_take_message(MPI_Message *message);
MPI_Comm rp_partial_feed_own(void); /* a communicator for ourselves */

/* --- requests --- */

/* Whose error handler is called if a request fails. */
struct rp_raiser {
    enum { RP_OF_WORLD, RP_OF_COMM, RP_OF_WIN, RP_OF_FILE } kind;
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
};

/* A request with areas, or alone any. Takes the areas over. */
void rp_partial_requests_add(MPI_Request request, struct rp_areas *areas, bool persistent);
/* Recording: a request that may be complete already, and have the handle of others: then its
 * content is told at once. */
void rp_partial_record_fresh(MPI_Request request, struct rp_areas *areas);
/* The request, if it is under way, is of a read from this target of the window (both sides). */
void rp_partial_requests_read(MPI_Request request, MPI_Win win, int target);
/* A call has completed such reads. Recording: they are told by entries `got`, numbered from `first`
 * on;
 * alone: the one of this number is filled, false if there is none. Then the request has none any
 * more. */
void rp_partial_requests_reads_done(MPI_Win win, int target, uint64_t first);
bool rp_partial_requests_take_read(uint64_t number);
bool rp_partial_requests_are_reading(MPI_Win win, int target);
void rp_partial_feed_fresh(MPI_Request *request, struct rp_areas *areas, struct rp_raiser raiser);
MPI_Request rp_partial_feed_request(struct rp_areas *areas, bool persistent,
                                    struct rp_raiser raiser);

/* MPI_Wait, MPI_Test and their families (partial_completion.c). Return what the call returns. */
int rp_partial_record_complete(const struct rp_next *next, const struct rp_function *function,
                               const struct rp_completion *c);
int rp_partial_feed_complete(const struct rp_function *function, const struct rp_completion *c);

/* Receives that the program freed while they were under way: when one is found complete, that is
 * told before the next entry. */
extern RP_HIDDEN const struct rp_function rp_f_freed;
extern RP_HIDDEN size_t rp_partial_requests_freed;
void rp_partial_requests_settle(void);
void rp_partial_requests_give_back(void); /* they are MPI's own again */
void rp_partial_requests_take_freed(void);

/* --- windows; recording, but for those that begin with rp_alone --- */

extern RP_HIDDEN const struct rp_function rp_f_window, rp_f_got, rp_f_found;
extern RP_HIDDEN size_t rp_windows; /* how many there are */
void rp_windows_out(MPI_Win win);
void rp_windows_in(MPI_Win win);
void rp_windows_in_own(MPI_Win win); /* what this rank itself updated; that is complete */
void rp_windows_all_out(void);
void rp_windows_all_in(void);
void rp_windows_glance(void); /* both, but seldom */
/* The order log (log/window_sync_log.h): made with the first window; a mark of the time, or of that
 * of the last glance. */
void rp_windows_open(const char *directory, uint64_t run, uint32_t rank);
void rp_windows_mark(void);
void rp_windows_mark_now(void);
void rp_windows_mark_loads(uint64_t loads); /* but seldom; so many were made */
void rp_windows_close(void);
extern RP_HIDDEN uint32_t
    rp_updates; /* a hash of the updates since the last call that synchronises */
/* An access of this rank is about to begin. */
void rp_window_access(MPI_Win win, int target, MPI_Aint disp, int64_t count, MPI_Datatype type,
                      bool writes);
int64_t rp_window_place(MPI_Win win, MPI_Aint disp); /* the same in every run */
MPI_Aint rp_window_recorded(MPI_Win win, int target,
                            MPI_Aint disp); /* alone: what it was in the record */
bool rp_window_is_self(MPI_Win win, int rank);
void rp_partial_feed_changes(void);
void rp_partial_feed_found(void);

/* The symmetric memory of OpenSHMEM (src/shmem), which is looked at where windows are, and counts
 * as one. NULL: there is none. */
struct rp_symmetric_side {
    void (*out)(void), (*in)(void);
    void (*take)(void); /* alone: an entry `symmetric` */
};
extern RP_HIDDEN const struct rp_symmetric_side *rp_symmetric;

/* Messages and collective calls tell of what was written before, and have others told. */
static inline void rp_windows_part(void)
{
    if (rp_windows) {
        rp_windows_all_out();
        rp_windows_mark_now();
    }
}
static inline void rp_windows_meet(void)
{
    if (rp_windows) {
        rp_windows_all_in();
        rp_windows_mark_now();
    }
}

/* A read was begun (both sides); those of this target, or if that is -1 of all, are complete. */
void rp_reads_add(MPI_Win win, int target, struct rp_areas *areas);
void rp_reads_done(MPI_Win win, int target);
/* Those that MPI_Win_flush_local or flush_local_all should have completed are. */
void rp_reads_await(MPI_Win win, int target);
void rp_partial_feed_got(void);

/* --- results that are in memory before the call that completes them (data_early.c) --- */

enum {
    RP_EARLY_BYTES = 256
}; /* of longer ones, only the beginning of one-sided results is looked at */
extern RP_HIDDEN const struct rp_function rp_f_arrived;
extern RP_HIDDEN size_t rp_early_watched; /* how many are */
/* Recording: such an operation is about to begin. Need not be called. */
void rp_early_before(const struct rp_areas *areas);
/* It has begun (both sides). The areas must stay where they are; rp_areas_free ends it. */
void rp_early_add(struct rp_areas *areas);
void rp_early_drop(struct rp_early *early); /* may be NULL */
/* Alone: it was complete when it began; what has come to be told of all is. */
void rp_early_at_once(const struct rp_areas *areas);
void rp_early_report(void);
/* An MPI call begins, or (`inside`) returns: what came is told, or alone is put there. */
void rp_early_look(bool inside);
static inline void rp_early_enter(void)
{
    if (__builtin_expect(rp_early_watched != 0, 0))
        rp_early_look(false);
}
static inline void rp_early_leave(void)
{
    if (__builtin_expect(rp_early_watched != 0, 0))
        rp_early_look(true);
}
/* Alone: an entry that came at no look. */
void rp_partial_feed_arrived(void);

/* --- who wrote what: a rank alone tells of its accesses to windows, if that is asked for
 * (data_trace.c) --- */

extern RP_HIDDEN bool rp_access_traced;
extern RP_HIDDEN uintptr_t rp_caller, rp_caller_stack; /* alone: where the program called */
#define RP_HERE()                                                                                  \
    (rp_caller = (uintptr_t)__builtin_return_address(0),                                           \
     rp_caller_stack = (uintptr_t)__builtin_frame_address(0))

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
struct rp_read *rp_access_trace_read(const struct rp_function *function, MPI_Win win, int target,
                                     MPI_Aint disp, int64_t targetcount, MPI_Datatype targettype);
void rp_access_trace_operand(struct rp_read *read, const void *origin, int64_t count,
                             MPI_Datatype type, MPI_Op op);
void rp_access_trace_swap(struct rp_read *read, const void *origin, const void *compare);
void rp_access_trace_got(struct rp_read *read, const struct rp_area *area);
void rp_access_trace_forget(struct rp_read *read);
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

/* Alone, before the entry of a call that makes stores public, or (`out` false) takes changes in;
 * after that of any. Of one window, or of all. */
void rp_windows_look(const struct rp_function *function, MPI_Win win, bool out);
void rp_windows_look_all(const struct rp_function *function);
void rp_windows_looked(void);
/* Alone: the same, of these bytes wherever they are in windows. */
bool rp_windows_differ(const void *at, size_t size); /* from what is known of them */
void rp_windows_direct(bool loads, const void *at, const void *value, size_t size, uint64_t load);
uint64_t rp_window_number(MPI_Win win);
const struct rp_function *rp_partial_feed_calling(void);
static inline void rp_partial_feed_part(const struct rp_function *function)
{
    if (rp_access_traced)
        rp_windows_look_all(function);
}

/* --- files: reads that are begun by one call and ended by another --- */

void rp_split_begin(MPI_File file, struct rp_areas *areas);
void rp_split_put(MPI_File file, int64_t bytes);
void rp_split_fill(MPI_File file);

/* Made by api/partial.py: rp_f_X of each function, rp_partial_record_X and rp_partial_feed_X of
 * those written by hand. */
#include "hand.h"

#endif
