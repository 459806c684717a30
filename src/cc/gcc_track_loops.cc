// SPDX-License-Identifier: MIT
// Loops that are there three times (gcc_track.h). It is known ahead where an innermost loop without
// calls loads and stores, if the number of its iterations is, and each address moves by the same
// step in all of them. In front of it is decided which of three runs:
//
// - All of that is below or above all windows, as it is without reprise: the loop reports nothing.
// - Each place is all in one region, or far from all: the loop knows the shadows ahead
// (watch_segment).
// - Else each access is looked at by itself.
#include "gcc_track.h"

#include <cfgloopmanip.h>
#include <cfghooks.h>
#include <gimplify.h>
#include <gimplify-me.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <ssa-iterators.h>
#include <tree-chrec.h>
#include <tree-scalar-evolution.h>
#include <tree-ssa-loop.h>
#include <tree-ssa-loop-manip.h>
#include <tree-ssa-loop-niter.h>

namespace track
{

const unsigned most_ranges = 12,
               longest_loop = 300; // of a loop that is there three times: places, statements
const unsigned near_enough = 256;  // bytes between places that are looked at together

// From the first byte that a loop accesses at some place of it, or at some that are close together,
// to behind the last.
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

// The copy of a loop that knows its shadows ahead. Its accesses are those statements that have a
// uid: one more than the number of the object.
struct watched_loop {
    std::vector<basic_block> blocks;
    std::vector<range> ranges;
    std::vector<object> objects;
    tree_niter_desc iterations;
    tree is_exact;     // which they are
    tree loads, count; // where they are counted, and how many there were before the loop
    basic_block front; // in front of it; made by in_front_of
};

// The pointer that an address is some bytes away from. Any would do: if the places of one object
// are in several regions the loop is not watched.
static tree base_of(tree address, int depth)
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
        gassign *stmt = SSA_NAME_IS_DEFAULT_DEF(address)
                            ? NULL
                            : dyn_cast<gassign *>(SSA_NAME_DEF_STMT(address));
        code = stmt ? gimple_assign_rhs_code(stmt) : ERROR_MARK;
        if (CONVERT_EXPR_CODE_P(code) || code == PLUS_EXPR || code == MINUS_EXPR ||
            code == POINTER_PLUS_EXPR)
            one = gimple_assign_rhs1(stmt);
        if (one && !CONVERT_EXPR_CODE_P(code))
            other = gimple_assign_rhs2(stmt);
    }
    tree base = one ? base_of(one, depth - 1) : NULL_TREE;
    if (!base && other && code != MINUS_EXPR)
        base = base_of(other, depth - 1);
    return base                                                                   ? base
           : TREE_CODE(address) == SSA_NAME && POINTER_TYPE_P(TREE_TYPE(address)) ? address
                                                                                  : NULL_TREE;
}

static unsigned object_at(tree begin, watched_loop &found)
{
    tree base = base_of(begin, 10);
    unsigned i = 0;
    while (i < found.objects.size() && !(base && found.objects[i].base == base))
        i++;
    if (i == found.objects.size())
        found.objects.push_back({base, NULL_TREE, NULL_TREE});
    return i;
}

// What a pointer or number was converted from without any change of its bits, or NULL.
static tree same_number(tree part)
{
    gassign *stmt =
        TREE_CODE(part) == SSA_NAME ? dyn_cast<gassign *>(SSA_NAME_DEF_STMT(part)) : NULL;
    tree from = stmt && CONVERT_EXPR_CODE_P(gimple_assign_rhs_code(stmt)) ? gimple_assign_rhs1(stmt)
                                                                          : NULL_TREE;
    return from && (INTEGRAL_TYPE_P(TREE_TYPE(from)) || POINTER_TYPE_P(TREE_TYPE(from))) &&
                   TYPE_PRECISION(TREE_TYPE(from)) == TYPE_PRECISION(size_type_node)
               ? from
               : NULL_TREE;
}

// What a loop adds to an address: so many times a number that moves by the same step in each
// iteration. Pointers are seen as numbers, of which it is known what they do if they wrap around.
// False: not known.
static bool add_part(class loop *loop, tree part, HOST_WIDE_INT factor, range *sum)
{
    affine_iv iv;
    while (tree same = same_number(part))
        part = same;
    if (!simple_iv(loop, loop, part, &iv, false) || !cst_and_fits_in_hwi(iv.step))
        return false;
    sum->begin =
        sum_of(sum->begin, fold_build2(MULT_EXPR, size_type_node, as_word(unshare_expr(iv.base)),
                                       build_int_cst(size_type_node, factor)));
    sum->step += int_cst_value(iv.step) * factor;
    return true;
}

static bool add_parts(class loop *loop, gimple *stmt, tree ref, range *sum)
{
    poly_int64 bits, first_bit;
    machine_mode mode;
    int is_unsigned, is_reversed, is_volatile;
    tree offset, base = get_inner_reference(ref, &bits, &first_bit, &offset, &mode, &is_unsigned,
                                            &is_reversed, &is_volatile);
    HOST_WIDE_INT bit;
    if (is_reversed || !first_bit.is_constant(&bit) || bit % BITS_PER_UNIT != 0)
        return false;
    sum->begin = build_int_cst(size_type_node, bit / BITS_PER_UNIT);
    gimple_stmt_iterator gsi = gsi_for_stmt(stmt);
    if (offset && !add_part(loop, operand(&gsi, unshare_expr(offset)), 1, sum))
        return false;
    if (TREE_CODE(base) == MEM_REF)
        return add_part(loop, TREE_OPERAND(base, 0), 1, sum) &&
               add_part(loop, TREE_OPERAND(base, 1), 1, sum);
    if (TREE_CODE(base) == TARGET_MEM_REF)
        return add_part(loop, TMR_BASE(base), 1, sum) && add_part(loop, TMR_OFFSET(base), 1, sum) &&
               (!TMR_INDEX2(base) || add_part(loop, TMR_INDEX2(base), 1, sum)) &&
               (!TMR_INDEX(base) ||
                add_part(loop, TMR_INDEX(base), TMR_STEP(base) ? int_cst_value(TMR_STEP(base)) : 1,
                         sum));
    return DECL_P(base) && add_part(loop, build_fold_addr_expr(base), 1, sum);
}

// False: it is not known ahead where it goes.
static bool find_range(class loop *loop, gimple *stmt, tree ref, watched_loop &found)
{
    range place = {NULL_TREE, 0, known_size(TREE_TYPE(ref)), 0, NULL_TREE, NULL_TREE, NULL_TREE};
    if (place.bytes <= 0 || !add_parts(loop, stmt, ref, &place))
        return false;
    for (range &r : found.ranges) {
        tree apart = fold_convert(ssizetype, difference_of(place.begin, r.begin));
        if (r.step != place.step || !cst_and_fits_in_hwi(apart) ||
            absu_hwi(int_cst_value(apart)) > near_enough)
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
static bool find_ranges_of(class loop *loop, gimple *stmt, watched_loop &found)
{
    if (is_gimple_debug(stmt) || gimple_clobber_p(stmt))
        return true;
    if (gimple_has_volatile_ops(stmt) || stmt_ends_bb_p(stmt) != is_ctrl_stmt(stmt))
        return false;
    if (is_masked(stmt)) {
        tree vector = gimple_call_internal_p(stmt, IFN_MASK_LOAD) ? gimple_call_lhs(stmt)
                                                                  : gimple_call_arg(stmt, 3);
        return !vector ||
               find_range(loop, stmt, place_at(gimple_call_arg(stmt, 0), 0, TREE_TYPE(vector)),
                          found);
    }
    if (gimple_call_internal_p(stmt, IFN_LOAD_LANES) ||
        gimple_call_internal_p(stmt, IFN_STORE_LANES)) {
        tree ref = gimple_call_internal_p(stmt, IFN_LOAD_LANES) ? gimple_call_arg(stmt, 0)
                                                                : gimple_call_lhs(stmt);
        return ref && find_range(loop, stmt, ref, found);
    }
    if (gcall *call = dyn_cast<gcall *>(stmt))
        return (gimple_call_internal_p(call) || gimple_call_builtin_p(call)) &&
               !gimple_vuse(stmt) && !gimple_has_side_effects(stmt);
    gassign *assign = dyn_cast<gassign *>(stmt);
    if (!assign)
        return gimple_code(stmt) == GIMPLE_COND || gimple_code(stmt) == GIMPLE_LABEL ||
               gimple_code(stmt) == GIMPLE_NOP || gimple_code(stmt) == GIMPLE_PREDICT;
    if (!gimple_assign_single_p(assign))
        return true;
    tree lhs = gimple_assign_lhs(assign), rhs = gimple_assign_rhs1(assign);
    bool loads = matters(rhs), stores = TREE_CODE(lhs) != SSA_NAME && matters(lhs);
    if (!loads && !stores)
        return true;
    if (loads == stores || !is_gimple_reg_type(TREE_TYPE(lhs)) ||
        (loads ? TREE_CODE(lhs) != SSA_NAME : !is_gimple_val(rhs)))
        return false;
    tree ref = loads ? rhs : lhs;
    return !is_bit_field(ref) &&
           !(TREE_CODE(ref) == VIEW_CONVERT_EXPR && is_bit_field(TREE_OPERAND(ref, 0))) &&
           find_range(loop, stmt, ref, found);
}

static std::vector<basic_block> body_of(class loop *loop)
{
    basic_block *blocks = get_loop_body(loop);
    std::vector<basic_block> body(blocks, blocks + loop->num_nodes);
    free(blocks);
    return body;
}

static bool find_ranges(class loop *loop, watched_loop &found)
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

static tree both(gimple_stmt_iterator *gsi, tree a, tree b)
{
    return operand(gsi, fold_build2(BIT_AND_EXPR, boolean_type_node, a, b));
}
static tree either(gimple_stmt_iterator *gsi, tree a, tree b)
{
    return operand(gsi, fold_build2(BIT_IOR_EXPR, boolean_type_node, a, b));
}
static tree is(gimple_stmt_iterator *gsi, tree_code code, tree a, tree b)
{
    return operand(gsi, fold_build2(code, boolean_type_node, a, b));
}

// How often the loop goes back to its beginning.
static tree times_back(gimple_stmt_iterator *gsi, const tree_niter_desc &iterations)
{
    tree zero = iterations.may_be_zero, times = as_word(unshare_expr(iterations.niter));
    return operand(gsi, zero && !integer_zerop(zero)
                            ? fold_build3(COND_EXPR, size_type_node, unshare_expr(zero),
                                          build_zero_cst(size_type_node), times)
                            : times);
}

// Whether all are below or above all windows, and what follows from the number of iterations is
// right.
static tree are_far(gimple_stmt_iterator *gsi, watched_loop &loop)
{
    tree lowest = shared_word(gsi, lowest_offset, size_type_node),
         highest = shared_word(gsi, highest_offset, size_type_node),
         times = times_back(gsi, loop.iterations);
    tree far = loop.is_exact =
        operand(gsi, fold_convert(boolean_type_node, unshare_expr(loop.iterations.assumptions)));
    for (range &r : loop.ranges) {
        tree begin = operand(gsi, unshare_expr(r.begin)),
             moved = operand(gsi, fold_build2(MULT_EXPR, size_type_node, times,
                                              build_int_cst(size_type_node, r.step))),
             last = operand(gsi, sum_of(begin, moved));
        r.first = r.step < 0 ? last : begin;
        r.end =
            operand(gsi, sum_of(r.step < 0 ? begin : last, build_int_cst(size_type_node, r.bytes)));
        r.is_far = either(gsi, is(gsi, LE_EXPR, r.end, lowest), is(gsi, GE_EXPR, r.first, highest));
        far = both(gsi, far, r.is_far);
    }
    return far;
}

// Whether each object is all in a region, or far, and the program is not inside an MPI call.
static tree are_known(gimple_stmt_iterator *gsi, watched_loop &loop)
{
    tree known = both(gsi, loop.is_exact, is(gsi, EQ_EXPR, passes(gsi), integer_zero_node));
    for (unsigned i = 0; i < loop.objects.size(); i++) {
        tree region = NULL_TREE, at = NULL_TREE, size = NULL_TREE, far = boolean_true_node,
             inside = boolean_true_node;
        for (const range &r : loop.ranges) {
            if (r.object != i)
                continue;
            if (!region) {
                region = region_of(gsi, slot_of(gsi, r.first));
                at = region_word(gsi, region, AT);
                size = region_word(gsi, region, SIZE);
            }
            tree from = operand(gsi, difference_of(r.first, at)),
                 length = operand(gsi, difference_of(r.end, r.first)),
                 left = operand(gsi, difference_of(size, from));
            inside = both(gsi, inside,
                          both(gsi, is(gsi, LT_EXPR, from, size), is(gsi, LE_EXPR, length, left)));
            far = both(gsi, far, r.is_far);
        }
        inside = both(gsi, inside, operand(gsi, fold_build1(BIT_NOT_EXPR, boolean_type_node, far)));
        known = both(gsi, known, either(gsi, inside, far));
        loop.objects[i].is_counted = operand(gsi, fold_convert(size_type_node, inside));
        tree mask =
            operand(gsi, fold_build1(NEGATE_EXPR, size_type_node, loop.objects[i].is_counted));
        loop.objects[i].to_shadow =
            operand(gsi, fold_build2(BIT_AND_EXPR, size_type_node,
                                     region_word(gsi, region, TO_SHADOW), mask));
    }
    return known;
}

// The type by which a value is compared, of one word or of several; NULL: none.
static tree type_to_compare(tree type)
{
    HOST_WIDE_INT size = known_size(type);
    if (bits_in_place(type) == 0 && !(TREE_CODE(type) == VECTOR_TYPE &&
                                      !VECTOR_BOOLEAN_TYPE_P(type) && (size == 32 || size == 64)))
        return NULL_TREE;
    if (size <= 8)
        return unsigned_of((unsigned)size * 8);
    tree words = build_vector_type(unsigned_of(64), size / 8);
    return VECTOR_MODE_P(TYPE_MODE(words)) ? words : NULL_TREE;
}

static bool can_watch(class loop *loop)
{
    for (basic_block bb : body_of(loop))
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
            if (gimple_uid(gsi_stmt(gsi)) &&
                (is_gimple_call(gsi_stmt(gsi)) ||
                 !type_to_compare(TREE_TYPE(gimple_assign_lhs(gsi_stmt(gsi))))))
                return false;
    return true;
}

static std::set<basic_block>
    *all_done; // blocks of loops that report nothing, or know their shadows; and our own

// In front of the loop, at the end of a new block.
static gimple_stmt_iterator in_front_of(class loop *loop)
{
    basic_block front = split_edge(loop_preheader_edge(loop));
    gimple_stmt_iterator gsi = gsi_last_bb(front);
    gsi_insert_after(&gsi, gimple_build_nop(), GSI_NEW_STMT);
    all_done->insert(front);
    return gsi;
}

// The loop runs if the condition holds, which is known in front of it, and else a copy of it, which
// is returned. NULL: there is none, and the loop always runs.
static class loop *copy(class loop *loop, tree condition, profile_probability likely)
{
    basic_block unused;
    class loop *other =
        loop_version(loop, build2(NE_EXPR, boolean_type_node, condition, boolean_false_node),
                     &unused, likely, likely.invert(), likely, likely.invert(), true);
    update_ssa(TODO_update_ssa);
    return other;
}

static std::vector<watched_loop> watched;

static void divide(class loop *loop)
{
    watched_loop found;
    edge exit = single_exit(loop);
    if (!exit || !number_of_iterations_exit_assumptions(loop, exit, &found.iterations, NULL) ||
        !found.iterations.niter || chrec_contains_undetermined(found.iterations.niter) ||
        !can_duplicate_loop_p(loop) || (loop_preheader_edge(loop)->flags & EDGE_COMPLEX) ||
        !find_ranges(loop, found))
        return;
    bool watches = can_watch(loop);
    gimple_stmt_iterator gsi = in_front_of(loop);
    tree far = are_far(&gsi, found);
    gsi_remove(&gsi, true);
    class loop *near = copy(loop, far, profile_probability::even());
    if (!near)
        return;
    for (basic_block bb : body_of(loop))
        all_done->insert(bb);
    if (!watches)
        return;
    gsi = in_front_of(near);
    tree known = are_known(&gsi, found);
    found.loads = shared_word(&gsi, loads_offset, ptr_type_node);
    found.count = load_from(&gsi, place_at(found.loads, 0, size_type_node));
    gsi_remove(&gsi, true);
    if (!copy(near, known, profile_probability::likely()))
        return;
    gsi = in_front_of(near);
    found.front = gsi_bb(gsi);
    found.blocks = body_of(near);
    all_done->insert(found.blocks.begin(), found.blocks.end());
    watched.push_back(found);
}

void divide_loops(function *fun, std::set<basic_block> &done)
{
    all_done = &done;
    watched.clear();
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

// In a loop that knows its shadows: a group of loads with nothing between them that stores, or that
// may end the program because of a loaded value. The group is counted ahead, so that a process that
// is killed here has made no more loads than that. If all loads equal their shadows, nothing else
// is done. Else each is reported, in its order, and counted there. In a recording a load returns
// what it has loaded, so nothing depends on when it is compared.

static tree to_shadow_of(const watched_loop &loop, gimple *access)
{
    return loop.objects[gimple_uid(access) - 1].to_shadow;
}

// Words, in one or several, of which one is not 0 if it does.
static tree differs(gimple_stmt_iterator *gsi, const watched_loop &loop, gassign *load)
{
    tree value = gimple_assign_lhs(load), type = type_to_compare(TREE_TYPE(value)),
         shadow =
             shadow_of(gsi, address_of(gsi, gimple_assign_rhs1(load)), to_shadow_of(loop, load));
    tree was = load_from(gsi, place_at(shadow, 0, type)),
         difference =
             operand(gsi, fold_build2(BIT_XOR_EXPR, type, converted(gsi, type, value), was));
    return VECTOR_TYPE_P(type) ? difference
                               : operand(gsi, fold_convert(unsigned_of(64), difference));
}

// One word of all that differs.
static tree gather(gimple_stmt_iterator *gsi, const watched_loop &loop,
                   const std::vector<gassign *> &loads)
{
    std::vector<tree> sums; // one of each type
    for (gassign *load : loads) {
        tree difference = differs(gsi, loop, load), *same = NULL;
        for (tree &sum : sums)
            if (known_size(TREE_TYPE(sum)) == known_size(TREE_TYPE(difference)))
                same = &sum;
        if (same)
            *same =
                operand(gsi, fold_build2(BIT_IOR_EXPR, TREE_TYPE(difference), *same, difference));
        else
            sums.push_back(difference);
    }
    tree all = NULL_TREE;
    for (tree sum : sums)
        for (HOST_WIDE_INT i = 0; i < known_size(TREE_TYPE(sum)) / 8; i++) {
            tree word = VECTOR_TYPE_P(TREE_TYPE(sum))
                            ? operand(gsi, build3(BIT_FIELD_REF, unsigned_of(64), sum,
                                                  bitsize_int(64), bitsize_int(64 * i)))
                            : sum;
            all = all ? operand(gsi, fold_build2(BIT_IOR_EXPR, unsigned_of(64), all, word)) : word;
        }
    return all;
}

// It takes the place of the count before it, wherever that is used from there on: once all are
// made, SSA is updated. That takes what is defined in a block for defined before all of its uses
// there: so it is defined in a block of its own, where `gsi` is then.
static tree next_count(gimple_stmt_iterator *gsi, tree count, tree more)
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

static void watch_segment(const watched_loop &loop, const std::vector<gassign *> &loads)
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
        report_load(&gsi, address_of(&gsi, gimple_assign_rhs1(load)), gimple_assign_lhs(load),
                    NULL_TREE);
    }
    go_on(&gsi, past->dest);
}

static void watch_store(const watched_loop &loop, gassign *store)
{
    gimple_stmt_iterator gsi;
    behind(store, &gsi);
    tree shadow =
        shadow_of(&gsi, address_of(&gsi, gimple_assign_lhs(store)), to_shadow_of(loop, store));
    gsi_insert_before(&gsi,
                      gimple_build_assign(place_at(shadow, 0,
                                                   TYPE_MAIN_VARIANT(
                                                       TREE_TYPE(gimple_assign_lhs(store)))),
                                          gimple_assign_rhs1(store)),
                      GSI_SAME_STMT);
}

static void watch(const watched_loop &loop)
{
    std::vector<std::vector<gassign *>> segments;
    std::vector<gassign *> stores;
    for (basic_block bb : loop.blocks) {
        segments.emplace_back();
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
            gimple *stmt = gsi_stmt(gsi);
            if (is_gimple_debug(stmt))
                continue;
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

void watch_loops()
{
    for (const watched_loop &loop : watched)
        watch(loop);
}

} // namespace track
