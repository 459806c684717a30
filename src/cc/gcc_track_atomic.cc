// SPDX-License-Identifier: MIT
// Atomic operations (gcc_track.h). Loads and stores are as any others. One that reads and writes is
// left to a function where a window is near (reprise_track_change_*, in cc/track_hooks.c), which
// makes it on the shadow, too, and returns the old value: from that its result follows, of
// whichever form it is.
#include "gcc_track.h"

#include <cfghooks.h>
#include <cgraph.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <tree-phinodes.h>
#include <stringpool.h>
#include <context.h>
#include <bversion.h>

namespace track
{

// What is done to memory, as cc/track_hooks.c knows it.
enum { ADD, SUB, AND, OR, XOR, NAND, EXCHANGE, COMPARE };

// What an operation returns: the old value, the new value, or whether the value changed.
enum result { OLD, NEW, DONE };

struct form {
    const char *name; // the builtin's, without the size
    int operation;
    result gives;
};

static const form forms[] = {
    {"__atomic_fetch_add_", ADD, OLD},
    {"__atomic_fetch_sub_", SUB, OLD},
    {"__atomic_fetch_and_", AND, OLD},
    {"__atomic_fetch_or_", OR, OLD},
    {"__atomic_fetch_xor_", XOR, OLD},
    {"__atomic_fetch_nand_", NAND, OLD},
    {"__atomic_add_fetch_", ADD, NEW},
    {"__atomic_sub_fetch_", SUB, NEW},
    {"__atomic_and_fetch_", AND, NEW},
    {"__atomic_or_fetch_", OR, NEW},
    {"__atomic_xor_fetch_", XOR, NEW},
    {"__atomic_nand_fetch_", NAND, NEW},
    {"__sync_fetch_and_add_", ADD, OLD},
    {"__sync_fetch_and_sub_", SUB, OLD},
    {"__sync_fetch_and_and_", AND, OLD},
    {"__sync_fetch_and_or_", OR, OLD},
    {"__sync_fetch_and_xor_", XOR, OLD},
    {"__sync_fetch_and_nand_", NAND, OLD},
    {"__sync_add_and_fetch_", ADD, NEW},
    {"__sync_sub_and_fetch_", SUB, NEW},
    {"__sync_and_and_fetch_", AND, NEW},
    {"__sync_or_and_fetch_", OR, NEW},
    {"__sync_xor_and_fetch_", XOR, NEW},
    {"__sync_nand_and_fetch_", NAND, NEW},
    {"__atomic_exchange_", EXCHANGE, OLD},
    {"__sync_lock_test_and_set_", EXCHANGE, OLD},
    {"__sync_val_compare_and_swap_", COMPARE, OLD},
    {"__sync_bool_compare_and_swap_", COMPARE, DONE},
    {"__atomic_compare_exchange_", COMPARE, DONE},
};

// One operation: the place of what it expects is that of a variable, or NULL.
struct change {
    int operation;
    result gives;
    unsigned bits;
    tree address, value, expected, place_of_expected;
};

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool has_size(unsigned bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

// False: it is none of these.
static bool understand(gcall *stmt, const char *name, change *c)
{
    if (gimple_call_internal_p(stmt, IFN_ATOMIC_COMPARE_EXCHANGE)) {
        unsigned bytes = (unsigned)tree_to_uhwi(gimple_call_arg(stmt, 3)) & 255;
        *c = {COMPARE,
              DONE,
              8 * bytes,
              gimple_call_arg(stmt, 0),
              gimple_call_arg(stmt, 2),
              gimple_call_arg(stmt, 1),
              NULL_TREE};
        return has_size(bytes);
    }
    if (!name)
        return false;
    if (begins(name, "__atomic_test_and_set")) {
        *c = {EXCHANGE,  OLD,      8, gimple_call_arg(stmt, 0), build_one_cst(unsigned_of(8)),
              NULL_TREE, NULL_TREE};
        return true;
    }
    for (const form &f : forms)
        if (begins(name, f.name)) {
            unsigned bytes = (unsigned)atoi(name + strlen(f.name));
            bool by_place = begins(name, "__atomic_compare");
            *c = {f.operation,
                  f.gives,
                  8 * bytes,
                  gimple_call_arg(stmt, 0),
                  gimple_call_arg(stmt, f.operation == COMPARE ? 2 : 1),
                  NULL_TREE,
                  NULL_TREE};
            if (f.operation == COMPARE)
                (by_place ? c->place_of_expected : c->expected) = gimple_call_arg(stmt, 1);
            return has_size(bytes);
        }
    return false;
}

static tree new_value(gimple_stmt_iterator *gsi, const change &c, tree old, tree value)
{
    static const tree_code codes[] = {PLUS_EXPR,    MINUS_EXPR,   BIT_AND_EXPR,
                                      BIT_IOR_EXPR, BIT_XOR_EXPR, BIT_AND_EXPR};
    tree type = unsigned_of(c.bits),
         now = operand(gsi, fold_build2(codes[c.operation], type, old, value));
    return c.operation == NAND ? operand(gsi, fold_build1(BIT_NOT_EXPR, type, now)) : now;
}

// The result of the statement, computed from what the function returns.
static tree change_by_call(gimple_stmt_iterator *gsi, const change &c, tree wanted)
{
    tree type = unsigned_of(c.bits), value = converted(gsi, type, c.value),
         expected = build_zero_cst(type);
    if (c.place_of_expected)
        expected = load_from(gsi, place_at(c.place_of_expected, 0, type));
    else if (c.expected)
        expected = converted(gsi, type, c.expected);
    int hook = CHANGE_8 + of_size(c.bits);
    tree old = call(gsi, hook,
                    {operand(gsi, fold_convert(ptr_type_node, c.address)), value, expected,
                     build_int_cst(integer_type_node, c.operation)});
    if (c.place_of_expected)
        gsi_insert_before(gsi, gimple_build_assign(place_at(c.place_of_expected, 0, type), old),
                          GSI_SAME_STMT);
    if (!wanted)
        return NULL_TREE;
    if (c.gives == OLD && TREE_CODE(wanted) == BOOLEAN_TYPE)
        return operand(gsi, fold_build2(NE_EXPR, wanted, old, build_zero_cst(type)));
    if (c.gives == OLD)
        return converted(gsi, wanted, old);
    if (c.gives == NEW)
        return converted(gsi, wanted, new_value(gsi, c, old, value));
    tree done = operand(gsi, fold_build2(EQ_EXPR, boolean_type_node, old, expected));
    if (TREE_CODE(wanted) != COMPLEX_TYPE)
        return operand(gsi, fold_convert(wanted, done));
    return operand(gsi, build2(COMPLEX_EXPR, wanted, converted(gsi, TREE_TYPE(wanted), old),
                               operand(gsi, fold_convert(TREE_TYPE(wanted), done))));
}

// It may be in a window, too.
static void look_at_expected(gcall *stmt, const change &c)
{
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    gassign *load = gimple_build_assign(make_ssa_name(unsigned_of(c.bits)),
                                        place_at(c.place_of_expected, 0, unsigned_of(c.bits)));
    gsi_insert_before(&gsi, load, GSI_SAME_STMT);
    report_result(load, operand(&gsi, fold_convert(const_ptr_type_node, c.place_of_expected)),
                  &gsi);
}

// The statement is in a block of its own then, for where no window is near; in the other one the
// function is called.
static void replace(gcall *stmt, const change &c)
{
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    tree lhs = gimple_call_lhs(stmt);
    edge past =
        put_if(&gsi, slot_of(&gsi, c.address)); // to the block that begins with the statement
    edge on = split_block(past->dest, stmt);
    tree reported = change_by_call(&gsi, c, lhs ? TREE_TYPE(lhs) : NULL_TREE);
    edge as_reported = go_on(&gsi, on->dest);
    if (!lhs)
        return;
    tree made = make_ssa_name(TREE_TYPE(lhs), stmt);
    gimple_call_set_lhs(stmt, made);
    gphi *phi = create_phi_node(lhs, on->dest);
    add_phi_arg(phi, made, on, UNKNOWN_LOCATION);
    add_phi_arg(phi, reported, as_reported, UNKNOWN_LOCATION);
    update_stmt(stmt);
}

bool track_atomic(gcall *stmt, const char *name)
{
    gimple_stmt_iterator gsi;
    change c;
    if (name && (begins(name, "__atomic_thread_fence") || begins(name, "__atomic_signal_fence") ||
                 begins(name, "__sync_synchronize") || begins(name, "__atomic_always_lock_free") ||
                 begins(name, "__atomic_is_lock_free") || begins(name, "__atomic_feraiseexcept")))
        return true;
    if (!behind(stmt, &gsi))
        return false;
    bool loads = name && begins(name, "__atomic_load_"),
         stores = name && begins(name, "__atomic_store_"),
         clears = name && (begins(name, "__sync_lock_release_") || begins(name, "__atomic_clear"));
    if (!loads && !stores && !clears) {
        if (!understand(stmt, name, &c) ||
            (gimple_call_lhs(stmt) && TREE_CODE(gimple_call_lhs(stmt)) != SSA_NAME))
            return false;
        if (c.place_of_expected)
            look_at_expected(stmt, c);
        replace(stmt, c);
        return true;
    }
    if (gimple_call_num_args(stmt) != (loads    ? 2
                                       : stores ? 3
                                                : gimple_call_num_args(stmt)) ||
        (loads && !gimple_call_lhs(stmt)))
        return loads; // nobody looks
    tree address = operand(&gsi, fold_convert(const_ptr_type_node, gimple_call_arg(stmt, 0)));
    if (loads)
        report_result(stmt, address, &gsi);
    else if (stores)
        report_stored(address, gimple_call_arg(stmt, 1), &gsi);
    else
        report_stored(address,
                      build_zero_cst(unsigned_of(
                          begins(name, "__atomic")
                              ? 8
                              : 8 * (unsigned)atoi(name + strlen("__sync_lock_release_")))),
                      &gsi);
    return true;
}

// If the program uses only a bit or the sign of a result, a pass turns the operation into one of
// too many other forms. It does not if atomic operations are declared to be calls. Up to GCC 15,
// the pass is "fab"; in GCC 16, "isel".

static int inline_atomics;

static const pass_data keep_data = {
    GIMPLE_PASS, "reprise_keep_atomics", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0};

class keep_atomics : public gimple_opt_pass
{
  public:
    keep_atomics(bool begins) : gimple_opt_pass(keep_data, g), begins(begins)
    {
    }
    opt_pass *clone() final override
    {
        return new keep_atomics(begins);
    }
    unsigned execute(function *) final override
    {
        if (begins) {
            inline_atomics = flag_inline_atomics;
            flag_inline_atomics = 0;
        } else {
            flag_inline_atomics = inline_atomics;
        }
        return 0;
    }

  private:
    bool begins;
};

void keep_atomics_plain(const char *plugin)
{
    const char *pass = BUILDING_GCC_MAJOR < 16 ? "fab" : "isel";
    register_pass_info before = {new keep_atomics(true), pass, 0, PASS_POS_INSERT_BEFORE},
                       after = {new keep_atomics(false), pass, 0, PASS_POS_INSERT_AFTER};

    register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &before);
    register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &after);
}

} // namespace track
