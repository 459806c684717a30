// SPDX-License-Identifier: MIT
// A plugin of GCC: code that it compiles reports its loads and stores where a window may be near
// (window/tracking.h). The method is that of llvm_track.cc, whose head explains it, including the
// three copies of loops.
//
// The compiler does not use instructions that load vectors from many places; the plugin refuses
// them by name. For bit-fields, the bytes around are loaded. Some stores are not reported (by calls
// that return structures, to bit-fields). That does no harm: the next load from there finds the
// difference and logs it.
#include "gcc_track.h"

#include <plugin-version.h>
#include <cgraph.h>
#include <gimplify.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <ssa-iterators.h>
#include <stringpool.h>
#include <attribs.h>
#include <target.h>
#include <diagnostic-core.h>
#include <output.h>
#include <context.h>

int plugin_is_GPL_compatible;

namespace
{

using namespace track;

void refuse(gimple *stmt, const char *what)
{
    error_at(gimple_location(stmt),
             "%<reprise-cc --track%> with GCC: %s cannot be tracked; with %<--track=calls%> it can",
             what);
}

// Calls before accesses would not see it, either.
void refuse_instruction(gimple *stmt, const char *what)
{
    error_at(
        gimple_location(stmt),
        "%<reprise-cc --track%> with GCC: %s cannot be tracked: use what the compiler knows itself",
        what);
}

// Statements

// A part of a vector in memory that is all of some bytes becomes what it is, a load of those.
void unwrap_part(gassign *stmt)
{
    tree ref = gimple_assign_rhs1(stmt);
    if (!gimple_assign_single_p(stmt) || TREE_CODE(ref) != BIT_FIELD_REF || !matters(ref) ||
        !tree_fits_uhwi_p(TREE_OPERAND(ref, 2)) || is_bit_field(TREE_OPERAND(ref, 0)) ||
        reverse_storage_order_for_component_p(ref))
        return;
    unsigned HOST_WIDE_INT first = tree_to_uhwi(TREE_OPERAND(ref, 2));
    if (first % BITS_PER_UNIT != 0 ||
        !tree_int_cst_equal(TREE_OPERAND(ref, 1), TYPE_SIZE(TREE_TYPE(ref))) ||
        known_size(TREE_TYPE(ref)) <= 0)
        return;
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    tree part = place_at(address_of(&gsi, TREE_OPERAND(ref, 0)),
                         (HOST_WIDE_INT)(first / BITS_PER_UNIT), TREE_TYPE(ref));
    TREE_THIS_VOLATILE(part) = TREE_THIS_VOLATILE(ref);
    gimple_assign_set_rhs1(stmt, part);
    update_stmt(stmt);
}

// Where the bits of a field are from, of some bytes that are no longer than a word: `offset` bytes
// behind the structure. NULL: they are not in one.
tree bytes_around(tree field, HOST_WIDE_INT *offset, HOST_WIDE_INT *first)
{
    tree all = DECL_BIT_FIELD_REPRESENTATIVE(field);
    if (!all || !tree_fits_shwi_p(DECL_FIELD_OFFSET(field)) ||
        !tree_fits_shwi_p(DECL_FIELD_OFFSET(all)) || known_size(TREE_TYPE(all)) < 0)
        return NULL_TREE;
    HOST_WIDE_INT size = known_size(TREE_TYPE(all)), bits = tree_to_shwi(DECL_SIZE(field)),
                  from = 0, part = size;
    *offset = tree_to_shwi(DECL_FIELD_OFFSET(all)) +
              tree_to_shwi(DECL_FIELD_BIT_OFFSET(all)) / BITS_PER_UNIT;
    *first = (tree_to_shwi(DECL_FIELD_OFFSET(field)) - *offset) * BITS_PER_UNIT +
             tree_to_shwi(DECL_FIELD_BIT_OFFSET(field));
    if (!bits_by_value(TREE_TYPE(all))) {
        from = *first / BITS_PER_UNIT;
        HOST_WIDE_INT needed = (*first % BITS_PER_UNIT + bits + BITS_PER_UNIT - 1) / BITS_PER_UNIT;
        for (part = 1; part < needed; part *= 2)
            ;
        from = from + part > size ? size - part : from;
        if (part > 8 || from < 0)
            return NULL_TREE;
    }
    *offset += from;
    *first -= from * BITS_PER_UNIT;
    return unsigned_of((unsigned)part * BITS_PER_UNIT);
}

// The bytes around a bit-field are loaded in its place, and the field taken from them.
void track_bit_field(gassign *stmt)
{
    tree ref = gimple_assign_rhs1(stmt),
         field = TREE_CODE(ref) == COMPONENT_REF ? TREE_OPERAND(ref, 1) : NULL_TREE;
    HOST_WIDE_INT offset, first;
    tree type = field ? bytes_around(field, &offset, &first) : NULL_TREE;
    if (!type)
        return refuse(stmt, "a bit-field of this form");
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    tree around = place_at(address_of(&gsi, TREE_OPERAND(ref, 0)), offset, type),
         value = make_ssa_name(type);
    TREE_THIS_VOLATILE(around) = TREE_THIS_VOLATILE(ref);
    gassign *load = gimple_build_assign(value, around);
    gsi_insert_before(&gsi, load, GSI_SAME_STMT);
    gimple_assign_set_rhs1(stmt, build3(BIT_FIELD_REF, TREE_TYPE(ref), value, DECL_SIZE(field),
                                        bitsize_int(first)));
    update_stmt(stmt);
    tree address = address_of(&gsi, around);
    report_result(load, address, &gsi);
}

void track_assign(gassign *stmt)
{
    tree lhs = gimple_assign_lhs(stmt),
         rhs = gimple_assign_single_p(stmt) ? gimple_assign_rhs1(stmt) : NULL_TREE;
    gimple_stmt_iterator gsi;
    if (!rhs || gimple_clobber_p(stmt))
        return;
    if (TREE_CODE(lhs) == SSA_NAME) {
        if (!matters(rhs))
            return;
        if (reverse_storage_order_for_component_p(rhs))
            return refuse(stmt, "a structure in the other order of bytes");
        if (is_bit_field(rhs))
            return track_bit_field(stmt);
        if (TREE_CODE(rhs) == VIEW_CONVERT_EXPR && is_bit_field(TREE_OPERAND(rhs, 0)))
            return refuse(stmt, "a bit-field of this form");
        if (!behind(stmt, &gsi))
            return refuse(stmt, "a load that may throw (-fnon-call-exceptions)");
        tree address = address_of(&gsi, rhs);
        return report_result(stmt, address, &gsi);
    }
    if (!matters(lhs) && !matters(rhs))
        return;
    if (is_gimple_reg_type(TREE_TYPE(lhs)) && is_gimple_val(rhs)) {
        if (is_bit_field(lhs) || reverse_storage_order_for_component_p(lhs) || !behind(stmt, &gsi))
            return;
        tree address = address_of(&gsi, lhs);
        return report_stored(address, rhs, &gsi);
    }
    if (TREE_CODE(rhs) == CONSTRUCTOR || CONSTANT_CLASS_P(rhs) || is_bit_field(lhs) ||
        is_bit_field(rhs) || stmt_ends_bb_p(stmt) || known_size(TREE_TYPE(lhs)) < 0) {
        if (matters(rhs) && !CONSTANT_CLASS_P(rhs) && TREE_CODE(rhs) != CONSTRUCTOR)
            refuse(stmt, "a copy of this form");
        return;
    }
    if (TREE_CODE(rhs) == VIEW_CONVERT_EXPR && is_gimple_val(TREE_OPERAND(rhs, 0))) {
        if (behind(stmt, &gsi))
            report_stored(address_of(&gsi, lhs), TREE_OPERAND(rhs, 0), &gsi);
        return;
    }
    tree source = get_base_address(rhs);
    if (!source || TREE_CODE(source) == SSA_NAME ||
        (DECL_P(source) && DECL_HAS_VALUE_EXPR_P(source)))
        return; // a store of what is not in memory, or not yet where it is said to be
                // (-fsanitize=address)
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
        if (is_gimple_val(argument) || !matters(argument) || gimple_call_internal_p(stmt))
            continue;
        if (known_size(TREE_TYPE(argument)) < 0) {
            refuse(stmt, "a structure whose size is not known");
            continue;
        }
        gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
        tree room = new_room(TREE_TYPE(argument));
        call(&gsi, COPY,
             {build_fold_addr_expr(room), address_of(&gsi, argument),
              fold_convert(size_type_node, size_of(TREE_TYPE(argument)))});
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

void track_masked(gcall *stmt)
{
    bool loads = gimple_call_internal_p(stmt, IFN_MASK_LOAD);
    tree mask = gimple_call_arg(stmt, 2),
         vector = loads ? gimple_call_lhs(stmt) : gimple_call_arg(stmt, 3);
    gimple_stmt_iterator gsi;
    if (!vector)
        return; // nobody looks
    if (!behind(stmt, &gsi) || !VECTOR_TYPE_P(TREE_TYPE(vector)) ||
        !type_of_mask(TREE_TYPE(vector), TREE_TYPE(mask)))
        return refuse_instruction(stmt,
                                  "a vector of this form, of which some elements are accessed,");
    tree address = operand(&gsi, fold_convert(const_ptr_type_node, gimple_call_arg(stmt, 0)));
    if (loads)
        report_result(stmt, address, &gsi, mask);
    else
        report_stored(address, vector, &gsi, mask);
}

// Vectors whose elements are interleaved in memory. In a room they are as they are there.
void track_lanes(gcall *stmt)
{
    bool loads = gimple_call_internal_p(stmt, IFN_LOAD_LANES);
    tree vectors = loads ? gimple_call_lhs(stmt) : gimple_call_arg(stmt, 0),
         ref = loads ? gimple_call_arg(stmt, 0) : gimple_call_lhs(stmt);
    gimple_stmt_iterator gsi;
    if (!behind(stmt, &gsi) || !vectors || !ref || known_size(TREE_TYPE(ref)) <= 0)
        return refuse_instruction(stmt, "a vector of this form");
    tree address = address_of(&gsi, ref), room = new_room(TREE_TYPE(ref));
    edge past = put_if(&gsi, slot_near(&gsi, address, TREE_TYPE(ref)));
    gcall *spread = gimple_build_call_internal(IFN_STORE_LANES, 1, unshare_expr(vectors)),
          *collect = gimple_build_call_internal(IFN_LOAD_LANES, 1, room);
    gimple_call_set_lhs(spread, room);
    gsi_insert_before(&gsi, spread, GSI_SAME_STMT);
    call(&gsi, loads ? LOAD_N : STORE_N,
         {address, build_fold_addr_expr(room),
          fold_convert(size_type_node, size_of(TREE_TYPE(ref)))});
    if (loads) {
        gimple_call_set_lhs(collect, unshare_expr(vectors));
        gsi_insert_before(&gsi, collect, GSI_SAME_STMT);
    }
    go_on(&gsi, past->dest);
}

void track_internal(gcall *stmt)
{
    internal_fn fn = gimple_call_internal_fn(stmt);
    if (is_masked(stmt))
        track_masked(stmt);
    else if (fn == IFN_LOAD_LANES || fn == IFN_STORE_LANES)
        track_lanes(stmt);
    else if (internal_load_fn_p(fn) || internal_gather_scatter_fn_p(fn))
        refuse_instruction(stmt, "a vector whose elements are at places of their own");
    else if (!strncmp(internal_fn_name(fn), "ATOMIC_", 7) && !track_atomic(stmt, NULL))
        refuse(stmt, "an atomic operation of this form");
}

// Instructions by their names: those that load from memory cannot be followed. What they
// only store to is not constant.
void track_instruction(gcall *stmt, tree fndecl)
{
    if (!gimple_vuse(stmt) || !gimple_call_lhs(stmt))
        return;
    for (tree list = TYPE_ARG_TYPES(TREE_TYPE(fndecl)); list && list != void_list_node;
         list = TREE_CHAIN(list))
        if (POINTER_TYPE_P(TREE_VALUE(list)) && TYPE_READONLY(TREE_TYPE(TREE_VALUE(list))))
            return refuse_instruction(stmt, IDENTIFIER_POINTER(DECL_NAME(fndecl)));
}

void track_call(gcall *stmt)
{
    if (gimple_call_internal_p(stmt))
        return track_internal(stmt);
    tree fndecl = gimple_call_fndecl(stmt);
    if (gimple_call_builtin_p(stmt, BUILT_IN_MEMCPY) ||
        gimple_call_builtin_p(stmt, BUILT_IN_MEMMOVE))
        return become(stmt, COPY);
    if (gimple_call_builtin_p(stmt, BUILT_IN_MEMSET))
        return become(stmt, FILL);
    if (gimple_call_builtin_p(stmt, BUILT_IN_MEMCPY_CHK) ||
        gimple_call_builtin_p(stmt, BUILT_IN_MEMMOVE_CHK))
        return become(stmt, COPY_CHECKED);
    if (gimple_call_builtin_p(stmt, BUILT_IN_MEMSET_CHK))
        return become(stmt, FILL_CHECKED);
    const char *name = fndecl && fndecl_built_in_p(fndecl, BUILT_IN_NORMAL)
                           ? IDENTIFIER_POINTER(DECL_NAME(fndecl))
                           : "";
    if (!strncmp(name, "__atomic_", 9) || !strncmp(name, "__sync_", 7)) {
        if (!track_atomic(stmt, name))
            refuse(stmt, name);
        return;
    }
    if (fndecl && fndecl_built_in_p(fndecl, BUILT_IN_MD))
        return track_instruction(stmt, fndecl);
    track_arguments(stmt);
}

// Who is tracked has effects. Attributes that deny it served their purpose in the passes before
// this one.
void forget_purity(gcall *stmt)
{
    tree fndecl = gimple_call_fndecl(stmt);
    if (!fndecl || fndecl_built_in_p(fndecl) || !(TREE_READONLY(fndecl) || DECL_PURE_P(fndecl)))
        return;
    TREE_READONLY(fndecl) = 0;
    DECL_PURE_P(fndecl) = 0;
    update_stmt(stmt);
}

const pass_data track_data = {
    GIMPLE_PASS, "reprise_track", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0,
    0,           TODO_update_ssa};

class track_pass : public gimple_opt_pass
{
  public:
    track_pass() : gimple_opt_pass(track_data, g)
    {
    }
    bool gate(function *fun) final override
    {
        return !lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(fun->decl));
    }
    unsigned execute(function *fun) final override;
};

unsigned track_pass::execute(function *fun)
{
    std::vector<gimple *> all;
    std::set<basic_block> done;
    basic_block bb;
    if (!hooks[0])
        declare_all();
    FOR_EACH_BB_FN(bb, fun)
    for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
        gimple_set_uid(gsi_stmt(gsi), 0);
        if (gassign *a = dyn_cast<gassign *>(gsi_stmt(gsi)))
            unwrap_part(a);
    }
    if (optimize)
        divide_loops(fun, done);
    free_dominance_info(CDI_DOMINATORS);
    free_dominance_info(CDI_POST_DOMINATORS);
    FOR_EACH_BB_FN(bb, fun)
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
    if (optimize)
        watch_loops();
    TREE_READONLY(fun->decl) = 0;
    DECL_PURE_P(fun->decl) = 0;
    mark_virtual_operands_for_renaming(fun);
    return 0;
}

// Vectors of which each element is at a place of its own are not used: they are instructions that
// cannot be followed. (Other versions of GCC may have nothing of this.)
template <class vectorize>
auto forgo_gathers(vectorize &how) -> decltype(how.builtin_gather, void())
{
    how.builtin_gather = NULL;
}
template <class vectorize>
auto forgo_scatters(vectorize &how) -> decltype(how.builtin_scatter, void())
{
    how.builtin_scatter = NULL;
}
[[maybe_unused]] void forgo_gathers(...)
{
}
[[maybe_unused]] void forgo_scatters(...)
{
}

// Nor are vectors whose length is known only when the program runs: those of Advanced SIMD are.
void forgo_long_vectors()
{
#ifdef aarch64_autovec_preference
    aarch64_autovec_preference =
        static_cast<decltype(global_options.x_aarch64_autovec_preference)>(1);
#endif
}

plugin_info about = {REPRISE_VERSION, "tells of loads and stores near windows"};

} // namespace

int plugin_init(plugin_name_args *args, plugin_gcc_version *version)
{
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("the plugin %qs of reprise is for GCC %s", args->full_name, gcc_version.basever);
        return 1;
    }
    forgo_gathers(targetm.vectorize);
    forgo_scatters(targetm.vectorize);
    forgo_long_vectors();
    keep_atomics_plain(args->base_name);
    register_pass_info where = {new track_pass, "optimized", 1, PASS_POS_INSERT_AFTER};
    register_callback(args->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &where);
    register_callback(args->base_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
                      const_cast<ggc_root_tab *>(track::roots));
    register_callback(args->base_name, PLUGIN_INFO, NULL, &about);
    return 0;
}
