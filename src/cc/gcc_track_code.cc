// SPDX-License-Identifier: MIT
// What the plugin puts into the code (gcc_track.h): where a window may be near, the code compares
// the value with its shadow, as the head of llvm_track.cc shows. It calls a function only for an
// access that differs from its shadow, or is not all in one region.
#include "gcc_track.h"

#include <plugin-version.h>
#include <cfghooks.h>
#include <gimplify.h>
#include <gimplify-me.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <tree-phinodes.h>
#include <tree-ssa-address.h>
#include <stringpool.h>
#include <attribs.h>
#include <varasm.h>

namespace track
{

tree hooks[HOOKS];
static tree shared, off; // reprise_track and reprise_track_off
static tree any_pointer; // to what may be anything
const ggc_root_tab roots[] = {
    {&hooks, HOOKS, sizeof *hooks, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&shared, 1, sizeof shared, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&off, 1, sizeof off, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    {&any_pointer, 1, sizeof any_pointer, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
    LAST_GGC_ROOT_TAB};

// Declarations

static tree declare_hook(const char *name, tree result, std::vector<tree> parameters)
{
    tree decl = build_fn_decl(name, build_function_type_array(result, (int)parameters.size(),
                                                              parameters.data()));
    DECL_VISIBILITY(decl) = VISIBILITY_HIDDEN;
    DECL_VISIBILITY_SPECIFIED(decl) = 1;
    TREE_NOTHROW(decl) = 1;
    return decl;
}

static tree declare_variable(const char *name, tree type)
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

tree unsigned_of(unsigned bits)
{
    return build_nonstandard_integer_type(bits, 1);
}

void declare_all()
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned bits = 8u << i;
        char load[32], store[32], change[32];
        snprintf(load, sizeof load, "reprise_track_load_%u", bits);
        snprintf(store, sizeof store, "reprise_track_store_%u", bits);
        hooks[LOAD_8 + i] =
            declare_hook(load, unsigned_of(bits), {const_ptr_type_node, unsigned_of(bits)});
        snprintf(change, sizeof change, "reprise_track_change_%u", bits);
        hooks[CHANGE_8 + i] =
            declare_hook(change, unsigned_of(bits),
                         {ptr_type_node, unsigned_of(bits), unsigned_of(bits), integer_type_node});
        hooks[STORE_8 + i] =
            declare_hook(store, void_type_node, {const_ptr_type_node, unsigned_of(bits)});
    }
    hooks[LOAD_N] = declare_hook("reprise_track_load_n", void_type_node,
                                 {const_ptr_type_node, ptr_type_node, size_type_node});
    hooks[STORE_N] = declare_hook("reprise_track_store_n", void_type_node,
                                  {const_ptr_type_node, const_ptr_type_node, size_type_node});
    hooks[LOAD_MASKED] = declare_hook("reprise_track_load_masked", void_type_node,
                                      {const_ptr_type_node, ptr_type_node, const_ptr_type_node,
                                       size_type_node, size_type_node});
    hooks[STORE_MASKED] = declare_hook("reprise_track_store_masked", void_type_node,
                                       {const_ptr_type_node, const_ptr_type_node,
                                        const_ptr_type_node, size_type_node, size_type_node});
    hooks[COPY] = declare_hook("reprise_track_copy", ptr_type_node,
                               {ptr_type_node, const_ptr_type_node, size_type_node});
    hooks[FILL] = declare_hook("reprise_track_fill", ptr_type_node,
                               {ptr_type_node, integer_type_node, size_type_node});
    hooks[COPY_CHECKED] =
        declare_hook("reprise_track_copy_checked", ptr_type_node,
                     {ptr_type_node, const_ptr_type_node, size_type_node, size_type_node});
    hooks[FILL_CHECKED] =
        declare_hook("reprise_track_fill_checked", ptr_type_node,
                     {ptr_type_node, integer_type_node, size_type_node, size_type_node});
    shared = declare_variable("reprise_track",
                              build_array_type_nelts(unsigned_char_type_node, known_part));
    off = declare_variable("reprise_track_off", build_pointer_type(integer_type_node));
    // What is not for a shared library ends up in the executable, where the linker puts the
    // definition.
    set_decl_tls_model(off, flag_shlib ? TLS_MODEL_INITIAL_EXEC : TLS_MODEL_LOCAL_EXEC);
    any_pointer = build_pointer_type_for_mode(char_type_node, ptr_mode, true);
}

// Where

static bool is_local(tree decl)
{
    return !is_global_var(decl) && !TREE_ADDRESSABLE(decl);
}

bool matters(tree ref)
{
    if (!ref || TREE_CODE(ref) == SSA_NAME || CONSTANT_CLASS_P(ref) ||
        TREE_CODE(ref) == CONSTRUCTOR || TREE_CODE(ref) == ADDR_EXPR)
        return false;
    tree base = get_base_address(ref);
    if (!base || TREE_CODE(base) == SSA_NAME || CONSTANT_CLASS_P(base) ||
        TREE_CODE(base) == CONST_DECL)
        return false;
    if (!DECL_P(base))
        return TREE_CODE(base) == MEM_REF || TREE_CODE(base) == TARGET_MEM_REF;
    return !is_local(base) && !(TREE_READONLY(base) && !TREE_THIS_VOLATILE(base)) &&
           !(VAR_P(base) && DECL_HARD_REGISTER(base));
}

bool is_bit_field(tree ref)
{
    return TREE_CODE(ref) == BIT_FIELD_REF ||
           (TREE_CODE(ref) == COMPONENT_REF && DECL_BIT_FIELD(TREE_OPERAND(ref, 1)));
}

bool is_masked(gimple *stmt)
{
    return gimple_call_internal_p(stmt, IFN_MASK_LOAD) ||
           gimple_call_internal_p(stmt, IFN_MASK_STORE);
}
tree size_of(tree type)
{
    return TYPE_SIZE_UNIT(type);
}
HOST_WIDE_INT known_size(tree type)
{
    return size_of(type) && tree_fits_shwi_p(size_of(type)) ? tree_to_shwi(size_of(type)) : -1;
}

// Emitting

tree operand(gimple_stmt_iterator *gsi, tree expression)
{
    return force_gimple_operand_gsi(gsi, expression, true, NULL_TREE, true, GSI_SAME_STMT);
}

tree address_of(gimple_stmt_iterator *gsi, tree ref)
{
    tree base = get_base_address(ref);
    if (DECL_P(base))
        TREE_ADDRESSABLE(base) = 1;
    if (TREE_CODE(ref) == TARGET_MEM_REF)
        return operand(gsi, fold_convert(const_ptr_type_node,
                                         tree_mem_ref_addr(ptr_type_node, unshare_expr(ref))));
    return operand(gsi, fold_convert(const_ptr_type_node, build_fold_addr_expr(unshare_expr(ref))));
}

tree converted(gimple_stmt_iterator *gsi, tree type, tree value)
{
    bool plain = (INTEGRAL_TYPE_P(TREE_TYPE(value)) || POINTER_TYPE_P(TREE_TYPE(value))) &&
                 (INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type));
    return operand(gsi,
                   plain ? fold_convert(type, value) : fold_build1(VIEW_CONVERT_EXPR, type, value));
}

unsigned bits_by_value(tree type)
{
    HOST_WIDE_INT size = known_size(type);
    return size == 1 || size == 2 || size == 4 || size == 8 ? (unsigned)size * 8 : 0;
}

int of_size(unsigned bits)
{
    return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

tree new_room(tree type)
{
    tree room = create_tmp_var_raw(TYPE_MAIN_VARIANT(type));
    TREE_ADDRESSABLE(room) = 1;
    gimple_add_tmp_var(room);
    return room;
}

location_t here;

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

#if GCCPLUGIN_VERSION_MAJOR < 11 // which has no such function
tree type_of_mask(tree, tree)
{
    return NULL_TREE;
}
static tree room_of_mask(gimple_stmt_iterator *, tree, tree)
{
    gcc_unreachable();
}
#else
tree type_of_mask(tree vector, tree mask)
{
    tree element = unsigned_of((unsigned)known_size(TREE_TYPE(vector)) * 8),
         type = known_size(vector) > 0 ? build_vector_type(element, TYPE_VECTOR_SUBPARTS(vector))
                                       : NULL_TREE;
    return type && VECTOR_MODE_P(TYPE_MODE(type)) &&
                   direct_internal_fn_supported_p(IFN_VCOND_MASK, tree_pair(type, mask),
                                                  OPTIMIZE_FOR_SPEED)
               ? type
               : NULL_TREE;
}

static tree room_of_mask(gimple_stmt_iterator *gsi, tree vector, tree mask)
{
    tree type = type_of_mask(vector, TREE_TYPE(mask)), room = new_room(type),
         value = make_ssa_name(type);
    gcall *spread = gimple_build_call_internal(IFN_VCOND_MASK, 3, mask, build_minus_one_cst(type),
                                               build_zero_cst(type));
    gimple_call_set_lhs(spread, value);
    gsi_insert_before(gsi, spread, GSI_SAME_STMT);
    gsi_insert_before(gsi, gimple_build_assign(room, value), GSI_SAME_STMT);
    return room;
}
#endif

static void report_masked(gimple_stmt_iterator *gsi, int hook, tree address, tree room, tree mask)
{
    tree type = TREE_TYPE(room);
    call(gsi, hook,
         {address, build_fold_addr_expr(room), build_fold_addr_expr(room_of_mask(gsi, type, mask)),
          fold_convert(size_type_node, size_of(type)),
          fold_convert(size_type_node, size_of(TREE_TYPE(type)))});
}

// The bytes that count: those behind them in a long double do not.
static tree size_to_tell(tree type)
{
    bool padded = SCALAR_FLOAT_TYPE_P(type) && TYPE_PRECISION(type) % BITS_PER_UNIT == 0 &&
                  (HOST_WIDE_INT)TYPE_PRECISION(type) < 8 * known_size(type);
    return padded ? build_int_cst(size_type_node, TYPE_PRECISION(type) / BITS_PER_UNIT)
                  : fold_convert(size_type_node, size_of(type));
}

tree report_load(gimple_stmt_iterator *gsi, tree address, tree value, tree mask)
{
    tree type = TREE_TYPE(value);
    if (unsigned bits = mask ? 0 : bits_by_value(type))
        return converted(gsi, type,
                         call(gsi, LOAD_8 + of_size(bits),
                              {address, converted(gsi, unsigned_of(bits), value)}));
    tree room = new_room(type), reported = make_ssa_name(type);
    gsi_insert_before(gsi, gimple_build_assign(room, value), GSI_SAME_STMT);
    if (mask)
        report_masked(gsi, LOAD_MASKED, address, room, mask);
    else
        call(gsi, LOAD_N, {address, build_fold_addr_expr(room), size_to_tell(type)});
    gsi_insert_before(gsi, gimple_build_assign(reported, room), GSI_SAME_STMT);
    return reported;
}

static void report_store(gimple_stmt_iterator *gsi, tree address, tree value, tree mask)
{
    tree type = TREE_TYPE(value);
    if (unsigned bits = mask ? 0 : bits_by_value(type)) {
        call(gsi, STORE_8 + of_size(bits), {address, converted(gsi, unsigned_of(bits), value)});
        return;
    }
    tree room = new_room(type);
    gsi_insert_before(gsi, gimple_build_assign(room, value), GSI_SAME_STMT);
    if (mask)
        report_masked(gsi, STORE_MASKED, address, room, mask);
    else
        call(gsi, STORE_N, {address, build_fold_addr_expr(room), size_to_tell(type)});
}

// Words and bytes of ours

tree sum_of(tree a, tree b)
{
    return fold_build2(PLUS_EXPR, size_type_node, a, b);
}
tree difference_of(tree a, tree b)
{
    return fold_build2(MINUS_EXPR, size_type_node, a, b);
}
tree as_word(tree address)
{
    return fold_convert(size_type_node, address);
}

tree place_at(tree pointer, HOST_WIDE_INT offset, tree type)
{
    return build2(MEM_REF, build_aligned_type(type, BITS_PER_UNIT), pointer,
                  build_int_cst(any_pointer, offset));
}

tree load_from(gimple_stmt_iterator *gsi, tree place)
{
    tree value = make_ssa_name(TYPE_MAIN_VARIANT(TREE_TYPE(place)));
    gsi_insert_before(gsi, gimple_build_assign(value, place), GSI_SAME_STMT);
    return value;
}

tree shared_word(gimple_stmt_iterator *gsi, unsigned offset, tree type)
{
    return load_from(gsi, place_at(build_fold_addr_expr(shared), offset, type));
}

// Volatile: that it is stored again soon is no reason to leave it out.
void store_count(gimple_stmt_iterator *gsi, tree loads, tree count)
{
    tree place = build2(MEM_REF, build_qualified_type(size_type_node, TYPE_QUAL_VOLATILE), loads,
                        build_int_cst(any_pointer, 0));
    TREE_THIS_VOLATILE(place) = 1;
    gsi_insert_before(gsi, gimple_build_assign(place, count), GSI_SAME_STMT);
}

tree slot_of(gimple_stmt_iterator *gsi, tree address)
{
    tree page =
        operand(gsi, fold_build2(RSHIFT_EXPR, size_type_node, operand(gsi, as_word(address)),
                                 build_int_cst(integer_type_node, page_bits)));
    tree slot = operand(gsi, fold_build2(BIT_AND_EXPR, size_type_node, page, size_int(slots - 1)));
    return load_from(gsi, build4(ARRAY_REF, unsigned_char_type_node, shared, slot, NULL_TREE,
                                 NULL_TREE));
}

tree slot_near(gimple_stmt_iterator *gsi, tree address, tree type)
{
    return known_size(type) > 0 && known_size(type) <= widest
               ? slot_of(gsi, address)
               : shared_word(gsi, highest_offset, size_type_node);
}

tree region_of(gimple_stmt_iterator *gsi, tree slot)
{
    tree offset = operand(gsi, fold_build2(MULT_EXPR, size_type_node, operand(gsi, as_word(slot)),
                                           size_int(region_size)));
    return operand(gsi, fold_build_pointer_plus(build_fold_addr_expr(shared), offset));
}

tree region_word(gimple_stmt_iterator *gsi, tree region, int field)
{
    return load_from(gsi, place_at(region, slots + 8 * field, size_type_node));
}

tree passes(gimple_stmt_iterator *gsi)
{
    return load_from(gsi, place_at(load_from(gsi, off), 0, integer_type_node));
}

tree shadow_of(gimple_stmt_iterator *gsi, tree address, tree to_shadow)
{
    return operand(gsi,
                   fold_convert(ptr_type_node,
                                operand(gsi, sum_of(operand(gsi, as_word(address)), to_shadow))));
}

// Blocks

// Of the loop that another is in.
static basic_block new_block(basic_block beside, profile_count count)
{
    basic_block made = create_empty_bb(beside);
    if (current_loops && beside->loop_father)
        add_bb_to_loop(made, beside->loop_father);
    made->count = count;
    gimple_stmt_iterator gsi = gsi_start_bb(made);
    gsi_insert_after(&gsi, gimple_build_nop(), GSI_NEW_STMT);
    return made;
}

gimple_stmt_iterator end_of(basic_block made)
{
    return gsi_last_bb(made);
}

edge go_on(gimple_stmt_iterator *gsi, basic_block to)
{
    basic_block from = gsi_bb(*gsi);
    gsi_remove(gsi, true);
    return make_single_succ_edge(from, to, EDGE_FALLTHRU);
}

static void decide(gimple_stmt_iterator *gsi, tree_code code, tree a, tree b, basic_block usual,
                   basic_block other)
{
    basic_block from = gsi_bb(*gsi);
    gsi_replace(gsi, gimple_build_cond(code, a, b, NULL_TREE, NULL_TREE), false);
    make_edge(from, usual, EDGE_TRUE_VALUE)->probability = profile_probability::very_likely();
    make_edge(from, other, EDGE_FALSE_VALUE)->probability = profile_probability::very_unlikely();
}

edge put_if(gimple_stmt_iterator *gsi, tree value)
{
    gcond *condition =
        gimple_build_cond(NE_EXPR, value, build_zero_cst(TREE_TYPE(value)), NULL_TREE, NULL_TREE);
    gsi_insert_before(gsi, condition, GSI_SAME_STMT);
    edge past = split_block(condition->bb, condition);
    past->flags = (past->flags & ~EDGE_FALLTHRU) | EDGE_FALSE_VALUE;
    past->probability = profile_probability::very_likely();
    basic_block then =
        new_block(past->src,
                  past->src->count.apply_probability(profile_probability::very_unlikely()));
    make_edge(past->src, then, EDGE_TRUE_VALUE)->probability = profile_probability::very_unlikely();
    *gsi = end_of(then);
    return past;
}

unsigned bits_in_place(tree type)
{
    bool plain = INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type) || TREE_CODE(type) == REAL_TYPE ||
                 (TREE_CODE(type) == VECTOR_TYPE && !VECTOR_BOOLEAN_TYPE_P(type));
    if (!plain ||
        (SCALAR_FLOAT_TYPE_P(type) && (HOST_WIDE_INT)TYPE_PRECISION(type) != 8 * known_size(type)))
        return 0;
    return known_size(type) == 16 ? 128 : bits_by_value(type);
}

// Where the shadow of an access is that is all in one region, and not made inside an MPI call:
// `gsi` moves on to where that is known. Others go to `slow`.
static tree find_shadow(gimple_stmt_iterator *gsi, tree address, tree slot, unsigned bits,
                        basic_block slow)
{
    basic_block near = gsi_bb(*gsi), within = new_block(near, near->count),
                inside = new_block(within, near->count);
    tree region = region_of(gsi, slot),
         from = operand(gsi, difference_of(operand(gsi, as_word(address)),
                                           region_word(gsi, region, AT)));
    decide(gsi, LT_EXPR, from, region_word(gsi, region, bits <= 64 ? BEGINS_8 : BEGINS_16), within,
           slow);
    *gsi = end_of(within);
    decide(gsi, EQ_EXPR, passes(gsi), integer_zero_node, inside, slow);
    *gsi = end_of(inside);
    return shadow_of(gsi, address, region_word(gsi, region, TO_SHADOW));
}

void report_result(gimple *stmt, tree address, gimple_stmt_iterator *gsi, tree mask)
{
    tree lhs = gimple_get_lhs(stmt), type = TREE_TYPE(lhs), value = make_ssa_name(type, stmt),
         slot = slot_near(gsi, address, type);
    gimple_set_lhs(stmt, value);
    edge past = put_if(gsi, slot), as_seen = NULL;
    if (unsigned bits = mask ? 0 : bits_in_place(type)) {
        basic_block near = gsi_bb(*gsi),
                    slow =
                        new_block(near,
                                  near->count.apply_probability(profile_probability::unlikely())),
                    seen = new_block(near, near->count);
        tree shadow = find_shadow(gsi, address, slot, bits, slow),
             was = load_from(gsi, place_at(shadow, 0, unsigned_of(bits)));
        decide(gsi, EQ_EXPR, was, converted(gsi, unsigned_of(bits), value), seen, slow);
        *gsi = end_of(seen);
        tree loads = shared_word(gsi, loads_offset, ptr_type_node),
             count = load_from(gsi, place_at(loads, 0, size_type_node));
        store_count(gsi, loads, operand(gsi, sum_of(count, size_one_node)));
        as_seen = go_on(gsi, past->dest);
        *gsi = end_of(slow);
    }
    tree reported = report_load(gsi, address, value, mask);
    edge as_reported = go_on(gsi, past->dest);
    gphi *phi = create_phi_node(lhs, past->dest);
    add_phi_arg(phi, value, past, UNKNOWN_LOCATION);
    if (as_seen)
        add_phi_arg(phi, value, as_seen, UNKNOWN_LOCATION);
    add_phi_arg(phi, reported, as_reported, UNKNOWN_LOCATION);
    update_stmt(stmt);
}

void report_stored(tree address, tree value, gimple_stmt_iterator *gsi, tree mask)
{
    tree slot = slot_near(gsi, address, TREE_TYPE(value));
    edge past = put_if(gsi, slot);
    if (unsigned bits = mask ? 0 : bits_in_place(TREE_TYPE(value))) {
        basic_block near = gsi_bb(*gsi),
                    slow =
                        new_block(near,
                                  near->count.apply_probability(profile_probability::unlikely()));
        tree shadow = find_shadow(gsi, address, slot, bits, slow),
             now = converted(gsi, unsigned_of(bits), value);
        gsi_insert_before(gsi, gimple_build_assign(place_at(shadow, 0, unsigned_of(bits)), now),
                          GSI_SAME_STMT);
        go_on(gsi, past->dest);
        *gsi = end_of(slow);
    }
    report_store(gsi, address, value, mask);
    go_on(gsi, past->dest);
}

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

} // namespace track
