// SPDX-License-Identifier: MIT
// A pass of LLVM: code that clang compiles tells of its loads and stores, where a window may be
// near (window/tracking.h).
//
// It works after all optimisations, so that it stands in the way of none, and sees the loads that
// are really made. Behind each of them:
//
//     if ((region = reprise_track.slot[address >> 12 & 0xffff]) != 0)
//         if (it is all in that region, and the shadow has the same value)
//             ++*reprise_track.loads;
//         else
//             value = reprise_track_load_64(address, value);
//
// An innermost loop without calls, of which it is known ahead from where to where it loads and
// stores, is there three times. If all of that is below or above all windows, as it is without
// reprise, a loop runs that tells of nothing. If each place is all in one region, or far from all,
// as in most loops of a recording, a loop runs that knows the shadows ahead (watch_segment). Else
// the above is done to each access: also alone, where loads must give what was recorded.
//
// A load is made first, and its value looked at then: so it does not matter that another process
// stores there meanwhile. What the program uses is the value that the function returns. Memory that
// no window can have is left out: constants, and variables whose address nobody else knows.
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "llvm_common.h"

using namespace llvm;

namespace
{

const unsigned page_bits = 12, slots = 1 << 16, widest = 64; // as window/tracking.h says
const unsigned most_ranges = 12,
               longest_loop = 300; // of a loop that is there three times: places, instructions

// From the first byte that a loop accesses at some place of it to behind the last.
struct range {
    const SCEV *low, *high;
    unsigned object;             // those of one object are in one region, or far
    Value *first, *end, *is_far; // in front of the loop
};

// A pointer from which a loop goes to places that it accesses.
struct object {
    const SCEV *base;
    Value *to_shadow, *is_counted; // how far a window's shadow is away, and 1; or 0
};

// The copy of a loop that knows its shadows ahead.
struct watched_loop {
    std::vector<BasicBlock *> blocks;
    DenseMap<const Instruction *, unsigned> object_of; // of accesses
    SmallVector<range, 8> ranges;
    SmallVector<object, 4> objects;
    Value *loads;      // where they are counted
    AllocaInst *count; // the same in a register: to add to memory again and again takes longer than
                       // all else
    Instruction *front; // the end of the block in front of it
};

class tracker
{
  public:
    tracker(Module &module)
        : module(module), context(module.getContext()), layout(module.getDataLayout()),
          word(Type::getInt64Ty(context)), byte(Type::getInt8Ty(context)),
          bytes(byte->getPointerTo()), nothing(Type::getVoidTy(context)),
          region_type(StructType::get(word, word, word, word, ArrayType::get(word, 4))),
          track_type(StructType::get(ArrayType::get(byte, slots), ArrayType::get(region_type, 256),
                                     word->getPointerTo(), word, word)),
          shared(cast<GlobalVariable>(module.getOrInsertGlobal("reprise_track", track_type))),
          off_type(Type::getInt32Ty(context)->getPointerTo()),
          off(cast<GlobalVariable>(module.getOrInsertGlobal("reprise_track_off", off_type))),
          seldom(MDBuilder(context).createBranchWeights(1, 100))
    {
        bool library = is_for_shared_library(module);
        shared->setDSOLocal(!library);
        off->setDSOLocal(!library);
        off->setThreadLocalMode(library ? GlobalVariable::InitialExecTLSModel
                                        : GlobalVariable::LocalExecTLSModel);
    }
    void track(Function &, FunctionAnalysisManager &);

  private:
    Module &module;
    LLVMContext &context;
    const DataLayout &layout;
    Type *word, *byte, *bytes, *nothing;
    StructType *region_type, *track_type;
    GlobalVariable *shared; // reprise_track
    Type *off_type;
    GlobalVariable *off; // reprise_track_off
    MDNode *seldom;
    AllocaInst *room = nullptr;        // of the function, for values that are told by their place
    DenseMap<const Value *, bool> own; // variables that nobody else knows
    SmallPtrSet<const Instruction *, 8> ours; // that are none of the program
    SmallPtrSet<const BasicBlock *, 16>
        done; // blocks of loops that tell of nothing, or know their shadows
    std::vector<watched_loop> watched;

    FunctionCallee hook(const Twine &name, Type *result, ArrayRef<Type *> parameters);
    bool matters(const Value *pointer);
    Value *slot_of(IRBuilder<> &, Value *pointer);
    Value *is_near(IRBuilder<> &at, Value *slot)
    {
        return at.CreateICmpNE(slot, ConstantInt::get(byte, 0));
    }
    Value *shadow_of(Instruction *end, Value *slot, Value *pointer, unsigned bits, BasicBlock *slow,
                     BasicBlock **inside);
    Value *place(IRBuilder<> &at, Value *pointer)
    {
        return at.CreatePointerCast(pointer, bytes);
    }
    Value *number(uint64_t n)
    {
        return ConstantInt::get(word, n);
    }
    unsigned size_of(Type *);
    unsigned bits_by_value(Type *);
    bool is_comparable(Type *);
    Value *as_integer(IRBuilder<> &at, Value *value, unsigned bits)
    {
        return value->getType()->isPointerTy() ? at.CreatePtrToInt(value, at.getIntNTy(bits))
                                               : at.CreateBitCast(value, at.getIntNTy(bits));
    }
    Value *room_for(Instruction &, Type *);
    Value *tell_load(IRBuilder<> &, Value *pointer, Value *value);
    void tell_store(IRBuilder<> &, Value *pointer, Value *value);
    bool find_range(Loop *, const Instruction &, ScalarEvolution &, watched_loop &);
    bool find_ranges(Loop *, ScalarEvolution &, watched_loop &);
    Value *are_far(Loop *, ScalarEvolution &, SmallVectorImpl<range> &);
    Value *are_known(Instruction *end, watched_loop &);
    bool can_watch(const Loop *);
    BasicBlock *copy(Loop *, Value *condition, ValueToValueMapTy &, SmallVectorImpl<BasicBlock *> &,
                     LoopInfo &, DominatorTree &, ScalarEvolution &);
    Value *differs(IRBuilder<> &, const watched_loop &, LoadInst *);
    void watch_segment(const watched_loop &, ArrayRef<LoadInst *>);
    void watch(const watched_loop &);
    void divide(Loop *, LoopInfo &, DominatorTree &, ScalarEvolution &);
    void track_load(LoadInst &);
    void track_store(StoreInst &);
    void track_atomic(Instruction &, unsigned pointer_operand, Type *);
    void track_copy(CallBase &, bool is_fill);
    void track_masked(IntrinsicInst &);
    void track(Instruction &);
};

FunctionCallee tracker::hook(const Twine &name, Type *result, ArrayRef<Type *> parameters)
{
    FunctionCallee callee =
        module.getOrInsertFunction(("reprise_track_" + name).str(),
                                   FunctionType::get(result, parameters, false));
    auto *function = cast<Function>(callee.getCallee());
    function->setVisibility(GlobalValue::HiddenVisibility);
    function->setDSOLocal(true);
    function->addFnAttr(Attribute::NoUnwind);
    return callee;
}

bool tracker::matters(const Value *pointer)
{
    if (pointer->getType()->getPointerAddressSpace() != 0 || pointer->isSwiftError())
        return false;
    const Value *object = getUnderlyingObject(pointer, 0);
    if (auto *global = dyn_cast<GlobalVariable>(object))
        return !global->isConstant() && !begins_with(global->getName(), "reprise_track");
    if (!isa<AllocaInst>(object))
        return true;
    auto known = own.find(object);
    if (known == own.end())
        known = own.insert({object, !PointerMayBeCaptured(object, true, true)}).first;
    return !known->second;
}

Value *tracker::slot_of(IRBuilder<> &at, Value *pointer)
{
    Value *page = at.CreateLShr(at.CreatePtrToInt(pointer, word), page_bits);
    return at.CreateLoad(byte, at.CreateInBoundsGEP(track_type, shared,
                                                    {number(0), at.getInt32(0),
                                                     at.CreateAnd(page, slots - 1)}));
}

// Where the shadow of an access is that is all in one region, and not made inside an MPI call, in
// the new block `inside`, which has no end yet. Others go to `slow`. `end` is that of the block in
// which a window is near; it is removed.
Value *tracker::shadow_of(Instruction *end, Value *slot, Value *pointer, unsigned bits,
                          BasicBlock *slow, BasicBlock **inside)
{
    BasicBlock *near = end->getParent();
    end->eraseFromParent();
    *inside = BasicBlock::Create(context, "", near->getParent(), slow);
    BasicBlock *within = BasicBlock::Create(context, "", near->getParent(), *inside);
    IRBuilder<> at(near);
    Value *region = at.CreateInBoundsGEP(track_type, shared,
                                         {number(0), at.getInt32(1), at.CreateZExt(slot, word)}),
          *address = at.CreatePtrToInt(pointer, word);
    auto field = [&](unsigned i) {
        return at.CreateLoad(word, at.CreateStructGEP(region_type, region, i));
    };
    at.CreateCondBr(at.CreateICmpULT(at.CreateSub(address, field(0)), field(bits <= 64 ? 1 : 2)),
                    within, slow);
    at.SetInsertPoint(within);
    at.CreateCondBr(at.CreateICmpEQ(at.CreateLoad(at.getInt32Ty(), at.CreateLoad(off_type, off)),
                                    at.getInt32(0)),
                    *inside, slow);
    at.SetInsertPoint(*inside);
    return at.CreateIntToPtr(at.CreateAdd(address, field(3)), at.getIntNTy(bits)->getPointerTo());
}

// Values

unsigned tracker::size_of(Type *type)
{
    TypeSize size = layout.getTypeStoreSize(type);
    if (size.isScalable())
        report_fatal_error(
            "reprise-cc --track: vectors whose length is known only when the program runs cannot "
            "be tracked: compile with -mllvm -scalable-vectorization=off");
    return (unsigned)size.getKnownMinValue();
}

// How many bits a value has that can be passed as an integer, or 0.
unsigned tracker::bits_by_value(Type *type)
{
    uint64_t bits = layout.getTypeSizeInBits(type);
    bool plain = type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy() ||
                 (isa<FixedVectorType>(type) && !type->getScalarType()->isPointerTy());
    return plain && (bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128) &&
                   bits == 8 * size_of(type)
               ? (unsigned)bits
               : 0;
}

// Whether it is as many bytes as it says, of which all count.
bool tracker::is_comparable(Type *type)
{
    bool plain = type->isIntegerTy() || type->isFloatTy() || type->isDoubleTy() ||
                 type->isPointerTy() ||
                 (isa<FixedVectorType>(type) && !type->getScalarType()->isPointerTy());
    return plain && size_of(type) <= widest && layout.getTypeSizeInBits(type) == 8 * size_of(type);
}

Value *tracker::room_for(Instruction &at, Type *type)
{
    BasicBlock &entry = at.getFunction()->getEntryBlock();
    uint64_t size = size_of(type);
    if (!room || (uint64_t)layout.getTypeAllocSize(room->getAllocatedType()) < size) {
        room = new AllocaInst(ArrayType::get(byte, size < widest ? widest : size), 0, "",
                              &*entry.getFirstInsertionPt());
        room->setAlignment(Align(widest));
    }
    return room;
}

// The value that the load gives.
Value *tracker::tell_load(IRBuilder<> &at, Value *pointer, Value *value)
{
    Type *type = value->getType();
    unsigned bits = bits_by_value(type);
    if (bits > 0 && bits <= 64) {
        Type *integer = at.getIntNTy(bits);
        Value *told = at.CreateCall(hook("load_" + Twine(bits), integer, {bytes, integer}),
                                    {place(at, pointer), as_integer(at, value, bits)});
        return type->isPointerTy() ? at.CreateIntToPtr(told, type) : at.CreateBitCast(told, type);
    }
    Value *there = room_for(*at.GetInsertPoint(), type),
          *typed = at.CreatePointerCast(there, type->getPointerTo());
    at.CreateStore(value, typed);
    at.CreateCall(hook("load_n", nothing, {bytes, bytes, word}),
                  {place(at, pointer), place(at, there), number(size_of(type))});
    return at.CreateLoad(type, typed);
}

void tracker::tell_store(IRBuilder<> &at, Value *pointer, Value *value)
{
    Type *type = value->getType();
    unsigned bits = bits_by_value(type);
    if (bits > 0 && bits <= 64) {
        at.CreateCall(hook("store_" + Twine(bits), nothing, {bytes, at.getIntNTy(bits)}),
                      {place(at, pointer), as_integer(at, value, bits)});
        return;
    }
    Value *there = room_for(*at.GetInsertPoint(), type);
    at.CreateStore(value, at.CreatePointerCast(there, type->getPointerTo()));
    at.CreateCall(hook("store_n", nothing, {bytes, bytes, word}),
                  {place(at, pointer), place(at, there), number(size_of(type))});
}

// Loops

bool tracker::find_range(Loop *loop, const Instruction &access, ScalarEvolution &evolution,
                         watched_loop &found)
{
    const Value *pointer = getLoadStorePointerOperand(&access);
    if (!matters(pointer))
        return true;
    const SCEV *place = evolution.getSCEV(const_cast<Value *>(pointer)), *first = place,
               *last = place;
    if (auto *recurrence = dyn_cast<SCEVAddRecExpr>(place)) {
        if (recurrence->getLoop() != loop || !recurrence->isAffine())
            return false;
        first = recurrence->getStart();
        last = recurrence->evaluateAtIteration(evolution.getBackedgeTakenCount(loop), evolution);
        if (!isa<SCEVConstant>(recurrence->getStepRecurrence(evolution)))
            return false;
        if (cast<SCEVConstant>(recurrence->getStepRecurrence(evolution))->getAPInt().isNegative())
            std::swap(first, last);
    } else if (!evolution.isLoopInvariant(place, loop)) {
        return false;
    }
    const SCEV *end = evolution.getAddExpr(
        last,
        evolution.getConstant(word, size_of(getLoadStoreType(const_cast<Instruction *>(&access)))));
    const SCEV *base = evolution.getPointerBase(place);
    unsigned number =
        (unsigned)(find_if(found.objects, [&](const object &o) { return o.base == base; }) -
                   found.objects.begin());
    if (number == found.objects.size())
        found.objects.push_back({base, nullptr, nullptr});
    found.object_of[&access] = number;
    if (none_of(found.ranges, [&](const range &r) { return r.low == first && r.high == end; }))
        found.ranges.push_back({first, end, number, nullptr, nullptr, nullptr});
    return true;
}

bool tracker::find_ranges(Loop *loop, ScalarEvolution &evolution, watched_loop &found)
{
    unsigned count = 0;
    if (isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop)))
        return false;
    for (const BasicBlock *block : loop->blocks())
        for (const Instruction &i : *block) {
            bool simple = isa<LoadInst>(i)    ? cast<LoadInst>(i).isSimple()
                          : isa<StoreInst>(i) ? cast<StoreInst>(i).isSimple()
                                              : !i.mayReadOrWriteMemory() && !i.mayThrow();
            if (!simple || ++count > longest_loop ||
                (getLoadStorePointerOperand(&i) && !find_range(loop, i, evolution, found)))
                return false;
        }
    return !found.ranges.empty() && found.ranges.size() <= most_ranges;
}

// Whether all are below or above all windows, in front of the loop; null: not known there.
Value *tracker::are_far(Loop *loop, ScalarEvolution &evolution, SmallVectorImpl<range> &ranges)
{
    Instruction *end = loop->getLoopPreheader()->getTerminator();
    SCEVExpander expander(evolution, layout, "track");
    for (const range &r : ranges)
        for (const SCEV *place : {r.low, r.high})
#if LLVM_VERSION_MAJOR >= 16
            if (!expander.isSafeToExpandAt(place, end))
#else
            if (!isSafeToExpandAt(place, end, evolution))
#endif
                return nullptr;
    IRBuilder<> at(end);
    Value *lowest = at.CreateLoad(word, at.CreateStructGEP(track_type, shared, 3)),
          *highest = at.CreateLoad(word, at.CreateStructGEP(track_type, shared, 4)),
          *far = at.getTrue();
    for (range &r : ranges) {
        r.first = at.CreatePtrToInt(expander.expandCodeFor(r.low, bytes, end), word);
        r.end = at.CreatePtrToInt(expander.expandCodeFor(r.high, bytes, end), word);
        r.is_far = at.CreateOr(at.CreateICmpULE(r.end, lowest), at.CreateICmpUGE(r.first, highest));
        far = at.CreateAnd(far, r.is_far);
    }
    return far;
}

// Whether each object is all in a region, or far, and the program is not inside an MPI call.
Value *tracker::are_known(Instruction *end, watched_loop &loop)
{
    IRBuilder<> at(end);
    LoadInst *passes = at.CreateLoad(at.getInt32Ty(), at.CreateLoad(off_type, off));
    Value *known = at.CreateICmpEQ(passes, at.getInt32(0));
    ours.insert(passes);
    for (unsigned i = 0; i < loop.objects.size(); i++) {
        Value *region = nullptr, *begin = nullptr, *size = nullptr, *far = at.getTrue(),
              *inside = at.getTrue();
        for (const range &r : loop.ranges) {
            if (r.object != i)
                continue;
            if (!region) {
                region = at.CreateInBoundsGEP(
                    track_type, shared,
                    {number(0), at.getInt32(1),
                     at.CreateZExt(slot_of(at, at.CreateIntToPtr(r.first, bytes)), word)});
                begin = at.CreateLoad(word, at.CreateStructGEP(region_type, region, 0));
                size = at.CreateLoad(word, at.CreateInBoundsGEP(region_type, region,
                                                                {number(0), at.getInt32(4),
                                                                 at.getInt32(0)}));
            }
            Value *from = at.CreateSub(r.first, begin);
            inside =
                at.CreateAnd(inside, at.CreateAnd(at.CreateICmpULT(from, size),
                                                  at.CreateICmpULE(at.CreateSub(r.end, r.first),
                                                                   at.CreateSub(size, from))));
            far = at.CreateAnd(far, r.is_far);
        }
        inside = at.CreateAnd(inside, at.CreateNot(far));
        known = at.CreateAnd(known, at.CreateOr(inside, far));
        loop.objects[i].to_shadow =
            at.CreateSelect(inside, at.CreateLoad(word, at.CreateStructGEP(region_type, region, 3)),
                            number(0));
        loop.objects[i].is_counted = at.CreateZExt(inside, word);
    }
    return known;
}

// Makes a copy of a loop that runs if the condition, which is known in front of it, holds. The
// block that is now in front of the loop itself.
BasicBlock *tracker::copy(Loop *loop, Value *condition, ValueToValueMapTy &map,
                          SmallVectorImpl<BasicBlock *> &blocks, LoopInfo &loops,
                          DominatorTree &dominators, ScalarEvolution &evolution)
{
    BasicBlock *exit = loop->getUniqueExitBlock(), *check = loop->getLoopPreheader(),
               *before = SplitBlock(check, check->getTerminator(), &dominators, &loops);
    Loop *other =
        cloneLoopWithPreheader(before, check, loop, map, ".copy", &loops, &dominators, blocks);
    remapInstructionsInBlocks(blocks, map);
    Instruction *end = check->getTerminator();
    BranchInst::Create(other->getLoopPreheader(), before, condition, end);
    end->eraseFromParent();
    for (PHINode &phi : exit->phis())
        for (unsigned i = 0, count = phi.getNumIncomingValues(); i < count; i++) {
            if (!loop->contains(phi.getIncomingBlock(i)))
                continue;
            Value *same = map.lookup(phi.getIncomingValue(i));
            phi.addIncoming(same ? same : phi.getIncomingValue(i),
                            cast<BasicBlock>(map.lookup(phi.getIncomingBlock(i))));
            evolution.forgetValue(&phi);
        }
    evolution.forgetLoop(loop);
    done.insert(blocks.begin(), blocks.end());
    return before;
}

// Whether all loads and stores of it can be compared by value.
bool tracker::can_watch(const Loop *loop)
{
    for (const BasicBlock *block : loop->blocks())
        for (const Instruction &i : *block) {
            Type *type = getLoadStorePointerOperand(&i) && matters(getLoadStorePointerOperand(&i))
                             ? getLoadStoreType(const_cast<Instruction *>(&i))
                             : nullptr;
            if (type && !is_comparable(type))
                return false;
        }
    return true;
}

void tracker::divide(Loop *loop, LoopInfo &loops, DominatorTree &dominators,
                     ScalarEvolution &evolution)
{
    watched_loop found;
    BasicBlock *exit = loop->getUniqueExitBlock(), *check = loop->getLoopPreheader();
    if (!loop->isInnermost() || !exit || !loop->isLoopSimplifyForm() ||
        !loop->isLCSSAForm(dominators) || !find_ranges(loop, evolution, found))
        return;
    Value *far = are_far(loop, evolution, found.ranges);
    if (!far)
        return;
    ValueToValueMapTy silent, watching;
    SmallVector<BasicBlock *, 8> blocks, watching_blocks;
    Instruction *end =
        copy(loop, far, silent, blocks, loops, dominators, evolution)->getTerminator();
    if (can_watch(loop)) {
        Value *known = are_known(end, found);
        IRBuilder<> at(end);
        found.loads =
            at.CreateLoad(word->getPointerTo(), at.CreateStructGEP(track_type, shared, 2));
        copy(loop, known, watching, watching_blocks, loops, dominators, evolution);
        DenseMap<const Instruction *, unsigned> object_of;
        for (auto &[access, object] : found.object_of)
            object_of[cast<Instruction>(watching.lookup(access))] = object;
        found.object_of = std::move(object_of);
        found.front = watching_blocks[0]->getTerminator();
        found.count = new AllocaInst(word, 0, "",
                                     &*check->getParent()->getEntryBlock().getFirstInsertionPt());
        new StoreInst(new LoadInst(word, found.loads, "", found.front), found.count, found.front);
        found.blocks.assign(watching_blocks.begin(), watching_blocks.end());
        watched.push_back(std::move(found));
    }
    dominators.changeImmediateDominator(exit, check);
}

// In a loop that knows its shadows: loads that nothing parts that stores, or may end the program by
// what they gave. They are counted ahead, so that a process that is killed here has made no more;
// if all have what their shadows have, that is all. Else each is told, in its order, and counted
// there. Recording, a load gives what it has loaded: so nothing depends on when it is looked at.

// A word that is not 0, or a bit that is set, if it does.
Value *tracker::differs(IRBuilder<> &at, const watched_loop &loop, LoadInst *load)
{
    unsigned bits = 8 * size_of(load->getType());
    Value *pointer = place(at, load->getPointerOperand()),
          *shadow =
              at.CreateGEP(byte, pointer, loop.objects[loop.object_of.lookup(load)].to_shadow);
    Value *last =
        at.CreateAlignedLoad(load->getType(),
                             at.CreatePointerCast(shadow, load->getPointerOperand()->getType()),
                             Align(1));
    Value *is = as_integer(at, load, bits), *was = as_integer(at, last, bits);
    return bits <= 64 ? at.CreateZExt(at.CreateXor(is, was), word) : at.CreateICmpNE(is, was);
}

void tracker::watch_segment(const watched_loop &loop, ArrayRef<LoadInst *> loads)
{
    IRBuilder<> front(loop.front), first(loads.front()), at(loads.back()->getNextNode());
    Value *count = nullptr, *words = nullptr, *wide = nullptr;
    for (LoadInst *load : loads) {
        Value *one = loop.objects[loop.object_of.lookup(load)].is_counted,
              *difference = differs(at, loop, load);
        count = count ? front.CreateAdd(count, one) : one;
        Value *&all = difference->getType() == word ? words : wide;
        all = all ? at.CreateOr(all, difference) : difference;
    }
    Value *counted = first.CreateAdd(first.CreateLoad(word, loop.count), count);
    first.CreateStore(counted, loop.count);
    first.CreateStore(counted, loop.loads);
    Value *some = words ? at.CreateICmpNE(words, number(0)) : nullptr;
    some = some && wide ? at.CreateOr(some, wide) : some ? some : wide;
    IRBuilder<> tell(SplitBlockAndInsertIfThen(some, &*at.GetInsertPoint(), false, seldom));
    tell.CreateStore(tell.CreateSub(counted, count), loop.loads);
    for (LoadInst *load : loads) {
        tell.SetCurrentDebugLocation(load->getDebugLoc());
        tell_load(tell, load->getPointerOperand(), load);
    }
}

void tracker::watch(const watched_loop &loop)
{
    std::vector<SmallVector<LoadInst *, 8>> segments;
    for (BasicBlock *block : loop.blocks) {
        segments.emplace_back();
        for (Instruction &i : *block) {
            if (!loop.object_of.count(&i)) {
                if (!isa<PHINode>(i) && !isSafeToSpeculativelyExecute(&i))
                    segments.emplace_back();
                continue;
            }
            if (auto *load = dyn_cast<LoadInst>(&i)) {
                segments.back().push_back(load);
                continue;
            }
            auto *store = cast<StoreInst>(&i);
            IRBuilder<> at(store->getNextNode());
            Value *shadow = at.CreateGEP(byte, place(at, store->getPointerOperand()),
                                         loop.objects[loop.object_of.lookup(&i)].to_shadow);
            at.CreateAlignedStore(store->getValueOperand(),
                                  at.CreatePointerCast(shadow,
                                                       store->getPointerOperand()->getType()),
                                  Align(1));
            segments.emplace_back();
        }
    }
    for (auto &segment : segments)
        if (!segment.empty())
            watch_segment(loop, segment);
}

// Accesses

void tracker::track_load(LoadInst &load)
{
    Value *pointer = load.getPointerOperand();
    if (!matters(pointer))
        return;
    Instruction *next = load.getNextNode();
    IRBuilder<> at(next);
    Value *slot = size_of(load.getType()) <= widest ? slot_of(at, pointer) : nullptr;
    Instruction *end =
        SplitBlockAndInsertIfThen(slot ? is_near(at, slot) : at.getTrue(), next, false, seldom);
    BasicBlock *after = next->getParent(), *slow = end->getParent();
    PHINode *value = PHINode::Create(load.getType(), 3, "", &after->front());
    load.replaceAllUsesWith(value);
    value->addIncoming(&load, load.getParent());
    unsigned bits = bits_by_value(load.getType());
    if (slot && bits) {
        BasicBlock *inside, *seen = BasicBlock::Create(context, "", load.getFunction(), after);
        slow = BasicBlock::Create(context, "", load.getFunction(), after);
        Value *shadow = shadow_of(end, slot, pointer, bits, slow, &inside);
        IRBuilder<> compare(inside), count(seen);
        compare.CreateCondBr(compare.CreateICmpEQ(compare.CreateAlignedLoad(compare.getIntNTy(bits),
                                                                            shadow, Align(1)),
                                                  as_integer(compare, &load, bits)),
                             seen, slow);
        Value *loads =
            count.CreateLoad(word->getPointerTo(), count.CreateStructGEP(track_type, shared, 2));
        count.CreateStore(count.CreateAdd(count.CreateLoad(word, loads), number(1)), loads);
        count.CreateBr(after);
        value->addIncoming(&load, seen);
        end = BranchInst::Create(after, slow);
    }
    IRBuilder<> tell(end);
    tell.SetCurrentDebugLocation(load.getDebugLoc());
    value->addIncoming(tell_load(tell, pointer, &load), slow);
}

void tracker::track_store(StoreInst &store)
{
    Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
    if (!matters(pointer))
        return;
    Instruction *next = store.getNextNode();
    IRBuilder<> at(next);
    Value *slot = size_of(value->getType()) <= widest ? slot_of(at, pointer) : nullptr;
    Instruction *end =
        SplitBlockAndInsertIfThen(slot ? is_near(at, slot) : at.getTrue(), next, false, seldom);
    unsigned bits = bits_by_value(value->getType());
    if (slot && bits) {
        BasicBlock *inside, *after = next->getParent(),
                            *slow = BasicBlock::Create(context, "", store.getFunction(), after);
        Value *shadow = shadow_of(end, slot, pointer, bits, slow, &inside);
        IRBuilder<> keep(inside);
        keep.CreateAlignedStore(as_integer(keep, value, bits), shadow, Align(1));
        keep.CreateBr(after);
        end = BranchInst::Create(after, slow);
    }
    IRBuilder<> tell(end);
    tell.SetCurrentDebugLocation(store.getDebugLoc());
    tell_store(tell, pointer, value);
}

// Before it memory is made right (alone), and after it the same is done to the shadow (recording).
void tracker::track_atomic(Instruction &operation, unsigned pointer_operand, Type *type)
{
    Value *pointer = operation.getOperand(pointer_operand);
    if (!matters(pointer))
        return;
    IRBuilder<> at(&operation);
    Value *near = is_near(at, slot_of(at, pointer));
    IRBuilder<> before(SplitBlockAndInsertIfThen(near, &operation, false, seldom));
    before.CreateCall(hook("before", nothing, {bytes, word}),
                      {place(before, pointer), number(size_of(type))});
    IRBuilder<> after(SplitBlockAndInsertIfThen(near, operation.getNextNode(), false, seldom));
    after.SetCurrentDebugLocation(operation.getDebugLoc());
    Value *old =
        isa<AtomicCmpXchgInst>(operation) ? after.CreateExtractValue(&operation, 0) : &operation;
    Value *there = room_for(*after.GetInsertPoint(), type);
    after.CreateStore(old, after.CreatePointerCast(there, type->getPointerTo()));
    Value *shadow =
        after.CreateCall(hook("after", bytes, {bytes, bytes, word}),
                         {place(after, pointer), place(after, there), number(size_of(type))});
    Instruction *again = operation.clone();
    again->setOperand(pointer_operand, after.CreatePointerCast(shadow, pointer->getType()));
    after.Insert(again);
}

void tracker::track_copy(CallBase &call, bool is_fill)
{
    Value *to = call.getArgOperand(0), *second = call.getArgOperand(1),
          *length = call.getArgOperand(2);
    bool to_matters = matters(to), from_matters = !is_fill && matters(second);
    if (!to_matters && !from_matters)
        return;
    auto *known = dyn_cast<ConstantInt>(length);
    Instruction *place_of_call = &call;
    bool keeps = known && known->getValue().ule(widest) && call.getType()->isVoidTy();
    if (keeps) {
        IRBuilder<> at(&call);
        Value *near = to_matters ? is_near(at, slot_of(at, to)) : nullptr,
              *near_from = from_matters ? is_near(at, slot_of(at, second)) : nullptr;
        near = near && near_from ? at.CreateOr(near, near_from) : near ? near : near_from;
        Instruction *otherwise;
        SplitBlockAndInsertIfThenElse(near, &call, &place_of_call, &otherwise, seldom);
        call.moveBefore(otherwise);
    }
    IRBuilder<> at(place_of_call);
    Value *count = at.CreateZExtOrTrunc(length, word), *made;
    if (is_fill)
        made = at.CreateCall(hook("fill", bytes, {bytes, at.getInt32Ty(), word}),
                             {place(at, to), at.CreateZExtOrTrunc(second, at.getInt32Ty()), count});
    else
        made = at.CreateCall(hook("copy", bytes, {bytes, bytes, word}),
                             {place(at, to), place(at, second), count});
    if (keeps)
        return;
    if (!call.getType()->isVoidTy())
        call.replaceAllUsesWith(at.CreatePointerCast(made, call.getType()));
    call.eraseFromParent();
}

// Vectors of which some elements are accessed, or which are at places of their own: each element by
// itself. Those that are not accessed are said to be at address 0, where no window is.
void tracker::track_masked(IntrinsicInst &access)
{
    Intrinsic::ID id = access.getIntrinsicID();
    bool loads = id == Intrinsic::masked_load || id == Intrinsic::masked_gather,
         each = id == Intrinsic::masked_gather || id == Intrinsic::masked_scatter;
    Value *vector = loads ? &access : access.getArgOperand(0),
          *pointer = access.getArgOperand(loads ? 0 : 1),
          *mask = access.getArgOperand(loads ? 2 : 3);
    auto *type = dyn_cast<FixedVectorType>(vector->getType());
    if (!type)
        report_fatal_error("reprise-cc --track: vectors whose length is known only when the "
                           "program runs cannot be tracked");
    IRBuilder<> at(access.getNextNode());
    at.SetCurrentDebugLocation(access.getDebugLoc());
    Type *element = type->getElementType(), *to_element = element->getPointerTo();
    SmallVector<Use *, 8> uses;
    if (loads)
        for (Use &use : access.uses())
            uses.push_back(&use);
    Value *first = each ? nullptr : at.CreatePointerCast(pointer, to_element), *result = vector;
    for (unsigned i = 0; i < type->getNumElements(); i++) {
        Value *where = each ? at.CreatePointerCast(at.CreateExtractElement(pointer, i), to_element)
                            : at.CreateConstGEP1_64(element, first, i);
        where = at.CreateSelect(at.CreateExtractElement(mask, i), where,
                                Constant::getNullValue(to_element));
        Value *value = at.CreateExtractElement(vector, i);
        if (loads)
            result = at.CreateInsertElement(result, tell_load(at, where, value), i);
        else
            tell_store(at, where, value);
    }
    for (Use *use : uses)
        use->set(result);
}

// Instructions by their names: those that give something of memory cannot be followed.
void refuse_instruction(const IntrinsicInst &access)
{
    bool loads = access.getCalledFunction()->isTargetIntrinsic() ||
                 access.getIntrinsicID() == Intrinsic::masked_expandload;
    if (loads && access.mayReadFromMemory() && !access.getType()->isVoidTy() &&
        any_of(access.args(),
               [](const Use &argument) { return argument->getType()->isPtrOrPtrVectorTy(); }))
        report_fatal_error("reprise-cc --track: " + access.getCalledFunction()->getName() +
                               ", in " + access.getFunction()->getName() +
                               ", cannot be tracked: use what the compiler knows itself",
                           false);
}

bool is_named(const CallBase &call, std::initializer_list<const char *> names)
{
    const Function *callee = call.getCalledFunction();
    return callee && callee->isDeclaration() && call.arg_size() >= 3 &&
           any_of(names, [&](const char *name) { return callee->getName() == name; });
}

void tracker::track(Instruction &i)
{
    if (auto *load = dyn_cast<LoadInst>(&i))
        return track_load(*load);
    if (auto *store = dyn_cast<StoreInst>(&i))
        return track_store(*store);
    if (auto *rmw = dyn_cast<AtomicRMWInst>(&i))
        return track_atomic(i, AtomicRMWInst::getPointerOperandIndex(),
                            rmw->getValOperand()->getType());
    if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&i)) {
        exchange->setWeak(false); // whether it fails by itself would not be the same alone
        return track_atomic(i, AtomicCmpXchgInst::getPointerOperandIndex(),
                            exchange->getNewValOperand()->getType());
    }
    if (auto *call = dyn_cast<CallBase>(&i)) {
        auto *intrinsic = dyn_cast<IntrinsicInst>(call);
        Intrinsic::ID id = intrinsic ? intrinsic->getIntrinsicID() : Intrinsic::not_intrinsic;
        if (id == Intrinsic::masked_load || id == Intrinsic::masked_store ||
            id == Intrinsic::masked_gather || id == Intrinsic::masked_scatter)
            return track_masked(*intrinsic);
        if (isa<MemTransferInst>(i) ||
            is_named(*call, {"memcpy", "memmove", "__memcpy_chk", "__memmove_chk"}))
            return track_copy(*call, false);
        if (isa<MemSetInst>(i) || is_named(*call, {"memset", "__memset_chk"}))
            return track_copy(*call, true);
        if (intrinsic)
            refuse_instruction(*intrinsic);
    }
}

void tracker::track(Function &function, FunctionAnalysisManager &analyses)
{
    std::vector<Instruction *> all;
    room = nullptr;
    own.clear();
    ours.clear();
    done.clear();
    watched.clear();
    auto &loops = analyses.getResult<LoopAnalysis>(function);
    for (Loop *loop : loops.getLoopsInPreorder())
        if (!function.hasOptNone())
            divide(loop, loops, analyses.getResult<DominatorTreeAnalysis>(function),
                   analyses.getResult<ScalarEvolutionAnalysis>(function));
    for (Instruction &i : instructions(function))
        if (i.mayReadOrWriteMemory() && !i.isTerminator() && !done.count(i.getParent()) &&
            !ours.count(&i))
            all.push_back(&i);
    for (Instruction *i : all)
        track(*i);
    SmallVector<AllocaInst *, 8> counts;
    for (const watched_loop &loop : watched) {
        watch(loop);
        counts.push_back(loop.count);
    }
    DominatorTree dominators(function);
    PromoteMemToReg(counts, dominators);
}

struct track_pass : PassInfoMixin<track_pass> {
    static bool isRequired()
    {
        return true;
    }
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses)
    {
        tracker all(module);
        auto &functions =
            analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        for (Function &function : module)
            if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::Naked) &&
                !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
                all.track(function, functions);
        forget_purity(module);
        return PreservedAnalyses::none();
    }
};

void register_pass(PassBuilder &builder)
{
    builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, auto, auto...) {
        passes.addPass(createModuleToFunctionPassAdaptor(LoopSimplifyPass()));
        passes.addPass(createModuleToFunctionPassAdaptor(LCSSAPass()));
        passes.addPass(track_pass());
    });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "reprise-track", REPRISE_VERSION, register_pass};
}
