/* SPDX-License-Identifier: MIT */
/* Ticks: the time of a thread by what it executed, in units near an instruction. Programs that
 * reprise-cc compiled count them.
 *
 * - Every executable and shared library that reprise-cc links defines and exports the thread-local
 * symbol `reprise_ticks`; by the rules of the loader one of them is used, the executable's if it
 * has one. dlsym(RTLD_DEFAULT, "reprise_ticks") gives the instance of the calling thread, or NULL
 * if nothing was compiled so.
 * - It is one page, aligned to a page, and holds nothing but the counter. So the page of a thread
 * can be replaced by a shared one (mmap with MAP_FIXED, after copying the count): from then on
 * other processes see it move while the program runs. A child of fork shares such a page, and
 * should put a private one in its place.
 * - The counter must be there when the program starts: a library with a counter cannot be loaded
 * later (dlopen) into a program that has none, for want of static thread-local memory. A preloaded
 * library that defines the symbol too (ticks.c) makes that possible.
 * - What a thread counts depends on what it executed alone, and is the same in every run of the
 * same binaries with the same input. Whenever the program calls a function that the compiler does
 * not know, all that was executed before is counted.
 * - It never falls behind by more than a function without loops, or one iteration of a loop. It may
 * run ahead: a loop that calls nothing unknown is counted before it begins if the number of its
 * iterations is known then. Seen from outside, the count is a lower bound for the next event of the
 * thread. Counting early makes the bound better. */
#ifndef RP_TICKS_H
#define RP_TICKS_H

#include <stdint.h>

#ifndef REPRISE_PAGE
#define REPRISE_PAGE 4096 /* the build sets the system's */
#endif

struct reprise_ticks {
    uint64_t count;
    char unused[REPRISE_PAGE - sizeof(uint64_t)];
};

extern __thread struct reprise_ticks reprise_ticks;

#endif
