/* SPDX-License-Identifier: MIT */
/*
 * Call sites: where in the program an MPI function was called from, as a chain of return addresses,
 * each a module and an offset.
 *
 * To walk the stack for every event would cost more than the event. So the walk is done once for
 * each new key (function, return address, stack pointer). The same return address at the same depth
 * is taken for the same chain, up to the function that called MPI. Where that function is a wrapper
 * (event/wrappers.h: small, or of a listed name), its callers are distinguished, too, by the words
 * that event/callers.h reads, up to the first function that is no wrapper. Two keys with the same
 * chain are one site.
 *
 * Fortran and C++ programs call MPI through a library of bindings, which calls each function from
 * one place. Frames of that library are left out. The key has the program's own return address
 * instead, which is on the stack at a distance that the first walk finds.
 */
#ifndef RP_SITE_H
#define RP_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "event/callers.h"

enum { RP_SITE_FRAMES = 32, RP_SITE_KEYS = 4096, RP_BUILD_ID_MAX = 64 };

struct rp_module {
    uintptr_t start,
        end;        /* the range of addresses where it is loaded; 0 in a table read from a log */
    uintptr_t base; /* offsets count from here */
    uint8_t build_id[RP_BUILD_ID_MAX];
    size_t build_id_length;
    char *path;
};

struct rp_frame {
    uint32_t module; /* index + 1; 0: unknown */
    uint64_t offset;
};

struct rp_site {
    const char *function; /* owned only by tables that were read from a log */
    uint32_t frames;
    struct rp_frame *frame; /* innermost first */
};

struct rp_site_key {
    uintptr_t return_address, stack;
    const char *function;
    uint64_t outcome; /* event/callers.h */
};

/* A return address inside a library of bindings. The bindings are a tree: chains of them that begin
 * alike, innermost first, have that part in common. */
struct rp_binding {
    size_t inner; /* the number, from 1, of the one further in; 0 for the innermost */
    uintptr_t return_address;
    uintptr_t distance; /* from the stack pointer to the place where the next return address
                           outwards is saved */
};

/* Whether the function of a return address is a wrapper by its name. */
struct rp_named {
    uintptr_t return_address;
    bool is_wrapper;
};

struct rp_site_table {
    struct rp_site_key *keys; /* open addressing, RP_SITE_KEYS slots */
    size_t keys_used;
    struct rp_site *sites;
    size_t site_count, site_room;
    struct rp_module *modules;
    size_t module_count, module_room;
    struct rp_binding *bindings;
    size_t binding_count, binding_room;
    const char *wrappers; /* the patterns of names of wrappers; NULL: callers do not matter. To
                             be set before the first site is added */
    struct rp_named *names;
    size_t name_count, name_room;
    /* Called with each new site and module, as the records of docs/format.md, section 4, before the
     * site is used. May be NULL. */
    void (*announce)(void *owner, const struct rp_buffer *records, uint32_t first);
    void *owner;
    bool read;    /* read from a log: the table owns its strings */
    bool starved; /* an allocation failed while reading */
};

bool rp_site_table_init(struct rp_site_table *table);
void rp_site_table_free(struct rp_site_table *table);

/* Adds the site of a call that rp_site_known does not find, and returns its number. Never fails:
 * without memory it returns site 0. */
uint32_t rp_site_add(struct rp_site_table *table, const char *function, uintptr_t return_address,
                     uintptr_t stack);

/* Sets *out to the module of the main program; its path is NULL. Returns false if it cannot be
 * found. */
bool rp_site_program(struct rp_module *out);

/* Adds the `items` records of a SITES chunk. Returns false if they are not well formed. */
bool rp_site_read(struct rp_site_table *table, const uint8_t *bytes, size_t length, uint32_t items);

/* Returns whether two sites call the same MPI function from the same place, as far as the build ids
 * of the modules show. */
bool rp_site_same(const struct rp_site_table *one, uint32_t first,
                  const struct rp_site_table *other, uint32_t second);

/* Returns whether, in addition, the whole chains of calls are the same. */
bool rp_site_same_chain(const struct rp_site_table *one, uint32_t first,
                        const struct rp_site_table *other, uint32_t second);

/* Returns four times the slot where the key belongs, which takes the fewest instructions. The
 * function is not part of the hash: as a rule, a place calls only one. */
static inline uintptr_t rp_site_hash(uintptr_t return_address, uintptr_t stack)
{
    return (return_address ^ stack >> 2) & (RP_SITE_KEYS - 1) << 2;
}

/* Sets *site and returns true if the site is in the table, in the first slot that is tried. */
static inline bool rp_site_known(const struct rp_site_table *table, const char *function,
                                 uintptr_t return_address, uintptr_t stack, uint32_t *site)
{
    uintptr_t at = rp_site_hash(return_address, stack) * (sizeof(struct rp_site_key) / 4);
    const struct rp_site_key *key = (const struct rp_site_key *)((const char *)table->keys + at);

    return __builtin_expect((key->return_address == return_address) & (key->stack == stack) &
                                (key->function == function),
                            1) &&
           rp_callers_known(key->outcome, site);
}

static inline uint32_t rp_site_find(struct rp_site_table *table, const char *function,
                                    uintptr_t return_address, uintptr_t stack)
{
    uint32_t site;

    if (__builtin_expect(rp_site_known(table, function, return_address, stack, &site), 1))
        return site;
    return rp_site_add(table, function, return_address, stack);
}

#endif
