/* SPDX-License-Identifier: MIT */
/* Functions of other libraries that we stand before (threads, mutexes, clocks): who calls them, and
 * the real ones. */
#ifndef RP_CALLER_H
#define RP_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the function that uses it was called from, and the call as the engine sees it. Only in
 * functions that we define for the program. */
#define RP_CALLER ((uintptr_t)__builtin_return_address(0))
#define RP_CALL(name)                                                                              \
    {                                                                                              \
        name, NULL, RP_CALLER, (uintptr_t)__builtin_frame_address(0)                               \
    }

/*
 * The real function; `type` is its type. All of them are found when the library is loaded: a lock
 * may be taken first where nothing may be looked up, as in a hook of the allocator (UCX has one).
 * Other libraries may call us before that, and plugins bring functions after it: those are found at
 * their first use.
 */
#define RP_REAL(type, name)                                                                        \
    __extension__({                                                                                \
        static struct rp_caller_function real                                                      \
            __attribute__((section("rp_real"), used)) = {name, NULL};                              \
        if (__builtin_expect(!real.found, 0))                                                      \
            real.found = rp_caller_real(name);                                                     \
        (__typeof__(type) *)real.found;                                                            \
    })

struct rp_caller_function {
    const char *name;
    void *found;
};

/* The function that a call would reach without us, also one of a library that only a plugin
 * sees. */
void *rp_caller_real(const char *name);

/* Whose code is at this address. */
enum rp_caller {
    RP_CALLER_OTHER,   /* MPI's, or its transports': what they do among themselves is not to be
                          followed */
    RP_CALLER_PROGRAM, /* its own, or a library's that works for it */
    RP_CALLER_RUNTIME, /* of Fortran: its locks are not the program's */
    RP_CALLER_OPENMP,  /* its runtime: its threads are the program's, its locks are not */
};
enum rp_caller rp_caller_who(uintptr_t address);

static inline bool rp_caller_is_program(uintptr_t address)
{
    return rp_caller_who(address) != RP_CALLER_OTHER;
}

#endif
