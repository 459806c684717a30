// SPDX-License-Identifier: MIT
// Innermost loops without calls whose ranges of loads and stores are known ahead (llvm_track.cc
// says why there are three copies of each).
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "llvm_track.h"

namespace track
{

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

// In a loop that knows its shadows: a group of loads with nothing between them that stores, or that
// may end the program because of a loaded value. The group is counted ahead, so that a process that
// is killed here has made no more loads than that. If all loads equal their shadows, nothing else
// is done. Else each is reported, in its order, and counted there. In a recording a load returns
// what it has loaded, so nothing depends on when it is compared.

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
    IRBuilder<> slow_path(SplitBlockAndInsertIfThen(some, &*at.GetInsertPoint(), false, seldom));
    slow_path.CreateStore(slow_path.CreateSub(counted, count), loop.loads);
    for (LoadInst *load : loads) {
        slow_path.SetCurrentDebugLocation(load->getDebugLoc());
        report_load(slow_path, load->getPointerOperand(), load);
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

} // namespace track
