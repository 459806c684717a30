/* SPDX-License-Identifier: MIT */
/*
 * Tracked programs: code that `reprise-cc --track` compiled reports its loads from window memory,
 * with their values, and its stores there.
 *
 * - After each load and store the code looks up the page that it begins in (`slot`). Where no
 * window is near that is all: five instructions. Outside of a recording with data, and of a rank
 * alone, no window ever is.
 * - Near a window it looks closer: is all of it in one region, and is the value the one that the
 * shadow has? Then the load is counted, and that is all. Code by the plugins does so by itself, but
 * for wide vectors, for which it calls a function that is linked into every module
 * (cc/track_hooks.c). What remains goes to the functions below, which libreprise-partial.so sets.
 * Alone, that is every load: all regions are among the SEVERAL.
 * - Copies and fills of memory, and atomic operations, go there too.
 *
 * Code by a compiler for which there is no plugin calls functions before its loads and stores
 * (cc/track_calls.c), and so can report no values. Then window memory of MPI is apart from the
 * memory that the program works on (`to_public`), and the functions move what is in one to the
 * other: what others stored comes in before a load, and before a store; what the program stored
 * goes out when it next calls anything of this. Of one process, all code must be of one way.
 *
 * A load is known by its number among all loads from window memory that the program has made: that
 * is the same in a partial replay, as long as the loads themselves returned the same.
 *
 * Every executable and shared library that `reprise-cc --track` links defines and exports
 * `reprise_track`, `reprise_track_off` and `reprise_track_size`; by the rules of the loader one of
 * each is used, the executable's if it has one. dlsym(RTLD_DEFAULT, "reprise_track") returns it, or
 * NULL if nothing was compiled so.
 */
#ifndef RP_TRACKING_H
#define RP_TRACKING_H

#include <stddef.h>
#include <stdint.h>

enum {
    REPRISE_TRACK_PAGE = 12,       /* bits of an address within a page */
    REPRISE_TRACK_SLOTS = 1 << 16, /* page n belongs to slot n mod this */
    REPRISE_TRACK_WIDEST = 64, /* bytes of an access that is looked up by its first byte alone */
    REPRISE_TRACK_SEVERAL =
        255, /* a slot with more regions than one, or with one of those that have no number */
    REPRISE_TRACK_BY_PLUGIN = 1, /* ways to track */
    REPRISE_TRACK_BY_CALLS = 2,
};

struct reprise_region {
    uintptr_t at;
    size_t begins_8, begins_16; /* bytes at which accesses of up to 8, and of 16, can begin */
    intptr_t to_shadow;         /* from a byte to what the program last saw or stored there */
    size_t size;
    intptr_t to_public; /* from a byte to what others see; 0: they see it itself */
    uintptr_t unused[2];
};

struct reprise_track {
    /* The plugins know these, and the numbers above. */
    uint8_t slot[REPRISE_TRACK_SLOTS]; /* 0: no region is near; else which one is */
    struct reprise_region region[REPRISE_TRACK_SEVERAL + 1]; /* number 0 and SEVERAL are empty */
    uint64_t *loads;                                         /* how many there were */
    uintptr_t lowest, highest; /* all regions are from here to there */

    int any; /* there are regions */

    /* Where the program accesses memory, and how deep its stack is there: set by those who call the
     * functions below. */
    uintptr_t caller, caller_stack;

    /* A load read these bytes; they are replaced if it should return others. */
    void (*load)(const void *at, void *value, size_t size);
    void (*store)(const void *at, const void *value, size_t size);
    void (*copy)(void *to, const void *from, size_t size);
    void (*fill)(void *to, int byte, size_t size);
    /* Around an atomic operation: `after` gets the old value, and returns the memory on which the
     * operation is made again. */
    void (*before)(void *at, size_t size);
    void *(*after)(void *at, const void *old, size_t size);

    int ways; /* of the modules that are there: each says so when it is loaded */

    /* By calls: the program is about to load, or to store, here. */
    void (*read)(const void *at, size_t size);
    void (*write)(void *at, size_t size);
    /* A store that was about to be made: from then on, until it is seen to be made or must have
     * been. `stored` 0: none. */
    void *stored_at;
    size_t stored;
    int looked; /* for it, so often */
    void (*settle)(void);
    /* What was stored by code that is not tracked becomes public, too. */
    void (*release)(void);
    /* An atomic operation is made where the first function says; `made` gets what it read (NULL:
     * nothing) and what is there now, unless that is `at` itself. */
    void *(*begin)(void *at, size_t size, int reads);
    void (*made)(void *at, const void *old, const void *now, size_t size);
    void (*refuse)(const void *at, size_t size, const char *what);
};

extern struct reprise_track reprise_track;

/* Of each thread: where it says whether its accesses pass. */
extern __thread const int *reprise_track_off;

/* So that a program that another version of reprise-cc compiled is refused. */
extern const size_t reprise_track_size;

#endif
