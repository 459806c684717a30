// SPDX-License-Identifier: MIT
// A plugin of GCC: code that it compiles tells of its loads and stores, where a window may be near (base/track.h). The method is that of llvm_track.cc, whose head explains it, loops that are there three times included.
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
#include <cfgloopmanip.h>
#include <cfghooks.h>
#include <gimple-iterator.h>
#include <gimplify.h>
#include <gimplify-me.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <tree-phinodes.h>
#include <ssa-iterators.h>
#include <tree-ssa-address.h>
#include <tree-ssa-loop.h>
#include <tree-ssa-loop-manip.h>
#include <tree-ssa-loop-niter.h>
#include <tree-scalar-evolution.h>
#include <tree-chrec.h>
#include <internal-fn.h>
#include <stringpool.h>
#include <attribs.h>
#include <fold-const.h>
#include <varasm.h>
#include <diagnostic-core.h>
#include <output.h>
#include <context.h>
#include <set>
#include <vector>

int plugin_is_GPL_compatible;

namespace {

// As base/track.h says. `at` to `size` are in a region, the others behind all regions; all are words.
const unsigned page_bits = 12, slots = 1 << 16, regions = 256, region_size = 64;
enum { AT, BEGINS_8, BEGINS_16, TO_SHADOW, SIZE };
const unsigned loads_offset = slots + regions * region_size, lowest_offset = loads_offset + 8, highest_offset = loads_offset + 16, known_part = loads_offset + 24;

const unsigned most_ranges = 12, longest_loop = 300; // of a loop that is there three times: places, statements
const unsigned near_enough = 256; // bytes between places that are looked at together

enum { LOAD_8, LOAD_16, LOAD_32, LOAD_64, LOAD_N, STORE_8, STORE_16, STORE_32, STORE_64, STORE_N, COPY, FILL, HOOKS };
tree hooks[HOOKS]; // their declarations
tree shared, off; // reprise_track and reprise_track_off
tree any_pointer; // to what may be anything

// Declarations

tree declare_hook(const char *name, tree result, std::vector<tree> parameters)
{
    tree decl = build_fn_decl(name, build_function_type_array(result, (int)parameters.size(), parameters.data()));
    DECL_VISIBILITY(decl) = VISIBILITY_HIDDEN;
    DECL_VISIBILITY_SPECIFIED(decl) = 1;
    TREE_NOTHROW(decl) = 1;
    return decl;
}

tree declare_variable(const char *name, tree type)
{
    tree decl = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(name), type);
    DECL_EXTERNAL(decl) = 1;
    TREE_PUBLIC(decl) = 1;
    DECL_ARTIFICIAL(decl) = 1;
    TREE_USED(decl) = 1;
    DECL_VISIBILITY(decl) = VISIBILITY_DEFAULT;
    DECL_VISIBILITY_SPECIFIED(decl) = 1;
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
    shared = declare_variable("reprise_track", build_array_type_nelts(unsigned_char_type_node, known_part));
    off = declare_variable("reprise_track_off", build_pointer_type(integer_type_node));
    // What is not for a shared library ends up in the executable, where the linker puts the definition.
    set_decl_tls_model(off, flag_shlib ? TLS_MODEL_INITIAL_EXEC : TLS_MODEL_LOCAL_EXEC);
    any_pointer = build_pointer_type_for_mode(char_type_node, ptr_mode, true);
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

// Words and bytes of ours

tree sum_of(tree a, tree b) { return fold_build2(PLUS_EXPR, size_type_node, a, b); }
tree difference_of(tree a, tree b) { return fold_build2(MINUS_EXPR, size_type_node, a, b); }
tree as_word(tree address) { return fold_convert(size_type_node, address); }

// So many bytes behind a pointer there is something of this type, aligned or not.
tree place_at(tree pointer, HOST_WIDE_INT offset, tree type) { return build2(MEM_REF, build_aligned_type(type, BITS_PER_UNIT), pointer, build_int_cst(any_pointer, offset)); }

tree load_from(gimple_stmt_iterator *gsi, tree place)
{
    tree value = make_ssa_name(TYPE_MAIN_VARIANT(TREE_TYPE(place)));
    gsi_insert_before(gsi, gimple_build_assign(value, place), GSI_SAME_STMT);
    return value;
}

tree shared_word(gimple_stmt_iterator *gsi, unsigned offset, tree type) { return load_from(gsi, place_at(build_fold_addr_expr(shared), offset, type)); }

// Volatile: that it is stored again soon is no reason to leave it out.
void store_count(gimple_stmt_iterator *gsi, tree loads, tree count)
{
    tree place = build2(MEM_REF, build_qualified_type(size_type_node, TYPE_QUAL_VOLATILE), loads, build_int_cst(any_pointer, 0));
    TREE_THIS_VOLATILE(place) = 1;
    gsi_insert_before(gsi, gimple_build_assign(place, count), GSI_SAME_STMT);
}

tree slot_of(gimple_stmt_iterator *gsi, tree address)
{
    tree page = operand(gsi, fold_build2(RSHIFT_EXPR, size_type_node, operand(gsi, as_word(address)), build_int_cst(integer_type_node, page_bits)));
    tree slot = operand(gsi, fold_build2(BIT_AND_EXPR, size_type_node, page, size_int(slots - 1)));
    return load_from(gsi, build4(ARRAY_REF, unsigned_char_type_node, shared, slot, NULL_TREE, NULL_TREE));
}

tree region_of(gimple_stmt_iterator *gsi, tree slot)
{
    tree offset = operand(gsi, fold_build2(MULT_EXPR, size_type_node, operand(gsi, as_word(slot)), size_int(region_size)));
    return operand(gsi, fold_build_pointer_plus(build_fold_addr_expr(shared), offset));
}

tree region_word(gimple_stmt_iterator *gsi, tree region, int field) { return load_from(gsi, place_at(region, slots + 8 * field, size_type_node)); }

// Whether accesses pass, as what does so is inside an MPI call: 0 if not.
tree passes(gimple_stmt_iterator *gsi) { return load_from(gsi, place_at(load_from(gsi, off), 0, integer_type_node)); }

tree shadow_of(gimple_stmt_iterator *gsi, tree address, tree to_shadow) { return operand(gsi, fold_convert(ptr_type_node, operand(gsi, sum_of(operand(gsi, as_word(address)), to_shadow)))); }

// Blocks

// Of the loop that another is in. It ends by a statement before which things are put, and which has no other use.
basic_block new_block(basic_block beside, profile_count count)
{
    basic_block made = create_empty_bb(beside);
    if (current_loops && beside->loop_father)
        add_bb_to_loop(made, beside->loop_father);
    made->count = count;
    gimple_stmt_iterator gsi = gsi_start_bb(made);
    gsi_insert_after(&gsi, gimple_build_nop(), GSI_NEW_STMT);
    return made;
}

gimple_stmt_iterator end_of(basic_block made) { return gsi_last_bb(made); }

edge go_on(gimple_stmt_iterator *gsi, basic_block to)
{
    basic_block from = gsi_bb(*gsi);
    gsi_remove(gsi, true);
    return make_single_succ_edge(from, to, EDGE_FALLTHRU);
}

void decide(gimple_stmt_iterator *gsi, tree_code code, tree a, tree b, basic_block usual, basic_block other)
{
    basic_block from = gsi_bb(*gsi);
    gsi_replace(gsi, gimple_build_cond(code, a, b, NULL_TREE, NULL_TREE), false);
    make_edge(from, usual, EDGE_TRUE_VALUE)->probability = profile_probability::very_likely();
    make_edge(from, other, EDGE_FALSE_VALUE)->probability = profile_probability::very_unlikely();
}

// What follows `gsi` is in a block of its own then. `gsi` is at the end of a new block, which is executed before it if the value is not 0. The edge past that one.
edge put_if(gimple_stmt_iterator *gsi, tree value)
{
    gcond *condition = gimple_build_cond(NE_EXPR, value, build_zero_cst(TREE_TYPE(value)), NULL_TREE, NULL_TREE);
    gsi_insert_before(gsi, condition, GSI_SAME_STMT);
    edge past = split_block(condition->bb, condition);
    past->flags = (past->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
    past->probability = profile_probability::very_likely();
    basic_block then = new_block(past->src, past->src->count.apply_probability(profile_probability::very_unlikely()));
    make_edge(past->src, then, EDGE_TRUE_VALUE)->probability = profile_probability::very_unlikely();
    *gsi = end_of(then);
    return past;
}

// What can be looked at as an integer: its bits; else 0.
unsigned bits_in_place(tree type)
{
    bool plain = INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type) || TREE_CODE(type) == REAL_TYPE || (TREE_CODE(type) == VECTOR_TYPE && !VECTOR_BOOLEAN_TYPE_P(type));
    if (!plain || (SCALAR_FLOAT_TYPE_P(type) && (HOST_WIDE_INT)TYPE_PRECISION(type) != 8 * known_size(type)))
        return 0;
    return known_size(type) == 16 ? 128 : bits_by_value(type);
}

// Where the shadow of an access is that is all in one region, and not made inside an MPI call: `gsi` moves on to where that is known. Others go to `slow`.
tree find_shadow(gimple_stmt_iterator *gsi, tree address, tree slot, unsigned bits, basic_block slow)
{
    basic_block near = gsi_bb(*gsi), within = new_block(near, near->count), inside = new_block(within, near->count);
    tree region = region_of(gsi, slot), from = operand(gsi, difference_of(operand(gsi, as_word(address)), region_word(gsi, region, AT)));
    decide(gsi, LT_EXPR, from, region_word(gsi, region, bits <= 64 ? BEGINS_8 : BEGINS_16), within, slow);
    *gsi = end_of(within);
    decide(gsi, EQ_EXPR, passes(gsi), integer_zero_node, inside, slow);
    *gsi = end_of(inside);
    return shadow_of(gsi, address, region_word(gsi, region, TO_SHADOW));
}

// What a statement gave, as its result says, is looked at behind it.
void tell_result(gimple *stmt, tree address, gimple_stmt_iterator *gsi)
{
    tree lhs = gimple_get_lhs(stmt), type = TREE_TYPE(lhs), value = make_ssa_name(type, stmt), slot = slot_of(gsi, address);
    gimple_set_lhs(stmt, value);
    edge past = put_if(gsi, slot), as_seen = NULL;
    if (unsigned bits = bits_in_place(type)) {
        basic_block near = gsi_bb(*gsi), slow = new_block(near, near->count.apply_probability(profile_probability::unlikely())), seen = new_block(near, near->count);
        tree shadow = find_shadow(gsi, address, slot, bits, slow), was = load_from(gsi, place_at(shadow, 0, unsigned_of(bits)));
        decide(gsi, EQ_EXPR, was, converted(gsi, unsigned_of(bits), value), seen, slow);
        *gsi = end_of(seen);
        tree loads = shared_word(gsi, loads_offset, ptr_type_node), count = load_from(gsi, place_at(loads, 0, size_type_node));
        store_count(gsi, loads, operand(gsi, sum_of(count, size_one_node)));
        as_seen = go_on(gsi, past->dest);
        *gsi = end_of(slow);
    }
    tree told = tell_load(gsi, address, value);
    edge as_told = go_on(gsi, past->dest);
    gphi *phi = create_phi_node(lhs, past->dest);
    add_phi_arg(phi, value, past, UNKNOWN_LOCATION);
    if (as_seen)
        add_phi_arg(phi, value, as_seen, UNKNOWN_LOCATION);
    add_phi_arg(phi, told, as_told, UNKNOWN_LOCATION);
    update_stmt(stmt);
}

void tell_stored(tree address, tree value, gimple_stmt_iterator *gsi)
{
    tree slot = slot_of(gsi, address);
    edge past = put_if(gsi, slot);
    if (unsigned bits = bits_in_place(TREE_TYPE(value))) {
        basic_block near = gsi_bb(*gsi), slow = new_block(near, near->count.apply_probability(profile_probability::unlikely()));
        tree shadow = find_shadow(gsi, address, slot, bits, slow), now = converted(gsi, unsigned_of(bits), value);
        gsi_insert_before(gsi, gimple_build_assign(place_at(shadow, 0, unsigned_of(bits)), now), GSI_SAME_STMT);
        go_on(gsi, past->dest);
        *gsi = end_of(slow);
    }
    tell_store(gsi, address, value);
    go_on(gsi, past->dest);
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

// Loops

// From the first byte that a loop accesses at some place of it, or at some that are close together, to behind the last.
struct range {
    tree begin;                // where it is in the first iteration
    HOST_WIDE_INT step, bytes; // how far it moves in each, and how much is accessed
    unsigned object;           // those of one object are in one region, or far
    tree first, end, is_far;   // in front of the loop
};

// A pointer from which a loop goes to places that it accesses; NULL: not known.
struct object {
    tree base;
    tree to_shadow, is_counted; // how far a window's shadow is away, and 1; or 0
};

// The copy of a loop that knows its shadows ahead. Its accesses are those statements that have a uid: one more than the number of the object.
struct watched_loop {
    std::vector<basic_block> blocks;
    std::vector<range> ranges;
    std::vector<object> objects;
    tree_niter_desc iterations;
    tree is_exact; // which they are
    tree loads, count; // where they are counted, and how many there were before the loop
    basic_block front; // in front of it; made by new_block
};

// The pointer that an address is some bytes away from. Any would do: if the places of one object are in several regions the loop is not watched.
tree base_of(tree address, int depth)
{
    while (CONVERT_EXPR_P(address))
        address = TREE_OPERAND(address, 0);
    if (TREE_CODE(address) == ADDR_EXPR)
        return get_base_address(TREE_OPERAND(address, 0));
    tree_code code = TREE_CODE(address);
    tree one = NULL_TREE, other = NULL_TREE;
    if (code == PLUS_EXPR || code == MINUS_EXPR || code == POINTER_PLUS_EXPR) {
        one = TREE_OPERAND(address, 0);
        other = TREE_OPERAND(address, 1);
    } else if (code == SSA_NAME && depth > 0) {
        gassign *stmt = SSA_NAME_IS_DEFAULT_DEF(address) ? NULL : dyn_cast<gassign *>(SSA_NAME_DEF_STMT(address));
        code = stmt ? gimple_assign_rhs_code(stmt) : ERROR_MARK;
        if (CONVERT_EXPR_CODE_P(code) || code == PLUS_EXPR || code == MINUS_EXPR || code == POINTER_PLUS_EXPR)
            one = gimple_assign_rhs1(stmt);
        if (one && !CONVERT_EXPR_CODE_P(code))
            other = gimple_assign_rhs2(stmt);
    }
    tree base = one ? base_of(one, depth - 1) : NULL_TREE;
    if (!base && other && code != MINUS_EXPR)
        base = base_of(other, depth - 1);
    return base ? base : TREE_CODE(address) == SSA_NAME && POINTER_TYPE_P(TREE_TYPE(address)) ? address : NULL_TREE;
}

unsigned object_at(tree begin, watched_loop &found)
{
    tree base = base_of(begin, 10);
    unsigned i = 0;
    while (i < found.objects.size() && !(base && found.objects[i].base == base))
        i++;
    if (i == found.objects.size())
        found.objects.push_back({base, NULL_TREE, NULL_TREE});
    return i;
}

// What a loop adds to an address: so many times a number that moves by the same step in each iteration. Pointers are seen as numbers, of which it is known what they do if they wrap around. False: not known.
bool add_part(class loop *loop, tree part, HOST_WIDE_INT factor, range *sum)
{
    affine_iv iv;
    while (TREE_CODE(part) == SSA_NAME && gimple_assign_cast_p(SSA_NAME_DEF_STMT(part)) && TYPE_PRECISION(TREE_TYPE(gimple_assign_rhs1(SSA_NAME_DEF_STMT(part)))) == TYPE_PRECISION(size_type_node))
        part = gimple_assign_rhs1(SSA_NAME_DEF_STMT(part));
    if (!simple_iv(loop, loop, part, &iv, false) || !cst_and_fits_in_hwi(iv.step))
        return false;
    sum->begin = sum_of(sum->begin, fold_build2(MULT_EXPR, size_type_node, as_word(unshare_expr(iv.base)), build_int_cst(size_type_node, factor)));
    sum->step += int_cst_value(iv.step) * factor;
    return true;
}

bool add_parts(class loop *loop, gimple *stmt, tree ref, range *sum)
{
    poly_int64 bits, first_bit;
    machine_mode mode;
    int is_unsigned, is_reversed, is_volatile;
    tree offset, base = get_inner_reference(ref, &bits, &first_bit, &offset, &mode, &is_unsigned, &is_reversed, &is_volatile);
    HOST_WIDE_INT bit;
    if (is_reversed || !first_bit.is_constant(&bit) || bit % BITS_PER_UNIT != 0)
        return false;
    sum->begin = build_int_cst(size_type_node, bit / BITS_PER_UNIT);
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    if (offset && !add_part(loop, operand(&gsi, unshare_expr(offset)), 1, sum))
        return false;
    if (TREE_CODE(base) == MEM_REF)
        return add_part(loop, TREE_OPERAND(base, 0), 1, sum) && add_part(loop, TREE_OPERAND(base, 1), 1, sum);
    if (TREE_CODE(base) == TARGET_MEM_REF)
        return add_part(loop, TMR_BASE(base), 1, sum) && add_part(loop, TMR_OFFSET(base), 1, sum) && (!TMR_INDEX2(base) || add_part(loop, TMR_INDEX2(base), 1, sum)) &&
               (!TMR_INDEX(base) || add_part(loop, TMR_INDEX(base), TMR_STEP(base) ? int_cst_value(TMR_STEP(base)) : 1, sum));
    return DECL_P(base) && add_part(loop, build_fold_addr_expr(base), 1, sum);
}

// False: it is not known ahead where it goes.
bool find_range(class loop *loop, gimple *stmt, tree ref, watched_loop &found)
{
    range place = {NULL_TREE, 0, known_size(TREE_TYPE(ref)), 0, NULL_TREE, NULL_TREE, NULL_TREE};
    if (place.bytes <= 0 || !add_parts(loop, stmt, ref, &place))
        return false;
    for (range &r : found.ranges) {
        tree apart = fold_convert(ssizetype, difference_of(place.begin, r.begin));
        if (r.step != place.step || !cst_and_fits_in_hwi(apart) || absu_hwi(int_cst_value(apart)) > near_enough)
            continue;
        HOST_WIDE_INT distance = int_cst_value(apart), end = MAX(r.bytes, distance + place.bytes);
        if (distance < 0)
            r.begin = place.begin;
        r.bytes = distance < 0 ? end - distance : end;
        gimple_set_uid(stmt, 1 + r.object);
        return true;
    }
    place.object = object_at(place.begin, found);
    found.ranges.push_back(place);
    gimple_set_uid(stmt, 1 + place.object);
    return true;
}

// Whether a loop may have it, and all is known of where it loads and stores.
bool find_ranges_of(class loop *loop, gimple *stmt, watched_loop &found)
{
    if (is_gimple_debug(stmt) || gimple_clobber_p(stmt))
        return true;
    if (gimple_has_volatile_ops(stmt) || stmt_ends_bb_p(stmt) != is_ctrl_stmt(stmt))
        return false;
    if (gcall *call = dyn_cast<gcall *>(stmt))
        return (gimple_call_internal_p(call) || gimple_call_builtin_p(call)) && !gimple_vuse(stmt) && !gimple_has_side_effects(stmt);
    gassign *assign = dyn_cast<gassign *>(stmt);
    if (!assign)
        return gimple_code(stmt) == GIMPLE_COND || gimple_code(stmt) == GIMPLE_LABEL || gimple_code(stmt) == GIMPLE_NOP || gimple_code(stmt) == GIMPLE_PREDICT;
    if (!gimple_assign_single_p(assign))
        return true;
    tree lhs = gimple_assign_lhs(assign), rhs = gimple_assign_rhs1(assign);
    bool loads = matters(rhs), stores = TREE_CODE(lhs) != SSA_NAME && matters(lhs);
    if (!loads && !stores)
        return true;
    if (loads == stores || !is_gimple_reg_type(TREE_TYPE(lhs)) || (loads ? TREE_CODE(lhs) != SSA_NAME : !is_gimple_val(rhs)))
        return false;
    tree ref = loads ? rhs : lhs;
    return !is_bit_field(ref) && !(TREE_CODE(ref) == VIEW_CONVERT_EXPR && is_bit_field(TREE_OPERAND(ref, 0))) && find_range(loop, stmt, ref, found);
}

std::vector<basic_block> body_of(class loop *loop)
{
    basic_block *blocks = get_loop_body(loop);
    std::vector<basic_block> body(blocks, blocks + loop->num_nodes);
    free(blocks);
    return body;
}

bool find_ranges(class loop *loop, watched_loop &found)
{
    unsigned count = 0;
    std::vector<gimple *> all;
    for (basic_block bb : body_of(loop))
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
            count += !is_gimple_debug(gsi_stmt(gsi));
            all.push_back(gsi_stmt(gsi));
        }
    if (count > longest_loop)
        return false;
    for (gimple *stmt : all)
        if (!find_ranges_of(loop, stmt, found) || found.ranges.size() > most_ranges)
            return false;
    return !found.ranges.empty();
}

tree both(gimple_stmt_iterator *gsi, tree a, tree b) { return operand(gsi, fold_build2(BIT_AND_EXPR, boolean_type_node, a, b)); }
tree either(gimple_stmt_iterator *gsi, tree a, tree b) { return operand(gsi, fold_build2(BIT_IOR_EXPR, boolean_type_node, a, b)); }
tree is(gimple_stmt_iterator *gsi, tree_code code, tree a, tree b) { return operand(gsi, fold_build2(code, boolean_type_node, a, b)); }

// How often the loop goes back to its beginning.
tree times_back(gimple_stmt_iterator *gsi, const tree_niter_desc &iterations)
{
    tree zero = iterations.may_be_zero, times = as_word(unshare_expr(iterations.niter));
    return operand(gsi, zero && !integer_zerop(zero) ? fold_build3(COND_EXPR, size_type_node, unshare_expr(zero), build_zero_cst(size_type_node), times) : times);
}

// Whether all are below or above all windows, and what follows from the number of iterations is right.
tree are_far(gimple_stmt_iterator *gsi, watched_loop &loop)
{
    tree lowest = shared_word(gsi, lowest_offset, size_type_node), highest = shared_word(gsi, highest_offset, size_type_node), times = times_back(gsi, loop.iterations);
    tree far = loop.is_exact = operand(gsi, fold_convert(boolean_type_node, unshare_expr(loop.iterations.assumptions)));
    for (range &r : loop.ranges) {
        tree begin = operand(gsi, unshare_expr(r.begin)), moved = operand(gsi, fold_build2(MULT_EXPR, size_type_node, times, build_int_cst(size_type_node, r.step))), last = operand(gsi, sum_of(begin, moved));
        r.first = r.step < 0 ? last : begin;
        r.end = operand(gsi, sum_of(r.step < 0 ? begin : last, build_int_cst(size_type_node, r.bytes)));
        r.is_far = either(gsi, is(gsi, LE_EXPR, r.end, lowest), is(gsi, GE_EXPR, r.first, highest));
        far = both(gsi, far, r.is_far);
    }
    return far;
}

// Whether each object is all in a region, or far, and the program is not inside an MPI call.
tree are_known(gimple_stmt_iterator *gsi, watched_loop &loop)
{
    tree known = both(gsi, loop.is_exact, is(gsi, EQ_EXPR, passes(gsi), integer_zero_node));
    for (unsigned i = 0; i < loop.objects.size(); i++) {
        tree region = NULL_TREE, at = NULL_TREE, size = NULL_TREE, far = boolean_true_node, inside = boolean_true_node;
        for (const range &r : loop.ranges) {
            if (r.object != i)
                continue;
            if (!region) {
                region = region_of(gsi, slot_of(gsi, r.first));
                at = region_word(gsi, region, AT);
                size = region_word(gsi, region, SIZE);
            }
            tree from = operand(gsi, difference_of(r.first, at)), length = operand(gsi, difference_of(r.end, r.first)), left = operand(gsi, difference_of(size, from));
            inside = both(gsi, inside, both(gsi, is(gsi, LT_EXPR, from, size), is(gsi, LE_EXPR, length, left)));
            far = both(gsi, far, r.is_far);
        }
        inside = both(gsi, inside, operand(gsi, fold_build1(BIT_NOT_EXPR, boolean_type_node, far)));
        known = both(gsi, known, either(gsi, inside, far));
        loop.objects[i].is_counted = operand(gsi, fold_convert(size_type_node, inside));
        tree mask = operand(gsi, fold_build1(NEGATE_EXPR, size_type_node, loop.objects[i].is_counted));
        loop.objects[i].to_shadow = operand(gsi, fold_build2(BIT_AND_EXPR, size_type_node, region_word(gsi, region, TO_SHADOW), mask));
    }
    return known;
}

// The type by which a value is compared, of one word or of several; NULL: none.
tree type_to_compare(tree type)
{
    HOST_WIDE_INT size = known_size(type);
    if (bits_in_place(type) == 0 && !(TREE_CODE(type) == VECTOR_TYPE && !VECTOR_BOOLEAN_TYPE_P(type) && (size == 32 || size == 64)))
        return NULL_TREE;
    if (size <= 8)
        return unsigned_of((unsigned)size * 8);
    tree words = build_vector_type(unsigned_of(64), size / 8);
    return VECTOR_MODE_P(TYPE_MODE(words)) ? words : NULL_TREE;
}

bool can_watch(class loop *loop)
{
    for (basic_block bb : body_of(loop))
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
            if (gimple_uid(gsi_stmt(gsi)) && !type_to_compare(TREE_TYPE(gimple_assign_lhs(gsi_stmt(gsi)))))
                return false;
    return true;
}

std::set<basic_block> done; // blocks of loops that tell of nothing, or know their shadows; and our own

// In front of the loop, at the end of a new block.
gimple_stmt_iterator in_front_of(class loop *loop)
{
    basic_block front = split_edge(loop_preheader_edge(loop));
    gimple_stmt_iterator gsi = gsi_last_bb(front);
    gsi_insert_after(&gsi, gimple_build_nop(), GSI_NEW_STMT);
    done.insert(front);
    return gsi;
}

// The loop runs if the condition holds, which is known in front of it, and else a copy of it, which is returned.
class loop *copy(class loop *loop, tree condition, profile_probability likely)
{
    basic_block unused;
    class loop *other = loop_version(loop, build2(NE_EXPR, boolean_type_node, condition, boolean_false_node), &unused, likely, likely.invert(), likely, likely.invert(), true);
    update_ssa(TODO_update_ssa);
    return other;
}

std::vector<watched_loop> watched;

void divide(class loop *loop)
{
    watched_loop found;
    edge exit = single_exit(loop);
    if (!exit || !number_of_iterations_exit_assumptions(loop, exit, &found.iterations, NULL) || !found.iterations.niter || chrec_contains_undetermined(found.iterations.niter) || !can_duplicate_loop_p(loop) || (loop_preheader_edge(loop)->flags & EDGE_COMPLEX) || !find_ranges(loop, found))
        return;
    bool watches = can_watch(loop);
    gimple_stmt_iterator gsi = in_front_of(loop);
    tree far = are_far(&gsi, found);
    gsi_remove(&gsi, true);
    class loop *near = copy(loop, far, profile_probability::even());
    for (basic_block bb : body_of(loop))
        done.insert(bb);
    if (!near || !watches)
        return;
    gsi = in_front_of(near);
    tree known = are_known(&gsi, found);
    found.loads = shared_word(&gsi, loads_offset, ptr_type_node);
    found.count = load_from(&gsi, place_at(found.loads, 0, size_type_node));
    gsi_remove(&gsi, true);
    copy(near, known, profile_probability::likely());
    gsi = in_front_of(near);
    found.front = gsi_bb(gsi);
    found.blocks = body_of(near);
    done.insert(found.blocks.begin(), found.blocks.end());
    watched.push_back(found);
}

void divide_loops(function *fun)
{
    std::vector<unsigned> innermost;
    loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
    if (number_of_loops(fun) > 1) {
        rewrite_into_loop_closed_ssa(NULL, TODO_update_ssa);
        scev_initialize();
        initialize_original_copy_tables();
        for (unsigned i = 1; i < number_of_loops(fun); i++)
            if (get_loop(fun, i) && !get_loop(fun, i)->inner)
                innermost.push_back(i);
        for (unsigned i : innermost)
            divide(get_loop(fun, i));
        free_original_copy_tables();
        scev_finalize();
    }
    loop_optimizer_finalize();
}

// In a loop that knows its shadows: loads that nothing parts that stores, or may end the program by what they gave. They are counted ahead, so that a process that is killed here has made no more; if all have what their shadows have, that is all. Else each is told, in its order, and counted there. Recording, a load gives
// what it has loaded: so nothing depends on when it is looked at.

tree to_shadow_of(const watched_loop &loop, gimple *access) { return loop.objects[gimple_uid(access) - 1].to_shadow; }

// Words, in one or several, of which one is not 0 if it does.
tree differs(gimple_stmt_iterator *gsi, const watched_loop &loop, gassign *load)
{
    tree value = gimple_assign_lhs(load), type = type_to_compare(TREE_TYPE(value)), shadow = shadow_of(gsi, address_of(gsi, gimple_assign_rhs1(load)), to_shadow_of(loop, load));
    tree was = load_from(gsi, place_at(shadow, 0, type)), difference = operand(gsi, fold_build2(BIT_XOR_EXPR, type, converted(gsi, type, value), was));
    return VECTOR_TYPE_P(type) ? difference : operand(gsi, fold_convert(unsigned_of(64), difference));
}

// One word of all that differs.
tree gather(gimple_stmt_iterator *gsi, const watched_loop &loop, const std::vector<gassign *> &loads)
{
    std::vector<tree> sums; // one of each type
    for (gassign *load : loads) {
        tree difference = differs(gsi, loop, load), *same = NULL;
        for (tree &sum : sums)
            if (known_size(TREE_TYPE(sum)) == known_size(TREE_TYPE(difference)))
                same = &sum;
        if (same)
            *same = operand(gsi, fold_build2(BIT_IOR_EXPR, TREE_TYPE(difference), *same, difference));
        else
            sums.push_back(difference);
    }
    tree all = NULL_TREE;
    for (tree sum : sums)
        for (HOST_WIDE_INT i = 0; i < known_size(TREE_TYPE(sum)) / 8; i++) {
            tree word = VECTOR_TYPE_P(TREE_TYPE(sum)) ? operand(gsi, build3(BIT_FIELD_REF, unsigned_of(64), sum, bitsize_int(64), bitsize_int(64 * i))) : sum;
            all = all ? operand(gsi, fold_build2(BIT_IOR_EXPR, unsigned_of(64), all, word)) : word;
        }
    return all;
}

// It takes the place of the count before it, wherever that is used from there on: once all are made, SSA is updated. That takes what is defined in a block for defined before all of its uses there: so it is defined in a block of its own, where `gsi` is then.
tree next_count(gimple_stmt_iterator *gsi, tree count, tree more)
{
    gimple *first = SSA_NAME_DEF_STMT(count);
    tree sum = operand(gsi, sum_of(count, more));
    *gsi = gsi_start_bb(split_block(gsi_bb(*gsi), SSA_NAME_DEF_STMT(sum))->dest);
    gassign *take = gimple_build_assign(count, sum);
    tree next = create_new_def_for(count, take, NULL);
    gimple_assign_set_lhs(take, next);
    SSA_NAME_DEF_STMT(count) = first;
    SSA_NAME_DEF_STMT(next) = take;
    gsi_insert_before(gsi, take, GSI_SAME_STMT);
    return next;
}

void watch_segment(const watched_loop &loop, const std::vector<gassign *> &loads)
{
    gimple_stmt_iterator front = end_of(loop.front), gsi = gsi_for_stmt(loads.front());
    tree more = NULL_TREE;
    for (gassign *load : loads) {
        tree one = loop.objects[gimple_uid(load) - 1].is_counted;
        more = more ? operand(&front, sum_of(more, one)) : one;
    }
    tree count = next_count(&gsi, loop.count, more);
    store_count(&gsi, loop.loads, count);
    behind(loads.back(), &gsi);
    edge past = put_if(&gsi, gather(&gsi, loop, loads));
    store_count(&gsi, loop.loads, operand(&gsi, difference_of(count, more)));
    for (gassign *load : loads) {
        here = gimple_location(load);
        tell_load(&gsi, address_of(&gsi, gimple_assign_rhs1(load)), gimple_assign_lhs(load));
    }
    go_on(&gsi, past->dest);
}

void watch_store(const watched_loop &loop, gassign *store)
{
    gimple_stmt_iterator gsi;
    behind(store, &gsi);
    tree shadow = shadow_of(&gsi, address_of(&gsi, gimple_assign_lhs(store)), to_shadow_of(loop, store));
    gsi_insert_before(&gsi, gimple_build_assign(place_at(shadow, 0, TYPE_MAIN_VARIANT(TREE_TYPE(gimple_assign_lhs(store)))), gimple_assign_rhs1(store)), GSI_SAME_STMT);
}

void watch(const watched_loop &loop)
{
    std::vector<std::vector<gassign *>> segments;
    std::vector<gassign *> stores;
    for (basic_block bb : loop.blocks) {
        segments.emplace_back();
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
            gimple *stmt = gsi_stmt(gsi);
            if (gimple_uid(stmt) && !gimple_vdef(stmt)) {
                segments.back().push_back(as_a<gassign *>(stmt));
                continue;
            }
            if (gimple_uid(stmt))
                stores.push_back(as_a<gassign *>(stmt));
            if (gimple_vdef(stmt) || gimple_could_trap_p(stmt))
                segments.emplace_back();
        }
    }
    for (gassign *store : stores)
        watch_store(loop, store);
    for (auto &segment : segments)
        if (!segment.empty())
            watch_segment(loop, segment);
    gimple_stmt_iterator front = end_of(loop.front);
    gsi_remove(&front, true);
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

const pass_data track_data = {GIMPLE_PASS, "reprise_track", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, TODO_update_ssa};

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
    if (!shared)
        declare_all();
    FOR_EACH_BB_FN (bb, fun)
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
            gimple_set_uid(gsi_stmt(gsi), 0);
    done.clear();
    watched.clear();
    if (optimize)
        divide_loops(fun);
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    FOR_EACH_BB_FN (bb, fun)
        if (!done.count(bb))
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
    for (const watched_loop &loop : watched)
        watch(loop);
    TREE_READONLY(fun->decl) = 0;
    DECL_PURE_P(fun->decl) = 0;
    mark_virtual_operands_for_renaming(fun);
    return 0;
}

const ggc_root_tab roots[] = {{&hooks, HOOKS, sizeof *hooks, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, {&shared, 1, sizeof shared, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, {&off, 1, sizeof off, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, {&any_pointer, 1, sizeof any_pointer, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, LAST_GGC_ROOT_TAB};
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
