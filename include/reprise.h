/* SPDX-License-Identifier: MIT */
/*
 * The public interface of reprise: its version, its exit statuses, and the functions by which a
 * program tells `reprise ft` what to recover, and `reprise record` which order does not matter.
 *
 * A program marks its loop and names the memory that changes in it:
 *
 *     double *u = malloc(bytes);
 *     reprise_protect(0, u, bytes);
 *     REPRISE_LOOP(i, 0, steps) {
 *         ...compute, send, receive...
 *     }
 *
 * and links with libreprise.a (-lreprise). Without `reprise ft` these calls do nothing, with any
 * MPI. With it, all ranks checkpoint the protected memory every few iterations. When a rank dies,
 * another process takes its place: it runs main up to the loop, gets the protected memory of the
 * last checkpoint, and begins the loop with that iteration.
 */
#ifndef REPRISE_H
#define REPRISE_H

#include <setjmp.h>
#include <stddef.h>

#define REPRISE_VERSION_MAJOR 0
#define REPRISE_VERSION_MINOR 1
#define REPRISE_VERSION_PATCH 0
#define REPRISE_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Commands that launch a program return its status. These are the statuses of reprise. */
enum reprise_exit {
    REPRISE_EXIT_ERROR = 118,       /* reprise found an error of the program */
    REPRISE_EXIT_DEADLOCK = 119,    /* the ranks of a deterministic run are deadlocked */
    REPRISE_EXIT_USAGE = 120,       /* wrong command line, setting or run */
    REPRISE_EXIT_DIVERGED = 121,    /* the replay left the record */
    REPRISE_EXIT_DAMAGED = 122,     /* the record is damaged or incomplete */
    REPRISE_EXIT_UNSUPPORTED = 123, /* the program needs what reprise refuses */
    REPRISE_EXIT_INTERNAL = 125,    /* a fault of reprise or of the system */
};

/* Returns whether the program runs under `reprise ft`. */
int reprise_active(void);

/*
 * Protects memory: its `bytes` bytes belong to the state of the program between two iterations.
 * `id` names it; a further call with the same id changes its place and size. Call it before the
 * loop, in every run in the same order. The memory stays the program's and must exist until
 * reprise_unprotect or the end of the loop. Do not protect what the loop only reads, or what the
 * setup before the loop makes in the same way every time.
 */
void reprise_protect(int id, void *memory, size_t bytes);

/* Protects `count` elements of `size` bytes. */
void reprise_protect_array(int id, void *memory, size_t count, size_t size);

/*
 * Protects state that is not one piece of memory, by functions of the program. `size` returns its
 * current length in bytes, `save` writes that many bytes to `out`, and `restore` reads them. Each
 * gets the `data` of reprise_protect_state. The functions must exist as long as the state is
 * protected.
 */
struct reprise_state {
    size_t (*size)(void *data);
    void (*save)(void *data, void *out);
    void (*restore)(void *data, const void *in, size_t bytes);
};
void reprise_protect_state(int id, const struct reprise_state *state, void *data);

/* Ends the protection of `id`. */
void reprise_unprotect(int id);

/* Sets the interval: ranks take a checkpoint in every iteration whose number is a multiple of it.
 * The default is 10. The option --interval overrides it. */
void reprise_interval(long iterations);

/* Limits the log of sent messages in each rank to so many bytes. 0 means no limit. The option
 * --capacity overrides it. If a failure needs older messages, all ranks go back to the last
 * checkpoint, not only the dead one. */
void reprise_capacity(size_t bytes);

/* Limits the log to the messages of the last so many iterations, with the current one. 0 means all
 * since the checkpoint. The option --capacity-iterations overrides it. Both limits may be set. */
void reprise_capacity_iterations(long iterations);

/*
 * for (long i = first; i < end; i++), with marked iterations. `break` and `continue` work as in
 * any loop; call reprise_leave() after a `break`. When all ranks go back to a checkpoint, control
 * jumps from inside any MPI call to the head of the loop. So the function that contains the loop
 * must not return before the loop has ended.
 */
#define REPRISE_LOOP(i, first, end)                                                                \
    switch (setjmp(*reprise_point()))                                                              \
    default:                                                                                       \
        for (long i = reprise_first(first); i < (end) || (reprise_leave(), 0); i = reprise_next(i))

/*
 * The parts of REPRISE_LOOP, for loops of another form. reprise_point returns the place for setjmp
 * to save the head of the loop in. reprise_first returns the iteration to begin with. reprise_next
 * ends iteration i and returns the next. reprise_leave ends the loop.
 */
jmp_buf *reprise_point(void);
long reprise_first(long first);
long reprise_next(long i);
void reprise_leave(void);

/* The loop for languages without setjmp: calls `iteration` for each i from `first` to `end` - 1, or
 * until it returns 0. `data` is passed on. */
void reprise_run(long first, long end, int (*iteration)(long i, void *data), void *data);

/*
 * Begins a commutative region: the next `count` messages that MPI_Recv takes from MPI_ANY_SOURCE
 * may come in any order, and the result of the program is the same. `reprise record` then stores
 * which messages came, but not in which order. `reprise replay` delivers them in some order,
 * `reprise replay --shuffle` in others. The region ends after `count` such receives, or by
 * reprise_commutative_end. Other calls in between are recorded as usual.
 */
void reprise_commutative_begin(unsigned long count);
void reprise_commutative_end(void);

/* The regions' functions of libreprise.so. libreprise.a finds them by the symbol
 * `reprise_region_calls`. */
struct reprise_region_calls {
    int version;
    void (*begin)(unsigned long count);
    void (*end)(void);
};

/* The functions of the library for `reprise ft`. libreprise.a finds them by the symbol
 * `reprise_ft_calls`. */
struct reprise_calls {
    int version;
    void (*protect)(int id, void *memory, size_t bytes, const struct reprise_state *state);
    void (*unprotect)(int id);
    long (*first)(long first);
    long (*next)(long i);
    void (*leave)(void);
    jmp_buf *(*point)(void);
    int (*active)(void);
    void (*interval)(long iterations);
    void (*capacity)(size_t bytes);
    void (*capacity_iterations)(long iterations);
};

#ifdef __cplusplus
}
#endif

#endif
