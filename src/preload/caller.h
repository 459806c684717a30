/* SPDX-License-Identifier: MIT */
/* For the functions of other libraries that we interpose (threads, mutexes, clocks): who calls
 * them, and where the real functions are. */
#ifndef RP_CALLER_H
#define RP_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RP_CALLER is the return address of the function that uses it. RP_CALL describes its call for the
 * engine. Both are only for functions that we define for the program. */
#define RP_CALLER ((uintptr_t)__builtin_return_address(0))
#define RP_CALL(name)                                                                              \
    {                                                                                              \
        name, NULL, RP_CALLER, (uintptr_t)__builtin_frame_address(0)                               \
    }

/*
 * The real function of this name; `type` is its type. All of them are looked up when the library is
 * loaded: a lock may be taken first where no look-up is allowed, as in a hook of the allocator (UCX
 * has one). Other libraries may call us before that, and plugins bring functions later; these are
 * looked up at their first use.
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

/* Returns the function that a call would reach without us, also one of a library that only a plugin
 * sees. Returns NULL if there is none. */
void *rp_caller_real(const char *name);

/* Whose code is at an address. */
enum rp_caller {
    RP_CALLER_OTHER,   /* MPI's or its transports': their calls among themselves are not followed */
    RP_CALLER_PROGRAM, /* the program's, or that of a library that works for it */
    RP_CALLER_RUNTIME, /* the runtime of Fortran: its locks are not the program's */
    RP_CALLER_OPENMP,  /* the runtime of OpenMP: its threads are the program's, its locks are not */
};
enum rp_caller rp_caller_who(uintptr_t address);

static inline bool rp_caller_is_program(uintptr_t address)
{
    return rp_caller_who(address) != RP_CALLER_OTHER;
}

#endif
