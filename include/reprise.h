/* SPDX-License-Identifier: MIT */
/*
 * The public face of reprise: its version, the exit statuses of its own, and what a program says
 * about itself so that `reprise ft` can bring its dead ranks back.
 *
 * A program marks its loop and names the memory that changes in it:
 *
 *     double *u = malloc(bytes);
 *     reprise_protect(0, u, bytes);
 *     REPRISE_LOOP(i, 0, steps) {
 *         ...compute, send, receive...
 *     }
 *
 * and is linked with libreprise.a (-lreprise). Without `reprise ft` these calls do nothing, with
 * any MPI. With it, all ranks checkpoint what is protected every few iterations; when a rank dies,
 * another process takes its
 * place: it runs main up to the loop, gets the protected memory of the last checkpoint, and the
 * loop begins with that iteration.
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

/* Launching commands return the application's status; these are ours. */
enum reprise_exit {
    REPRISE_EXIT_ERROR = 118,       /* an error of the program that reprise found */
    REPRISE_EXIT_DEADLOCK = 119,    /* the ranks of a deterministic run wait for each other */
    REPRISE_EXIT_USAGE = 120,       /* wrong command line, setting or run */
    REPRISE_EXIT_DIVERGED = 121,    /* the replay was not the recorded run */
    REPRISE_EXIT_DAMAGED = 122,     /* the record is damaged or incomplete */
    REPRISE_EXIT_UNSUPPORTED = 123, /* the program needs what reprise refuses */
    REPRISE_EXIT_INTERNAL = 125,    /* a fault of reprise or of the system */
};

/* Whether dead ranks are brought back. */
int reprise_active(void);

/*
 * The memory belongs to the state of the program between two iterations. `id` names it; the same id
 * again means another place or size. To be called before the loop, in every run in the same order;
 * what the loop only reads, and what the setup before it makes in the same way every time, need not
 * be protected.
 */
void reprise_protect(int id, void *memory, size_t bytes);

/* The same for `count` elements of `size` bytes. */
void reprise_protect_array(int id, void *memory, size_t count, size_t size);

/* State that is not in one piece: how long it is now, writing it out, reading it in again. `data`
 * is passed on. */
struct reprise_state {
    size_t (*size)(void *data);
    void (*save)(void *data, void *out);
    void (*restore)(void *data, const void *in, size_t bytes);
};
void reprise_protect_state(int id, const struct reprise_state *state, void *data);
void reprise_unprotect(int id);

/* A checkpoint is taken in every iteration whose number is a multiple of this (10; --interval goes
 * before). */
void reprise_interval(long iterations);

/* The most bytes that the log of sent messages may have in each rank (0: any; --capacity goes
 * before). If a failure needs more, all ranks go back to the last checkpoint instead of only the
 * dead. */
void reprise_capacity(size_t bytes);

/* The same in iterations: the log has the messages of the last so many, with the one that runs (0:
 * of all since the checkpoint; --capacity-iterations goes before). Both limits may be set. */
void reprise_capacity_iterations(long iterations);

/*
 * for (long i = first; i < end; i++), with its iterations marked. `break` and `continue` mean what
 * they do in a loop; behind a `break` comes reprise_leave(). When all ranks have to go back,
 * control comes back to the head of the loop from inside any MPI call, so the function that it is
 * in must not return before the loop has ended.
 */
#define REPRISE_LOOP(i, first, end)                                                                \
    switch (setjmp(*reprise_point()))                                                              \
    default:                                                                                       \
        for (long i = reprise_first(first); i < (end) || (reprise_leave(), 0); i = reprise_next(i))

/* The parts of it, for loops of another form. reprise_first tells with which iteration to begin;
 * reprise_next ends iteration i and returns the next; reprise_leave ends the loop. */
jmp_buf *reprise_point(void);
long reprise_first(long first);
long reprise_next(long i);
void reprise_leave(void);

/* For languages without setjmp: the loop as a function that is called for every iteration until it
 * returns 0. */
void reprise_run(long first, long end, int (*iteration)(long i, void *data), void *data);

/*
 * The next `count` messages that MPI_Recv takes from MPI_ANY_SOURCE may come in any order: the
 * program makes the same of them. `reprise record` then stores which messages they were, and not in
 * which order they came; `reprise replay` gives them in some order, and `reprise replay --shuffle`
 * in others on purpose. A region ends after so many receives, or by reprise_commutative_end. Other
 * calls in between are recorded as ever.
 */
void reprise_commutative_begin(unsigned long count);
void reprise_commutative_end(void);

/* How libreprise.a finds libreprise.so for it: its symbol `reprise_region_calls`. */
struct reprise_region_calls {
    int version;
    void (*begin)(unsigned long count);
    void (*end)(void);
};

/* How libreprise.a finds the library: its symbol `reprise_ft_calls`. */
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
