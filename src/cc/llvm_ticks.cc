// SPDX-License-Identifier: MIT
// A pass of LLVM: code that clang compiles counts what it executes, in `reprise_ticks` of its
// thread (ticks.h). The method is that of gcc_ticks.cc, whose head explains it.
#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "llvm_common.h"

using namespace llvm;

namespace
{

const unsigned weight_of_call = 20; // to what we do not know
const unsigned weight_of_entry = 4; // to what counts by itself
const unsigned weight_worth_adding = 40;
const unsigned bytes_per_tick = 16; // of copies
const unsigned dear = 20;           // an expression that is not worth computing ahead

// What callers need to know of a function that is done already. Callees come first, unless they are
// part of a cycle.
struct summary {
    bool closed;
    unsigned weight; // that it does not count by itself
};

using summary_map = DenseMap<const Function *, summary>;
enum class call { plain, closed, unknown, recursive };

struct body {
    bool calls = false,
         unknown = false;  // any call that may count; one that may be something with a time
    bool recurses = false; // in each iteration
    unsigned weight = 0;   // of an iteration, without inner loops
};

// A loop that is counted ahead: what it costs (times * each + extra), and where that is known. As
// one expression the product would be multiplied out, which takes longer to compute.
struct ahead {
    BasicBlock *before;
    const SCEV *times, *each;
    unsigned extra;
};

class function_counter
{
  public:
    function_counter(Function &function, FunctionAnalysisManager &analyses, GlobalVariable *ticks,
                     const summary_map &known)
        : function(function), ticks(ticks), known(known),
          long_type(Type::getInt64Ty(function.getContext())),
          loops(analyses.getResult<LoopAnalysis>(function)),
          dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
          evolution(analyses.getResult<ScalarEvolutionAnalysis>(function)),
          frequency(analyses.getResult<BlockFrequencyAnalysis>(function)),
          target(analyses.getResult<TargetIRAnalysis>(function)),
          libraries(analyses.getResult<TargetLibraryAnalysis>(function)),
          expander(evolution, function.getParent()->getDataLayout(), "ticks")
    {
    }
    summary run();

  private:
    Function &function;
    GlobalVariable *ticks;
    const summary_map &known;
    Type *long_type;
    LoopInfo &loops;
    DominatorTree &dominators;
    ScalarEvolution &evolution;
    BlockFrequencyInfo &frequency;
    TargetTransformInfo &target;
    TargetLibraryInfo &libraries;
    SCEVExpander expander;

    call call_kind(const CallBase &, unsigned *weight);
    unsigned weight_of(const BasicBlock &);
    double share(const BasicBlock *, const BasicBlock *of);
    void add(Instruction *before, Value *amount);
    void add(Instruction *before, unsigned amount)
    {
        add(before, ConstantInt::get(long_type, amount));
    }
    void add(const ahead &);
    const SCEV *cost_of(const ahead &a)
    {
        return evolution.getAddExpr(evolution.getMulExpr(a.times, a.each),
                                    evolution.getConstant(long_type, a.extra));
    }
    body look_at(Loop *);
    BasicBlock *usual_exiting(Loop *);
    const SCEV *iterations(Loop *, BasicBlock *exiting, BasicBlock *before, bool recurses);
    bool same_for_all(Loop *, const ahead &inner, BasicBlock *exiting, BasicBlock *before);
    PHINode *sum_in_register(Loop *, BasicBlock *before, Value *first, unsigned weight,
                             Value **next);
    void count_in_register(Loop *, BasicBlock *before, unsigned weight);
    bool count_until_exit(Loop *, BasicBlock *before, unsigned weight);
    void count_each_iteration(Loop *, const body &, BasicBlock *before, std::vector<ahead> &inner);
    bool count_loop(Loop *, BasicBlock *before, ahead *cost);
    template <class Loops> std::vector<ahead> count_loops(const Loops &);
    void count_other_cycles();
    void count_returns();
    void count_copies();
    BasicBlock *place_for_calls(bool *unknown, double *weight);
    unsigned count_function(BasicBlock *calls, unsigned weight, std::vector<ahead> &);
};

// Calls

bool is_runtime(StringRef name)
{
    return begins_with(name, "_gfortran_") || begins_with(name, "__cxa_") ||
           begins_with(name, "_Unwind_");
}

// The bytes that a copy moves, if they are many or unknown, else null. Loops become such calls.
Value *length_of_copy(const CallBase &instruction)
{
    auto *copy = dyn_cast<MemIntrinsic>(&instruction);
    auto *known = copy ? dyn_cast<ConstantInt>(copy->getLength()) : nullptr;
    return !copy || (known && known->getValue().ult(256)) ? nullptr : copy->getLength();
}

call function_counter::call_kind(const CallBase &instruction, unsigned *weight)
{
    const Function *callee = instruction.getCalledFunction();
    LibFunc library;
    *weight = weight_of_call;
    if (length_of_copy(instruction))
        return call::closed; // it will count
    if (isa<IntrinsicInst>(instruction)) {
        *weight = instruction.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(instruction) ? 0 : 1;
        return call::plain;
    }
    if (instruction.doesNotReturn() || instruction.isInlineAsm())
        return call::plain;
    if (!callee)
        return call::unknown;
    if (callee == &function)
        return call::recursive;
    if (callee->isDeclaration() &&
        (libraries.getLibFunc(*callee, library) || is_runtime(callee->getName())))
        return call::plain;
    if (!callee->hasExactDefinition())
        return call::unknown;
    auto found = known.find(callee);
    if (found == known.end())
        return call::recursive; // a cycle of functions
    *weight = weight_of_entry + found->second.weight;
    return found->second.closed ? call::closed : call::unknown;
}

// Whether a call to a library may end up in the program again, as that of qsort does. Of known
// functions, those for mathematics do not.
bool may_call_back(const CallBase &instruction)
{
    return !isa<IntrinsicInst>(instruction) && !instruction.isInlineAsm() &&
           !instruction.doesNotReturn() && !instruction.getType()->isFloatingPointTy();
}

unsigned function_counter::weight_of(const BasicBlock &block)
{
    unsigned sum = 0, weight;
    for (const Instruction &i : block) {
        if (auto *c = dyn_cast<CallBase>(&i)) {
            call_kind(*c, &weight);
            sum += weight;
        } else if (!isa<PHINode>(i)) {
            auto cost = target.getInstructionCost(&i, TargetTransformInfo::TCK_CodeSize).getValue();
            sum += cost ? (unsigned)*cost : 1;
        }
    }
    return sum;
}

// How often a block is executed for each time that `of` is, as the compiler guesses.
double function_counter::share(const BasicBlock *block, const BasicBlock *of)
{
    double all = (double)frequency.getBlockFreq(of).getFrequency();
    return all > 0 ? std::min(1.0, (double)frequency.getBlockFreq(block).getFrequency() / all) : 1;
}

// Emitting

void function_counter::add(Instruction *before, Value *amount)
{
    IRBuilder<> at(before);
    at.CreateStore(at.CreateAdd(at.CreateLoad(long_type, ticks), amount), ticks);
}

void function_counter::add(const ahead &loop)
{
    Instruction *end = loop.before->getTerminator();
    if (isa<SCEVConstant>(cost_of(loop)))
        return add(end, cast<SCEVConstant>(cost_of(loop))->getValue());
    Value *times = expander.expandCodeFor(loop.times, long_type, end),
          *each = expander.expandCodeFor(loop.each, long_type, end);
    IRBuilder<> at(end);
    add(end, at.CreateAdd(at.CreateMul(times, each), ConstantInt::get(long_type, loop.extra)));
}

// Loops

body function_counter::look_at(Loop *loop)
{
    body found;
    double sum = 0;
    BasicBlock *latch = loop->getLoopLatch();
    for (BasicBlock *block : loop->blocks()) {
        if (loops.getLoopFor(block) == loop)
            sum += weight_of(*block) * share(block, loop->getHeader());
        for (Instruction &i : *block)
            if (auto *c = dyn_cast<CallBase>(&i)) {
                unsigned weight;
                call kind = call_kind(*c, &weight);
                found.calls |= kind != call::plain || may_call_back(*c);
                found.unknown |= kind == call::unknown ||
                                 (kind == call::recursive && c->getCalledFunction() != &function);
                found.recurses |=
                    kind == call::recursive && latch && dominators.dominates(block, latch);
            }
    }
    found.weight = sum < 1 ? 1 : (unsigned)(sum + 0.5);
    return found;
}

// The block by whose exit the loop ends, if there is one beside those into blocks from which
// nothing returns.
BasicBlock *function_counter::usual_exiting(Loop *loop)
{
    SmallVector<Loop::Edge, 4> exits;
    BasicBlock *found = nullptr;
    loop->getExitEdges(exits);
    for (auto &exit : exits) {
        if (isa<UnreachableInst>(exit.second->getTerminator()))
            continue;
        if (found)
            return nullptr;
        found = const_cast<BasicBlock *>(exit.first);
    }
    return found;
}

// How often the header is executed, as an expression of what is known before the loop, or null.
const SCEV *function_counter::iterations(Loop *loop, BasicBlock *exiting, BasicBlock *before,
                                         bool recurses)
{
    if (!exiting)
        return nullptr;
    const SCEV *count = evolution.getExitCount(loop, exiting);
    if (isa<SCEVCouldNotCompute>(count))
        return nullptr;
    count = evolution.getTruncateOrZeroExtend(
        evolution.getAddExpr(count, evolution.getOne(count->getType())), long_type);
    Instruction *at = before->getTerminator();
#if LLVM_VERSION_MAJOR >= 16
    bool safe = expander.isSafeToExpandAt(count, at);
#else
    bool safe = isSafeToExpandAt(count, at, evolution);
#endif
#if LLVM_VERSION_MAJOR >= 15
    return safe && !expander.isHighCostExpansion({count}, loop, recurses ? 3 : dear, &target, at)
               ? count
               : nullptr;
#else
    return safe && !expander.isHighCostExpansion(count, loop, recurses ? 3 : dear, &target, at)
               ? count
               : nullptr;
#endif
}

bool function_counter::same_for_all(Loop *loop, const ahead &inner, BasicBlock *exiting,
                                    BasicBlock *before)
{
    const SCEV *cost = cost_of(inner);
#if LLVM_VERSION_MAJOR >= 16
    bool safe = expander.isSafeToExpandAt(cost, before->getTerminator());
#else
    bool safe = isSafeToExpandAt(cost, before->getTerminator(), evolution);
#endif
    return safe && evolution.isLoopInvariant(cost, loop) &&
           dominators.dominates(inner.before, exiting);
}

PHINode *function_counter::sum_in_register(Loop *loop, BasicBlock *before, Value *first,
                                           unsigned weight, Value **next)
{
    PHINode *now = PHINode::Create(long_type, 2, "", &loop->getHeader()->front());
    IRBuilder<> at(&*loop->getHeader()->getFirstInsertionPt());
    *next = at.CreateAdd(now, ConstantInt::get(long_type, weight));
    now->addIncoming(first, before);
    now->addIncoming(*next, loop->getLoopLatch());
    return now;
}

void function_counter::count_in_register(Loop *loop, BasicBlock *before, unsigned weight)
{
    Value *first = IRBuilder<>(before->getTerminator()).CreateLoad(long_type, ticks), *next;
    sum_in_register(loop, before, first, weight, &next);
    IRBuilder<> at(cast<Instruction>(next)->getNextNode());
    at.CreateStore(next, ticks, true); // volatile: in a loop that never ends it would be dead
}

// Whether the loop is counted in a register and added when it is left. That is for loops that
// recurse: the innermost of them end all the time.
bool function_counter::count_until_exit(Loop *loop, BasicBlock *before, unsigned weight)
{
    SmallVector<BasicBlock *, 4> exits;
    Value *next;
    if (!loop->hasDedicatedExits())
        return false;
    loop->getUniqueExitBlocks(exits);
    sum_in_register(loop, before, ConstantInt::get(long_type, 0), weight, &next);
    for (BasicBlock *out : exits)
        add(&*out->getFirstInsertionPt(), next);
    return true;
}

void function_counter::count_each_iteration(Loop *loop, const body &found, BasicBlock *before,
                                            std::vector<ahead> &inner)
{
    unsigned weight = found.weight;
    BasicBlock *latch = loop->getLoopLatch();
    for (ahead &a : inner) {
        bool always = latch && dominators.dominates(a.before, latch);
        if (always)
            std::swap(a.extra, weight);
        add(a);
    }
    if (!weight)
        return;
    if (before && latch && loop->isInnermost() && !found.calls)
        count_in_register(loop, before, weight);
    else if (!(before && latch && found.recurses && !found.unknown &&
               count_until_exit(loop, before, weight)))
        add(&*loop->getHeader()->getFirstInsertionPt(), weight);
}

// Whether the loop is counted ahead; then sets what it costs.
bool function_counter::count_loop(Loop *loop, BasicBlock *before, ahead *cost)
{
    std::vector<ahead> inner = count_loops(*loop);
    body found = look_at(loop);
    BasicBlock *exiting = usual_exiting(loop);
    const SCEV *times =
        before && !found.unknown ? iterations(loop, exiting, before, found.recurses) : nullptr;
    if (!times) {
        count_each_iteration(loop, found, before, inner);
        return false;
    }
    const SCEV *each = evolution.getConstant(long_type, found.weight);
    for (ahead &a : inner)
        if (same_for_all(loop, a, exiting, before))
            each = evolution.getAddExpr(each, cost_of(a));
        else
            add(a);
    *cost = {before, times, each, 0};
    return true;
}

// The loops directly inside; those that are counted ahead are returned, to be added by the caller
// or further out.
template <class Loops> std::vector<ahead> function_counter::count_loops(const Loops &inside)
{
    std::vector<ahead> all;
    for (Loop *loop : inside) {
        ahead cost;
        if (count_loop(loop, loop->getLoopPreheader(), &cost))
            all.push_back(cost);
    }
    return all;
}

// Cycles that are no loops: entered at several places, or by computed jumps.
void function_counter::count_other_cycles()
{
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> edges;
    SmallPtrSet<BasicBlock *, 8> done;
    FindFunctionBackedges(function, edges);
    for (auto &edge : edges) {
        auto *to = const_cast<BasicBlock *>(edge.second);
        if (!(loops.isLoopHeader(to) && loops.getLoopFor(to)->contains(edge.first)) &&
            done.insert(to).second)
            add(&*to->getFirstInsertionPt(), weight_of(*to) + 1);
    }
}

// Jumps from elsewhere (longjmp) are counted where they arrive.
void function_counter::count_returns()
{
    for (BasicBlock &block : function)
        for (Instruction &i : block)
            if (isa<CallInst>(i) && cast<CallInst>(i).hasFnAttr(Attribute::ReturnsTwice))
                add(i.getNextNode(), weight_of_call);
}

void function_counter::count_copies()
{
    for (BasicBlock &block : function)
        for (Instruction &i : block)
            if (auto *c = dyn_cast<CallBase>(&i))
                if (Value *length = length_of_copy(*c)) {
                    IRBuilder<> at(&i);
                    add(&i, at.CreateUDiv(at.CreateZExtOrTrunc(length, long_type),
                                          ConstantInt::get(long_type, bytes_per_tick)));
                }
}

// Functions

// A block outside of loops that dominates the calls which may come back to this function, or null.
// Also looks whether anything unknown is called, and weighs what is in no loop.
BasicBlock *function_counter::place_for_calls(bool *unknown, double *weight)
{
    BasicBlock *place = nullptr;
    for (BasicBlock &block : function) {
        if (!dominators.isReachableFromEntry(&block))
            continue;
        bool loose = !loops.getLoopFor(&block);
        if (loose)
            *weight += weight_of(block) * share(&block, &function.getEntryBlock());
        for (Instruction &i : block) {
            unsigned ignored;
            auto *c = dyn_cast<CallBase>(&i);
            call kind = c ? call_kind(*c, &ignored) : call::plain;
            if (kind != call::unknown && kind != call::recursive)
                continue;
            *unknown |= kind == call::unknown || c->getCalledFunction() != &function;
            if (loose)
                place = place ? dominators.findNearestCommonDominator(place, &block) : &block;
        }
    }
    while (place && loops.getLoopFor(place))
        place = dominators.getNode(place)->getIDom()->getBlock();
    return place;
}

// The weight of what is in no loop goes where it costs least. Returns what is left to the callers.
unsigned function_counter::count_function(BasicBlock *calls, unsigned weight,
                                          std::vector<ahead> &ahead_loops)
{
    unsigned left = weight;
    if (calls || left >= weight_worth_adding) {
        BasicBlock *place = calls && left < weight_worth_adding ? calls : &function.getEntryBlock();
        for (ahead &a : ahead_loops)
            if (left && a.before == place)
                std::swap(a.extra, left);
        if (left)
            add(&*place->getFirstInsertionPt(), left);
        left = 0;
    } else if (!ahead_loops.empty())
        std::swap(ahead_loops[0].extra, left);
    for (ahead &a : ahead_loops)
        add(a);
    return left;
}

summary function_counter::run()
{
    bool unknown = false;
    double weight = 0;
    BasicBlock *calls = place_for_calls(&unknown, &weight);
    std::vector<ahead> ahead_loops = count_loops(loops);
    unsigned left = count_function(calls, (unsigned)(weight + 0.5), ahead_loops);
    count_other_cycles();
    count_returns();
    count_copies();
    return {!unknown, left};
}

GlobalVariable *declare_ticks(Module &module)
{
    auto *ticks = cast<GlobalVariable>(
        module.getOrInsertGlobal("reprise_ticks", Type::getInt64Ty(module.getContext())));
    bool shared = is_for_shared_library(module);
    ticks->setThreadLocalMode(shared ? GlobalVariable::InitialExecTLSModel
                                     : GlobalVariable::LocalExecTLSModel);
    ticks->setDSOLocal(!shared);
    return ticks;
}

struct ticks_pass : PassInfoMixin<ticks_pass> {
    static bool isRequired()
    {
        return true;
    }
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses)
    {
        auto &functions =
            analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        GlobalVariable *ticks = declare_ticks(module);
        summary_map known;
        CallGraph graph(module);
        for (auto group = scc_begin(&graph); !group.isAtEnd(); ++group)
            for (CallGraphNode *node : *group) {
                Function *function = node->getFunction();
                if (function && !function->isDeclaration() &&
                    !function->hasFnAttribute(Attribute::Naked))
                    known[function] = function_counter(*function, functions, ticks, known).run();
            }
        forget_purity(module);
        return PreservedAnalyses::none();
    }
};

void register_pass(PassBuilder &builder)
{
    builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, auto, auto...) {
        passes.addPass(createModuleToFunctionPassAdaptor(LoopSimplifyPass()));
        passes.addPass(ticks_pass());
    });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "reprise-ticks", REPRISE_VERSION, register_pass};
}
