// SPDX-License-Identifier: MIT
// A plugin of GCC: code that it compiles tells of its loads and stores, where a window may be near (base/track.h). The method is that of llvm_track.cc, whose head explains it.
//
// Atomic operations that read and write are refused, and so are vectors of which some elements are loaded: GCC has too many forms of them. Of bit-fields, the word around is loaded. Stores that are not told of (by calls that return structures, to bit-fields) do no harm: they
// are found when they are next loaded, and written down then.
#include <gcc-plugin.h>
#include <plugin-version.h>
#include <coretypes.h>
#include <backend.h>
#include <tree.h>
#include <gimple.h>
#include <tree-pass.h>
#include <ssa.h>
#include <cgraph.h>
#include <cfgloop.h>
#include <cfghooks.h>
#include <gimple-iterator.h>
#include <gimplify.h>
#include <gimplify-me.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <tree-phinodes.h>
#include <ssa-iterators.h>
#include <tree-ssa-address.h>
#include <internal-fn.h>
#include <stringpool.h>
#include <attribs.h>
#include <fold-const.h>
#include <diagnostic-core.h>
#include <output.h>
#include <context.h>
#include <vector>

int plugin_is_GPL_compatible;

namespace {

const unsigned page_bits = 12, slots = 1 << 16; // as base/track.h says

enum { LOAD_8, LOAD_16, LOAD_32, LOAD_64, LOAD_N, STORE_8, STORE_16, STORE_32, STORE_64, STORE_N, COPY, FILL, HOOKS };
tree hooks[HOOKS]; // their declarations
tree table;

// Declarations

tree declare_hook(const char *name, tree result, std::vector<tree> parameters)
{
    tree decl = build_fn_decl(name, build_function_type_array(result, (int)parameters.size(), parameters.data()));
    DECL_VISIBILITY(decl) = VISIBILITY_HIDDEN;
    DECL_VISIBILITY_SPECIFIED(decl) = 1;
    TREE_NOTHROW(decl) = 1;
    return decl;
}

tree unsigned_of(unsigned bits) { return build_nonstandard_integer_type(bits, 1); }

void declare_all()
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned bits = 8u << i;
        char load[32], store[32];
        snprintf(load, sizeof load, "reprise_track_load_%u", bits);
        snprintf(store, sizeof store, "reprise_track_store_%u", bits);
        hooks[LOAD_8 + i] = declare_hook(load, unsigned_of(bits), {const_ptr_type_node, unsigned_of(bits)});
        hooks[STORE_8 + i] = declare_hook(store, void_type_node, {const_ptr_type_node, unsigned_of(bits)});
    }
    hooks[LOAD_N] = declare_hook("reprise_track_load_n", void_type_node, {const_ptr_type_node, ptr_type_node, size_type_node});
    hooks[STORE_N] = declare_hook("reprise_track_store_n", void_type_node, {const_ptr_type_node, const_ptr_type_node, size_type_node});
    hooks[COPY] = declare_hook("reprise_track_copy", ptr_type_node, {ptr_type_node, const_ptr_type_node, size_type_node});
    hooks[FILL] = declare_hook("reprise_track_fill", ptr_type_node, {ptr_type_node, integer_type_node, size_type_node});
    table = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier("reprise_track"), build_array_type_nelts(unsigned_char_type_node, slots));
    DECL_EXTERNAL(table) = 1;
    TREE_PUBLIC(table) = 1;
    DECL_ARTIFICIAL(table) = 1;
    TREE_USED(table) = 1;
    DECL_VISIBILITY(table) = VISIBILITY_DEFAULT;
    DECL_VISIBILITY_SPECIFIED(table) = 1;
}

// Where

bool is_local(tree decl) { return !is_global_var(decl) && !TREE_ADDRESSABLE(decl); }

// Whether a window may have this memory.
bool matters(tree ref)
{
    if (!ref || TREE_CODE(ref) == SSA_NAME || CONSTANT_CLASS_P(ref) || TREE_CODE(ref) == CONSTRUCTOR || TREE_CODE(ref) == ADDR_EXPR)
        return false;
    tree base = get_base_address(ref);
    if (!base || TREE_CODE(base) == SSA_NAME || CONSTANT_CLASS_P(base) || TREE_CODE(base) == CONST_DECL)
        return false;
    if (!DECL_P(base))
        return true;
    return !is_local(base) && !(TREE_READONLY(base) && !TREE_THIS_VOLATILE(base)) && !(VAR_P(base) && DECL_HARD_REGISTER(base));
}

bool is_bit_field(tree ref) { return TREE_CODE(ref) == BIT_FIELD_REF || (TREE_CODE(ref) == COMPONENT_REF && DECL_BIT_FIELD(TREE_OPERAND(ref, 1))); }

tree size_of(tree type) { return TYPE_SIZE_UNIT(type); }
HOST_WIDE_INT known_size(tree type) { return size_of(type) && tree_fits_shwi_p(size_of(type)) ? tree_to_shwi(size_of(type)) : -1; }

// Emitting. `gsi` is a statement before which things are put.

tree operand(gimple_stmt_iterator *gsi, tree expression) { return force_gimple_operand_gsi(gsi, expression, true, NULL_TREE, true, GSI_SAME_STMT); }

tree address_of(gimple_stmt_iterator *gsi, tree ref)
{
    tree base = get_base_address(ref);
    if (DECL_P(base))
        TREE_ADDRESSABLE(base) = 1;
    if (TREE_CODE(ref) == TARGET_MEM_REF)
        return operand(gsi, fold_convert(const_ptr_type_node, tree_mem_ref_addr(ptr_type_node, unshare_expr(ref))));
    return operand(gsi, fold_convert(const_ptr_type_node, build_fold_addr_expr(unshare_expr(ref))));
}

tree converted(gimple_stmt_iterator *gsi, tree type, tree value)
{
    bool plain = (INTEGRAL_TYPE_P(TREE_TYPE(value)) || POINTER_TYPE_P(TREE_TYPE(value))) && (INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type));
    return operand(gsi, plain ? fold_convert(type, value) : fold_build1(VIEW_CONVERT_EXPR, type, value));
}

// 0: by its place
unsigned bits_by_value(tree type)
{
    HOST_WIDE_INT size = known_size(type);
    return size == 1 || size == 2 || size == 4 || size == 8 ? (unsigned)size * 8 : 0;
}

int of_size(unsigned bits) { return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3; }

tree new_room(tree type)
{
    tree room = create_tmp_var_raw(TYPE_MAIN_VARIANT(type));
    TREE_ADDRESSABLE(room) = 1;
    gimple_add_tmp_var(room);
    return room;
}

location_t here; // of the statement that is tracked

tree call(gimple_stmt_iterator *gsi, int hook, std::vector<tree> arguments)
{
    vec<tree> list = vNULL;
    for (tree argument : arguments)
        list.safe_push(argument);
    gcall *made = gimple_build_call_vec(hooks[hook], list);
    list.release();
    tree result = TREE_TYPE(TREE_TYPE(hooks[hook])), value = NULL_TREE;
    if (!VOID_TYPE_P(result)) {
        value = make_ssa_name(result, made);
        gimple_call_set_lhs(made, value);
    }
    gimple_set_location(made, here);
    gsi_insert_before(gsi, made, GSI_SAME_STMT);
    return value;
}

tree tell_load(gimple_stmt_iterator *gsi, tree address, tree value)
{
    tree type = TREE_TYPE(value);
    if (unsigned bits = bits_by_value(type))
        return converted(gsi, type, call(gsi, LOAD_8 + of_size(bits), {address, converted(gsi, unsigned_of(bits), value)}));
    tree room = new_room(type), told = make_ssa_name(type);
    gsi_insert_before(gsi, gimple_build_assign(room, value), GSI_SAME_STMT);
    call(gsi, LOAD_N, {address, build_fold_addr_expr(room), fold_convert(size_type_node, size_of(type))});
    gsi_insert_before(gsi, gimple_build_assign(told, room), GSI_SAME_STMT);
    return told;
}

void tell_store(gimple_stmt_iterator *gsi, tree address, tree value)
{
    tree type = TREE_TYPE(value);
    if (unsigned bits = bits_by_value(type)) {
        call(gsi, STORE_8 + of_size(bits), {address, converted(gsi, unsigned_of(bits), value)});
        return;
    }
    tree room = new_room(type);
    gsi_insert_before(gsi, gimple_build_assign(room, value), GSI_SAME_STMT);
    call(gsi, STORE_N, {address, build_fold_addr_expr(room), fold_convert(size_type_node, size_of(type))});
}

// A block that is executed if a window is near, from `gsi` on; what follows is in the block after it. `gsi` then is at the end of the new block.
edge put_filter(gimple_stmt_iterator *gsi, tree address)
{
    tree page = operand(gsi, fold_build2(RSHIFT_EXPR, size_type_node, operand(gsi, fold_convert(size_type_node, address)), build_int_cst(integer_type_node, page_bits)));
    tree slot = operand(gsi, fold_build2(BIT_AND_EXPR, size_type_node, page, size_int(slots - 1)));
    tree near = make_ssa_name(unsigned_char_type_node);
    gsi_insert_before(gsi, gimple_build_assign(near, build4(ARRAY_REF, unsigned_char_type_node, table, slot, NULL_TREE, NULL_TREE)), GSI_SAME_STMT);
    gcond *condition = gimple_build_cond(NE_EXPR, near, build_zero_cst(unsigned_char_type_node), NULL_TREE, NULL_TREE);
    gsi_insert_before(gsi, condition, GSI_SAME_STMT);

    edge past = split_block(condition->bb, condition);
    basic_block before = past->src, after = past->dest, then = create_empty_bb(before);
    if (current_loops && before->loop_father)
        add_bb_to_loop(then, before->loop_father);
    past->flags = (past->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
    past->probability = profile_probability::very_likely();
    edge into = make_edge(before, then, EDGE_TRUE_VALUE);
    into->probability = profile_probability::very_unlikely();
    then->count = into->count();
    make_single_succ_edge(then, after, EDGE_FALLTHRU);
    // A statement to put others before: it is removed in the end.
    *gsi = gsi_start_bb(then);
    gsi_insert_after(gsi, gimple_build_nop(), GSI_NEW_STMT);
    return past;
}

// What a statement gave, as its result says, is looked at behind it.
void tell_result(gimple *stmt, tree address, gimple_stmt_iterator *gsi)
{
    tree lhs = gimple_get_lhs(stmt), value = make_ssa_name(TREE_TYPE(lhs), stmt);
    gimple_set_lhs(stmt, value);
    edge past = put_filter(gsi, address);
    basic_block then = gsi_bb(*gsi), after = past->dest;
    tree told = tell_load(gsi, address, value);
    gsi_remove(gsi, true);
    gphi *phi = create_phi_node(lhs, after);
    add_phi_arg(phi, value, past, UNKNOWN_LOCATION);
    add_phi_arg(phi, told, single_succ_edge(then), UNKNOWN_LOCATION);
    update_stmt(stmt);
}

void tell_stored(tree address, tree value, gimple_stmt_iterator *gsi)
{
    put_filter(gsi, address);
    tell_store(gsi, address, value);
    gsi_remove(gsi, true);
}

// Behind the statement; false: it ends its block.
bool behind(gimple *stmt, gimple_stmt_iterator *gsi)
{
    *gsi = gsi_for_stmt(stmt);
    if (stmt_ends_bb_p(stmt))
        return false;
    gsi_next(gsi);
    if (gsi_end_p(*gsi)) {
        *gsi = gsi_for_stmt(stmt);
        gsi_insert_after(gsi, gimple_build_nop(), GSI_NEW_STMT);
    }
    return true;
}

void refuse(gimple *stmt, const char *what)
{
    error_at(gimple_location(stmt), "%<reprise-cc --track%> with GCC: %s cannot be tracked; clang can", what);
}

// Statements

// The word around a bit-field is loaded in its place, and the field taken from it.
void track_bit_field(gassign *stmt)
{
    tree ref = gimple_assign_rhs1(stmt), field = TREE_CODE(ref) == COMPONENT_REF ? TREE_OPERAND(ref, 1) : NULL_TREE, word = field ? DECL_BIT_FIELD_REPRESENTATIVE(field) : NULL_TREE;
    if (!word || !bits_by_value(TREE_TYPE(word))) {
        refuse(stmt, "a bit-field of this form");
        return;
    }
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    tree around = build3(COMPONENT_REF, TREE_TYPE(word), unshare_expr(TREE_OPERAND(ref, 0)), word, TREE_OPERAND(ref, 2)), value = make_ssa_name(TREE_TYPE(word));
    HOST_WIDE_INT first = (tree_to_shwi(DECL_FIELD_OFFSET(field)) - tree_to_shwi(DECL_FIELD_OFFSET(word))) * BITS_PER_UNIT + tree_to_shwi(DECL_FIELD_BIT_OFFSET(field)) - tree_to_shwi(DECL_FIELD_BIT_OFFSET(word));
    gassign *load = gimple_build_assign(value, around);
    gsi_insert_before(&gsi, load, GSI_SAME_STMT);
    gimple_assign_set_rhs1(stmt, build3(BIT_FIELD_REF, TREE_TYPE(ref), value, DECL_SIZE(field), bitsize_int(first)));
    update_stmt(stmt);
    tree address = address_of(&gsi, around);
    tell_result(load, address, &gsi);
}

void track_assign(gassign *stmt)
{
    tree lhs = gimple_assign_lhs(stmt), rhs = gimple_assign_single_p(stmt) ? gimple_assign_rhs1(stmt) : NULL_TREE;
    gimple_stmt_iterator gsi;
    if (!rhs || gimple_clobber_p(stmt))
        return;
    if (TREE_CODE(lhs) == SSA_NAME) {
        if (!matters(rhs))
            return;
        if (is_bit_field(rhs))
            return track_bit_field(stmt);
        if (TREE_CODE(rhs) == VIEW_CONVERT_EXPR && is_bit_field(TREE_OPERAND(rhs, 0)))
            return refuse(stmt, "a bit-field of this form");
        if (!behind(stmt, &gsi))
            return refuse(stmt, "a load that may throw (-fnon-call-exceptions)");
        tree address = address_of(&gsi, rhs);
        return tell_result(stmt, address, &gsi);
    }
    if (!matters(lhs) && !matters(rhs))
        return;
    if (is_gimple_reg_type(TREE_TYPE(lhs)) && is_gimple_val(rhs)) {
        if (is_bit_field(lhs) || !behind(stmt, &gsi))
            return;
        tree address = address_of(&gsi, lhs);
        return tell_stored(address, rhs, &gsi);
    }
    if (TREE_CODE(rhs) == CONSTRUCTOR || CONSTANT_CLASS_P(rhs) || is_bit_field(lhs) || is_bit_field(rhs) || stmt_ends_bb_p(stmt) || known_size(TREE_TYPE(lhs)) < 0) {
        if (matters(rhs) && !CONSTANT_CLASS_P(rhs) && TREE_CODE(rhs) != CONSTRUCTOR)
            refuse(stmt, "a copy of this form");
        return;
    }
    gsi = gsi_for_stmt(stmt);
    tree to = address_of(&gsi, lhs), from = address_of(&gsi, rhs);
    call(&gsi, COPY, {to, from, fold_convert(size_type_node, size_of(TREE_TYPE(lhs)))});
    unlink_stmt_vdef(stmt);
    gsi_remove(&gsi, true);
}

// Structures that are passed by value are copied first.
void track_arguments(gcall *stmt)
{
    for (unsigned i = 0; i < gimple_call_num_args(stmt); i++) {
        tree argument = gimple_call_arg(stmt, i);
        if (is_gimple_val(argument) || !matters(argument) || known_size(TREE_TYPE(argument)) < 0 || gimple_call_internal_p(stmt))
            continue;
        gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
        tree room = new_room(TREE_TYPE(argument));
        call(&gsi, COPY, {build_fold_addr_expr(room), address_of(&gsi, argument), fold_convert(size_type_node, size_of(TREE_TYPE(argument)))});
        gimple_call_set_arg(stmt, i, room);
        update_stmt(stmt);
    }
}

void become(gcall *stmt, int hook)
{
    gimple_call_set_fndecl(stmt, hooks[hook]);
    gimple_call_set_fntype(stmt, TREE_TYPE(hooks[hook]));
    update_stmt(stmt);
}

bool is_atomic(tree fndecl, const char *name)
{
    const char *own = IDENTIFIER_POINTER(DECL_NAME(fndecl));
    return !strncmp(own, name, strlen(name));
}

void track_atomic(gcall *stmt, tree fndecl)
{
    gimple_stmt_iterator gsi;
    bool loads = is_atomic(fndecl, "__atomic_load_"), stores = is_atomic(fndecl, "__atomic_store_");
    if (is_atomic(fndecl, "__atomic_thread_fence") || is_atomic(fndecl, "__atomic_signal_fence") || is_atomic(fndecl, "__sync_synchronize") || is_atomic(fndecl, "__atomic_always_lock_free") || is_atomic(fndecl, "__atomic_is_lock_free"))
        return;
    if (!(loads || stores) || gimple_call_num_args(stmt) != (loads ? 2 : 3) || !behind(stmt, &gsi))
        return refuse(stmt, IDENTIFIER_POINTER(DECL_NAME(fndecl)));
    tree address = operand(&gsi, fold_convert(const_ptr_type_node, gimple_call_arg(stmt, 0)));
    if (loads && !gimple_call_lhs(stmt))
        return; // nobody looks
    if (loads)
        tell_result(stmt, address, &gsi);
    else
        tell_stored(address, gimple_call_arg(stmt, 1), &gsi);
}

void track_call(gcall *stmt)
{
    if (gimple_call_internal_p(stmt)) {
        internal_fn fn = gimple_call_internal_fn(stmt);
        if (internal_load_fn_p(fn) || internal_gather_scatter_fn_p(fn))
            refuse(stmt, "vectors of which some elements are loaded");
        else if (!strncmp(internal_fn_name(fn), "ATOMIC_", 7))
            refuse(stmt, "an atomic operation that reads and writes");
        return;
    }
    tree fndecl = gimple_call_fndecl(stmt);
    if (gimple_call_builtin_p(stmt, BUILT_IN_MEMCPY) || gimple_call_builtin_p(stmt, BUILT_IN_MEMMOVE))
        return become(stmt, COPY);
    if (gimple_call_builtin_p(stmt, BUILT_IN_MEMSET))
        return become(stmt, FILL);
    if (fndecl && fndecl_built_in_p(fndecl, BUILT_IN_NORMAL) && (is_atomic(fndecl, "__atomic_") || is_atomic(fndecl, "__sync_")))
        return track_atomic(stmt, fndecl);
    track_arguments(stmt);
}

// Who is tracked has effects. Attributes that deny it served their purpose in the passes before this one.
void forget_purity(gcall *stmt)
{
    tree fndecl = gimple_call_fndecl(stmt);
    if (!fndecl || fndecl_built_in_p(fndecl) || !(TREE_READONLY(fndecl) || DECL_PURE_P(fndecl)))
        return;
    TREE_READONLY(fndecl) = 0;
    DECL_PURE_P(fndecl) = 0;
    update_stmt(stmt);
}

const pass_data track_data = {GIMPLE_PASS, "reprise_track", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, TODO_update_ssa_only_virtuals};

class track_pass : public gimple_opt_pass {
public:
    track_pass() : gimple_opt_pass(track_data, g) {}
    bool gate(function *fun) final override { return !lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(fun->decl)); }
    unsigned execute(function *fun) final override;
};

unsigned track_pass::execute(function *fun)
{
    std::vector<gimple *> all;
    basic_block bb;
    if (!table)
        declare_all();
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    FOR_EACH_BB_FN (bb, fun)
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
            all.push_back(gsi_stmt(gsi));
    for (gimple *stmt : all) {
        here = gimple_location(stmt);
        if (gcall *c = dyn_cast<gcall *>(stmt)) {
            forget_purity(c);
            track_call(c);
        } else if (gassign *a = dyn_cast<gassign *>(stmt))
            track_assign(a);
    }
    TREE_READONLY(fun->decl) = 0;
    DECL_PURE_P(fun->decl) = 0;
    mark_virtual_operands_for_renaming(fun);
    return 0;
}

const ggc_root_tab roots[] = {{&hooks, HOOKS, sizeof *hooks, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, {&table, 1, sizeof table, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, LAST_GGC_ROOT_TAB};
plugin_info about = {REPRISE_VERSION, "tells of loads and stores near windows"};

} // namespace

int plugin_init(plugin_name_args *args, plugin_gcc_version *version)
{
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("the plugin %qs of reprise is for GCC %s", args->full_name, gcc_version.basever);
        return 1;
    }
    register_pass_info where = {new track_pass, "optimized", 1, PASS_POS_INSERT_AFTER};
    register_callback(args->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &where);
    register_callback(args->base_name, PLUGIN_REGISTER_GGC_ROOTS, NULL, const_cast<ggc_root_tab *>(roots));
    register_callback(args->base_name, PLUGIN_INFO, NULL, &about);
    return 0;
}
