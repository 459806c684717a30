// SPDX-License-Identifier: MIT
// What the parts of GCC's plugin for tracking have in common: what it puts into the code
// (gcc_track_code.cc), atomic operations (gcc_track_atomic.cc), loops that are there three times
// (gcc_track_loops.cc), and the rest (gcc_track.cc, whose head explains the purpose).
#ifndef RP_GCC_TRACK_H
#define RP_GCC_TRACK_H

#include <gcc-plugin.h>
#include <coretypes.h>
#include <backend.h>
#include <tree.h>
#include <gimple.h>
#include <tree-pass.h>
#include <ssa.h>
#include <cfgloop.h>
#include <gimple-iterator.h>
#include <internal-fn.h>
#include <fold-const.h>
#include <set>
#include <vector>

namespace track
{

// As window/tracking.h says. `at` to `size` are in a region, the others behind all regions; all are
// words.
const unsigned page_bits = 12, slots = 1 << 16, regions = 256, region_size = 64, widest = 64;
enum { AT, BEGINS_8, BEGINS_16, TO_SHADOW, SIZE };
const unsigned loads_offset = slots + regions * region_size, lowest_offset = loads_offset + 8,
               highest_offset = loads_offset + 16, known_part = loads_offset + 24;

enum {
    LOAD_8,
    LOAD_16,
    LOAD_32,
    LOAD_64,
    LOAD_N,
    STORE_8,
    STORE_16,
    STORE_32,
    STORE_64,
    STORE_N,
    LOAD_MASKED,
    STORE_MASKED,
    CHANGE_8,
    CHANGE_16,
    CHANGE_32,
    CHANGE_64,
    COPY,
    FILL,
    COPY_CHECKED,
    FILL_CHECKED,
    HOOKS
};
extern tree hooks[HOOKS];          // their declarations
extern const ggc_root_tab roots[]; // all that lives as long as the compiler
extern location_t here;            // of the statement that is tracked

void declare_all(); // before anything else, once

// Memory and types

bool matters(tree ref); // whether a window may have this memory
bool is_bit_field(tree ref);
bool is_masked(gimple *stmt); // loads or stores a vector of which some elements are accessed
tree size_of(tree type);
HOST_WIDE_INT known_size(tree type); // less than 1: not known
tree unsigned_of(unsigned bits);
unsigned bits_by_value(tree type); // of what is passed as an integer; 0: by its place
int of_size(unsigned bits);        // which of the functions for 8, 16, 32 and 64 bits
unsigned bits_in_place(tree type); // of what can be looked at as an integer; 0: it cannot
tree type_of_mask(
    tree vector, tree mask); // of vectors of which some elements are accessed: a vector of integers
                             // that are not 0 where they are; NULL: the processor cannot make one

// Code: `gsi` is at a statement before which things are put.

tree operand(gimple_stmt_iterator *gsi, tree expression);
tree address_of(gimple_stmt_iterator *gsi, tree ref);
tree converted(gimple_stmt_iterator *gsi, tree type, tree value);
tree new_room(tree type);
tree call(gimple_stmt_iterator *gsi, int hook, std::vector<tree> arguments);

tree sum_of(tree a, tree b);
tree difference_of(tree a, tree b);
tree as_word(tree address);
tree place_at(tree pointer, HOST_WIDE_INT offset,
              tree type); // what is so many bytes behind a pointer, aligned or not
tree load_from(gimple_stmt_iterator *gsi, tree place);

tree shared_word(gimple_stmt_iterator *gsi, unsigned offset, tree type);
void store_count(gimple_stmt_iterator *gsi, tree loads, tree count);
tree slot_of(gimple_stmt_iterator *gsi, tree address);
tree slot_near(gimple_stmt_iterator *gsi, tree address,
               tree type); // not 0 if a region may be near; also for types that are wider than
                           // what one slot covers
tree region_of(gimple_stmt_iterator *gsi, tree slot);
tree region_word(gimple_stmt_iterator *gsi, tree region, int field);
tree passes(gimple_stmt_iterator
                *gsi); // whether accesses do so, since they are made inside an MPI call: 0 if not
tree shadow_of(gimple_stmt_iterator *gsi, tree address, tree to_shadow);

// Blocks that are made here end by a statement before which things are put, and which has no other
// use: go_on removes it.

gimple_stmt_iterator end_of(basic_block made);
edge go_on(gimple_stmt_iterator *gsi, basic_block to);
// What follows `gsi` is in a block of its own then. `gsi` is at the end of a new block, which is
// executed before it if the value is not 0. The edge past that one.
edge put_if(gimple_stmt_iterator *gsi, tree value);
bool behind(gimple *stmt, gimple_stmt_iterator *gsi); // false: it ends its block

// Telling. `mask` is that of a vector of which some elements are accessed, or NULL.

tree report_load(gimple_stmt_iterator *gsi, tree address, tree value,
                 tree mask); // returns the value to use
void report_result(gimple *stmt, tree address, gimple_stmt_iterator *gsi,
                   tree mask = NULL_TREE); // behind the statement, reports its result
void report_stored(tree address, tree value, gimple_stmt_iterator *gsi, tree mask = NULL_TREE);

// Atomic operations

bool track_atomic(
    gcall *stmt,
    const char *name); // `name` is that of a builtin, or NULL; false: of a form that is not known
void keep_atomics_plain(const char *plugin); // from the first function on

// Loops. Statements must have no uid.

// Copies loops. Once watch_loops was called, the blocks in `done` report all that they should. The
// caller tracks the accesses of all other blocks before that, one by one.
void divide_loops(function *fun, std::set<basic_block> &done);
void watch_loops();

} // namespace track

#endif
