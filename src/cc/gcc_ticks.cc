// SPDX-License-Identifier: MIT
// A plugin of GCC: code that it compiles counts what it executes, in `reprise_ticks` of its thread
// (ticks.h).
//
// It works on each function after all optimisations, so that it stands in the way of none. What
// counts is a sum that is the same in every run, not each instruction: a piece of code without
// loops has one weight, the expected number of its instructions. So:
//
// - A loop whose number of iterations is known when it is entered costs one addition in front of
// it, for all iterations together; of a nest of such loops, in front of the nest. Counting
//   early does no harm: no event that has a time happens between there and the end of the loop.
//   That holds if all calls of the loop are "closed": calls of known functions that call closed
//   functions only.
// - Any other loop adds its weight in each iteration. If it is innermost and without calls, the sum
// is kept in a register and only stored.
// - Copies of memory, which are loops inside of the C library, add their length.
// - A function adds its weight only where it must: if it may recurse, before it does so; if it
// calls what we do not know; or if it is long. The weight of others is added by those who
//   call them, as far as they are known.
//
// Every cycle of the program that it can see, of the flow of control or of calls, so contains an
// addition or is counted ahead.
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
#include <cfganal.h>
#include <gimple-iterator.h>
#include <gimplify.h>
#include <gimplify-me.h>
#include <tree-cfg.h>
#include <tree-into-ssa.h>
#include <tree-scalar-evolution.h>
#include <tree-ssa-loop-niter.h>
#include <tree-ssa-loop.h>
#include <tree-phinodes.h>
#include <ssa-iterators.h>
#include <tree-inline.h>
#include <stringpool.h>
#include <attribs.h>
#include <fold-const.h>
#include <varasm.h>
#include <tree-chrec.h>
#include <tree-ssa-loop-ivopts.h>
#include <diagnostic-core.h>
#include <output.h>
#include <context.h>
#include <map>
#include <vector>

int plugin_is_GPL_compatible;

namespace
{

const unsigned weight_of_call = 20; // to what we do not know
const unsigned weight_of_entry = 4; // to what counts by itself
const unsigned weight_worth_adding = 40;
const unsigned bytes_per_tick = 16; // of copies

// What callers need to know of a function that is compiled already. Callees come first, unless they
// are part of a cycle.
struct summary {
    bool closed;
    unsigned weight; // that it does not count by itself
};

std::map<unsigned, summary> summaries; // by DECL_UID
tree ticks;                            // the declaration

tree declare_ticks()
{
    tree decl =
        build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier("reprise_ticks"), uint64_type_node);
    DECL_EXTERNAL(decl) = 1;
    TREE_PUBLIC(decl) = 1;
    DECL_ARTIFICIAL(decl) = 1;
    TREE_USED(decl) = 1;
    DECL_VISIBILITY(decl) = VISIBILITY_DEFAULT;
    DECL_VISIBILITY_SPECIFIED(decl) = 1;
    // What is not for a shared library ends up in the executable, where the linker puts the
    // definition.
    set_decl_tls_model(decl, flag_shlib ? TLS_MODEL_INITIAL_EXEC : TLS_MODEL_LOCAL_EXEC);
    return decl;
}

// Calls

enum class call { plain, closed, unknown, recursive };

bool is_runtime(tree fndecl)
{
    const char *name = DECL_NAME(fndecl) ? IDENTIFIER_POINTER(DECL_NAME(fndecl)) : "";
    return !strncmp(name, "_gfortran_", 10) || !strncmp(name, "__cxa_", 6) ||
           !strncmp(name, "_Unwind_", 8);
}

// The bytes that a copy moves, if they are many or unknown, else NULL. Loops become such calls.
tree length_of_copy(gcall *stmt)
{
    if (!gimple_call_builtin_p(stmt, BUILT_IN_MEMCPY) &&
        !gimple_call_builtin_p(stmt, BUILT_IN_MEMMOVE) &&
        !gimple_call_builtin_p(stmt, BUILT_IN_MEMSET))
        return NULL;
    tree length = gimple_call_arg(stmt, 2);
    return tree_fits_uhwi_p(length) && tree_to_uhwi(length) < 256 ? NULL : length;
}

call call_kind(gcall *stmt, unsigned *weight)
{
    tree fndecl = gimple_call_fndecl(stmt);
    *weight = weight_of_call;
    if (gimple_call_internal_p(stmt)) {
        *weight = estimate_num_insns(stmt, &eni_size_weights);
        return call::plain;
    }
    if (gimple_call_noreturn_p(stmt))
        return call::plain;
    if (!fndecl)
        return call::unknown;
    if (length_of_copy(stmt))
        return call::closed; // it will count
    if (fndecl_built_in_p(fndecl) || DECL_IS_OPERATOR_NEW_P(fndecl) ||
        DECL_IS_OPERATOR_DELETE_P(fndecl) || is_runtime(fndecl))
        return call::plain;
    if (fndecl == current_function_decl)
        return call::recursive;
    if (!decl_binds_to_current_def_p(fndecl))
        return call::unknown;
    auto known = summaries.find(DECL_UID(fndecl));
    if (known == summaries.end())
        return call::recursive; // a cycle of functions, or one that comes later for another reason
    *weight = weight_of_entry + known->second.weight;
    return known->second.closed ? call::closed : call::unknown;
}

unsigned weight_of(gimple *stmt)
{
    unsigned weight;
    if (is_gimple_debug(stmt) || gimple_code(stmt) == GIMPLE_LABEL)
        return 0;
    if (gcall *c = dyn_cast<gcall *>(stmt)) {
        call_kind(c, &weight);
        return weight;
    }
    return estimate_num_insns(stmt, &eni_size_weights);
}

unsigned weight_of(basic_block bb)
{
    unsigned sum = 0;
    for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
        sum += weight_of(gsi_stmt(gsi));
    return sum;
}

// How often bb is executed for each time that `of` is, as the compiler guesses.
double share(basic_block bb, basic_block of)
{
    if (!bb->count.initialized_p() || !of->count.initialized_p() || of->count.to_gcov_type() <= 0)
        return 1;
    double ratio = (double)bb->count.to_gcov_type() / (double)of->count.to_gcov_type();
    return ratio > 1 ? 1 : ratio;
}

// Emitting

void insert(gimple_stmt_iterator *gsi, bool after, gimple *stmt)
{
    if (after)
        gsi_insert_after(gsi, stmt, GSI_NEW_STMT);
    else
        gsi_insert_before(gsi, stmt, GSI_SAME_STMT);
}

gimple *load_ticks(tree *value)
{
    *value = make_ssa_name(uint64_type_node);
    return gimple_build_assign(*value, ticks);
}

// Volatile: in a loop that never ends the store would be dead.
gimple *store_ticks(tree value)
{
    tree type = build_qualified_type(uint64_type_node, TYPE_QUAL_VOLATILE);
    tree place = build2(MEM_REF, type, build_fold_addr_expr(ticks),
                        build_int_cst(build_pointer_type(type), 0));
    TREE_THIS_VOLATILE(place) = 1;
    return gimple_build_assign(place, value);
}

// ticks += cost, at gsi
void add(gimple_stmt_iterator *gsi, bool after, tree cost)
{
    gimple_seq stmts = NULL;
    tree amount = force_gimple_operand(unshare_expr(cost), &stmts, true, NULL_TREE), before,
         sum = make_ssa_name(uint64_type_node);
    if (stmts && after)
        gsi_insert_seq_after(gsi, stmts, GSI_CONTINUE_LINKING);
    else if (stmts)
        gsi_insert_seq_before(gsi, stmts, GSI_SAME_STMT);
    insert(gsi, after, load_ticks(&before));
    insert(gsi, after, gimple_build_assign(sum, PLUS_EXPR, before, amount));
    insert(gsi, after, gimple_build_assign(ticks, sum));
}

void add_at_start(basic_block bb, tree cost)
{
    gimple_stmt_iterator gsi = gsi_after_labels(bb);
    add(&gsi, false, cost);
}

void add_at_end(basic_block bb, tree cost)
{
    gimple_stmt_iterator gsi = gsi_last_bb(bb);
    if (!gsi_end_p(gsi) && stmt_ends_bb_p(gsi_stmt(gsi)))
        add(&gsi, false, cost);
    else
        add(&gsi, true, cost);
}

tree constant(unsigned HOST_WIDE_INT n)
{
    return build_int_cst(uint64_type_node, n);
}
tree sum_of(tree a, tree b)
{
    return fold_build2(PLUS_EXPR, uint64_type_node, a, b);
}

// Loops

// The block that leads into the loop and nowhere else, or NULL.
basic_block preheader(class loop *loop)
{
    edge e, found = NULL;
    edge_iterator ei;
    FOR_EACH_EDGE(e, ei, loop->header->preds)
    if (e->src != loop->latch) {
        if (found || (e->flags & EDGE_COMPLEX))
            return NULL;
        found = e;
    }
    return found && found->src != ENTRY_BLOCK_PTR_FOR_FN(cfun) && single_succ_p(found->src)
               ? found->src
               : NULL;
}

// The exit by which the loop ends, if there is one beside those into blocks from which nothing
// returns.
edge usual_exit(class loop *loop)
{
    edge found = NULL, e;
    auto_vec<edge> exits = get_loop_exit_edges(loop);
    unsigned i;
    FOR_EACH_VEC_ELT(exits, i, e)
    {
        if (EDGE_COUNT(e->dest->succs) == 0 && e->dest != EXIT_BLOCK_PTR_FOR_FN(cfun))
            continue;
        if (found || (e->flags & EDGE_COMPLEX))
            return NULL;
        found = e;
    }
    return found;
}

// How many operations an expression takes; divisions are slow.
tree count_operation(tree *at, int *, void *sum)
{
    bool slow = TREE_CODE_CLASS(TREE_CODE(*at)) == tcc_binary && TREE_CODE(*at) >= TRUNC_DIV_EXPR &&
                TREE_CODE(*at) <= ROUND_MOD_EXPR && !integer_pow2p(TREE_OPERAND(*at, 1));
    *(int *)sum += slow ? 10 : EXPR_P(*at) && !CONVERT_EXPR_P(*at);
    return NULL;
}

int operations(tree expression)
{
    int sum = 0;
    walk_tree_without_duplicates(&expression, count_operation, &sum);
    return sum;
}

// How often the header is executed, as an expression of what is known before the loop, or NULL.
tree iterations(class loop *loop, edge exit)
{
    class tree_niter_desc niter;
    if (!exit || !number_of_iterations_exit_assumptions(loop, exit, &niter, NULL) || !niter.niter ||
        chrec_contains_undetermined(niter.niter))
        return NULL;
    // Its assumptions are that nothing wraps around: where it does, the number is a wrong one, but
    // the same in every run.
    tree type = unsigned_type_for(TREE_TYPE(niter.niter)), zero = niter.may_be_zero;
    tree count = fold_build2(PLUS_EXPR, type, fold_convert(type, niter.niter), build_one_cst(type));
    if (zero && !integer_zerop(zero))
        count = fold_build3(COND_EXPR, type, zero, build_one_cst(type), count);
    return operations(count) > 20 ? NULL : fold_convert(uint64_type_node, count);
}

struct body {
    bool calls = false,
         unknown = false;  // any call that may count; one that may be something with a time
    bool recurses = false; // in each iteration
    unsigned weight = 0;   // of an iteration, without inner loops
};

body look_at(class loop *loop)
{
    body found;
    double sum = 0;
    basic_block *blocks = get_loop_body(loop);
    for (unsigned i = 0; i < loop->num_nodes; i++) {
        if (blocks[i]->loop_father == loop)
            sum += weight_of(blocks[i]) * share(blocks[i], loop->header);
        for (gimple_stmt_iterator gsi = gsi_start_bb(blocks[i]); !gsi_end_p(gsi); gsi_next(&gsi))
            if (gcall *c = dyn_cast<gcall *>(gsi_stmt(gsi))) {
                unsigned weight;
                call kind = call_kind(c, &weight);
                found.calls |= kind != call::plain ||
                               !(gimple_call_flags(c) & (ECF_CONST | ECF_LEAF | ECF_NORETURN));
                found.unknown |=
                    kind == call::unknown ||
                    (kind == call::recursive && gimple_call_fndecl(c) != current_function_decl);
                found.recurses |= kind == call::recursive &&
                                  dominated_by_p(CDI_DOMINATORS, loop->latch, blocks[i]);
            }
    }
    free(blocks);
    found.weight = sum < 1 ? 1 : (unsigned)(sum + 0.5);
    return found;
}

void count_in_register(class loop *loop, basic_block before, unsigned weight)
{
    tree first, now = make_ssa_name(uint64_type_node), next = make_ssa_name(uint64_type_node);
    gimple_stmt_iterator gsi = gsi_last_bb(before);
    gsi_insert_after(&gsi, load_ticks(&first), GSI_NEW_STMT);
    gphi *phi = create_phi_node(now, loop->header);
    add_phi_arg(phi, first, single_succ_edge(before), UNKNOWN_LOCATION);
    add_phi_arg(phi, next, loop_latch_edge(loop), UNKNOWN_LOCATION);
    gsi = gsi_after_labels(loop->header);
    gsi_insert_before(&gsi, gimple_build_assign(next, PLUS_EXPR, now, constant(weight)),
                      GSI_SAME_STMT);
    gsi_insert_before(&gsi, store_ticks(next), GSI_SAME_STMT);
}

// Whether the loop is counted in a register and added when it is left. That is for loops that
// recurse: the innermost of them end all the time.
bool count_until_exit(class loop *loop, basic_block before, unsigned weight)
{
    auto_vec<edge> exits = get_loop_exit_edges(loop);
    edge e;
    unsigned i;
    FOR_EACH_VEC_ELT(exits, i, e)
    if (e->flags & EDGE_COMPLEX)
        return false;
    tree now = make_ssa_name(uint64_type_node), next = make_ssa_name(uint64_type_node);
    gphi *phi = create_phi_node(now, loop->header);
    add_phi_arg(phi, constant(0), single_succ_edge(before), UNKNOWN_LOCATION);
    add_phi_arg(phi, next, loop_latch_edge(loop), UNKNOWN_LOCATION);
    gimple_stmt_iterator gsi = gsi_after_labels(loop->header);
    gsi_insert_before(&gsi, gimple_build_assign(next, PLUS_EXPR, now, constant(weight)),
                      GSI_SAME_STMT);
    FOR_EACH_VEC_ELT(exits, i, e)
    {
        basic_block out = split_edge(e);
        add_at_start(out, next);
    }
    return true;
}

// A loop that is counted ahead: what it costs, and where that is known.
struct ahead {
    class loop *loop;
    basic_block before;
    tree cost;
};

// Loops inside `parent` are done; those of them that are counted ahead are returned, to be added
// here or further out.
std::vector<ahead> count_loops(class loop *parent);

bool same_for_all(class loop *loop, const ahead &inner, edge exit)
{
    return expr_invariant_in_loop_p(loop, inner.cost) &&
           dominated_by_p(CDI_DOMINATORS, exit->src, inner.before);
}

void count_each_iteration(class loop *loop, const body &found, basic_block before,
                          std::vector<ahead> &inner)
{
    unsigned weight = found.weight;
    for (ahead &a : inner) {
        bool always = dominated_by_p(CDI_DOMINATORS, loop->latch, a.before);
        add_at_end(a.before, always ? sum_of(a.cost, constant(weight)) : a.cost);
        if (always)
            weight = 0;
    }
    if (!weight)
        return;
    bool simple = before && loop->latch && EDGE_COUNT(loop->header->preds) == 2;
    if (simple && !loop->inner && !found.calls)
        count_in_register(loop, before, weight);
    else if (!(simple && found.recurses && !found.unknown &&
               count_until_exit(loop, before, weight)))
        add_at_start(loop->header, constant(weight));
}

// The cost of the loop if it is counted ahead, else NULL.
tree count_loop(class loop *loop, basic_block before)
{
    std::vector<ahead> inner = count_loops(loop);
    body found = look_at(loop);
    edge exit = usual_exit(loop);
    tree times = before && !found.unknown ? iterations(loop, exit) : NULL;
    if (!times || (found.recurses && operations(times) > 3)) {
        count_each_iteration(loop, found, before, inner);
        return NULL;
    }
    tree cost = constant(found.weight);
    for (ahead &a : inner)
        if (same_for_all(loop, a, exit))
            cost = sum_of(cost, a.cost);
        else
            add_at_end(a.before, a.cost);
    return fold_build2(MULT_EXPR, uint64_type_node, times, cost);
}

std::vector<ahead> count_loops(class loop *parent)
{
    std::vector<ahead> all;
    for (class loop *loop = parent->inner; loop; loop = loop->next) {
        basic_block before = preheader(loop);
        if (tree cost = count_loop(loop, before))
            all.push_back({loop, before, cost});
    }
    return all;
}

// Cycles that are no loops: entered at several places, or by computed jumps.
void count_other_cycles()
{
    edge e;
    edge_iterator ei;
    basic_block bb;
    mark_dfs_back_edges();
    FOR_EACH_BB_FN(bb, cfun)
    {
        bool cycle = false;
        FOR_EACH_EDGE(e, ei, bb->preds)
        cycle |= (e->flags & EDGE_DFS_BACK) &&
                 !(bb->loop_father->header == bb && flow_bb_inside_loop_p(bb->loop_father, e->src));
        if (cycle)
            add_at_start(bb, constant(weight_of(bb) + 1));
    }
}

// Jumps from elsewhere (longjmp) are counted where they arrive.
void count_returns()
{
    basic_block bb;
    FOR_EACH_BB_FN(bb, cfun)
    {
        gimple_stmt_iterator gsi = gsi_last_nondebug_bb(bb);
        gcall *c = gsi_end_p(gsi) ? NULL : dyn_cast<gcall *>(gsi_stmt(gsi));
        edge e =
            c && (gimple_call_flags(c) & ECF_RETURNS_TWICE) ? find_fallthru_edge(bb->succs) : NULL;
        if (e && e->dest != EXIT_BLOCK_PTR_FOR_FN(cfun))
            add_at_start(e->dest, constant(weight_of_call));
    }
}

void count_copies()
{
    basic_block bb;
    FOR_EACH_BB_FN(bb, cfun)
    for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
        gcall *c = dyn_cast<gcall *>(gsi_stmt(gsi));
        tree length = c ? length_of_copy(c) : NULL;
        if (length)
            add(&gsi, false,
                fold_build2(TRUNC_DIV_EXPR, uint64_type_node,
                            fold_convert(uint64_type_node, length), constant(bytes_per_tick)));
    }
}

// Functions

struct outside { // what is in no loop
    unsigned weight = 0;
    bool unknown = false;     // anywhere, in loops too
    basic_block calls = NULL; // dominates the calls that may come back to this function
};

outside look_at_function(basic_block entry)
{
    outside found;
    double sum = 0;
    basic_block bb;
    FOR_EACH_BB_FN(bb, cfun)
    {
        bool loose = !loop_outer(bb->loop_father);
        if (loose)
            sum += weight_of(bb) * share(bb, entry);
        for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
            unsigned weight;
            gcall *c = dyn_cast<gcall *>(gsi_stmt(gsi));
            call kind = c ? call_kind(c, &weight) : call::plain;
            if (kind == call::unknown || kind == call::recursive) {
                found.unknown |=
                    kind == call::unknown || gimple_call_fndecl(c) != current_function_decl;
                if (loose)
                    found.calls = found.calls
                                      ? nearest_common_dominator(CDI_DOMINATORS, found.calls, bb)
                                      : bb;
            }
        }
    }
    found.weight = (unsigned)(sum + 0.5);
    while (found.calls && loop_outer(found.calls->loop_father))
        found.calls = get_immediate_dominator(CDI_DOMINATORS, found.calls);
    return found;
}

// The weight of what is in no loop goes where it costs least. Returns what is left to the callers.
unsigned count_function(basic_block entry, const outside &found, std::vector<ahead> &loops)
{
    unsigned left = found.weight;
    if (found.calls || left >= weight_worth_adding) {
        basic_block place = found.calls && left < weight_worth_adding ? found.calls : entry;
        for (ahead &a : loops)
            if (left && a.before == place) {
                a.cost = sum_of(a.cost, constant(left));
                left = 0;
            }
        if (left)
            add_at_start(place, constant(left));
        left = 0;
    } else if (!loops.empty()) {
        loops[0].cost = sum_of(loops[0].cost, constant(left));
        left = 0;
    }
    for (ahead &a : loops)
        add_at_end(a.before, a.cost);
    return left;
}

// Who counts has effects. Attributes that deny it served their purpose in the passes before this
// one.
void forget_purity()
{
    basic_block bb;
    FOR_EACH_BB_FN(bb, cfun)
    for (gimple_stmt_iterator gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi)) {
        gcall *c = dyn_cast<gcall *>(gsi_stmt(gsi));
        tree fndecl = c ? gimple_call_fndecl(c) : NULL;
        if (!fndecl || fndecl_built_in_p(fndecl) || !(TREE_READONLY(fndecl) || DECL_PURE_P(fndecl)))
            continue;
        TREE_READONLY(fndecl) = 0;
        DECL_PURE_P(fndecl) = 0;
        update_stmt(c);
    }
    TREE_READONLY(current_function_decl) = 0;
    DECL_PURE_P(current_function_decl) = 0;
}

const pass_data ticks_data = {GIMPLE_PASS,
                              "reprise_ticks",
                              OPTGROUP_NONE,
                              TV_NONE,
                              PROP_cfg | PROP_ssa,
                              0,
                              0,
                              0,
                              TODO_update_ssa_only_virtuals};

class ticks_pass : public gimple_opt_pass
{
  public:
    ticks_pass() : gimple_opt_pass(ticks_data, g)
    {
    }
    bool gate(function *fun) final override
    {
        return !lookup_attribute("no_instrument_function", DECL_ATTRIBUTES(fun->decl));
    }
    unsigned execute(function *fun) final override;
};

unsigned ticks_pass::execute(function *fun)
{
    if (!ticks)
        ticks = declare_ticks();
    loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
    scev_initialize();
    calculate_dominance_info(CDI_DOMINATORS);

    basic_block entry = single_succ(ENTRY_BLOCK_PTR_FOR_FN(fun));
    outside found = look_at_function(entry);
    std::vector<ahead> loops = count_loops(loops_for_fn(fun)->tree_root);
    unsigned left = count_function(entry, found, loops);
    count_other_cycles();
    count_returns();
    count_copies();
    forget_purity();
    summaries[DECL_UID(fun->decl)] = {!found.unknown, left};

    scev_finalize();
    loop_optimizer_finalize();
    mark_virtual_operands_for_renaming(fun);
    return 0;
}

const ggc_root_tab roots[] = {{&ticks, 1, sizeof ticks, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
                              LAST_GGC_ROOT_TAB};
plugin_info about = {REPRISE_VERSION, "counts executed code in reprise_ticks"};

} // namespace

int plugin_init(plugin_name_args *args, plugin_gcc_version *version)
{
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("the plugin %qs of reprise is for GCC %s", args->full_name, gcc_version.basever);
        return 1;
    }
    register_pass_info where = {new ticks_pass, "optimized", 1, PASS_POS_INSERT_AFTER};
    register_callback(args->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &where);
    register_callback(args->base_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
                      const_cast<ggc_root_tab *>(roots));
    register_callback(args->base_name, PLUGIN_INFO, NULL, &about);
    return 0;
}
