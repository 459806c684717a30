// SPDX-License-Identifier: MIT
// Inside the pass of LLVM that makes code report its loads and stores (llvm_track.cc).
#ifndef RP_LLVM_TRACK_H
#define RP_LLVM_TRACK_H

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "llvm_common.h"

namespace track
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
    AllocaInst *room = nullptr;        // of the function, for values that are passed by address
    DenseMap<const Value *, bool> own; // variables that nobody else knows
    SmallPtrSet<const Instruction *, 8> ours; // that are none of the program
    SmallPtrSet<const BasicBlock *, 16>
        done; // blocks of loops that report nothing, or know their shadows
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
    Value *report_load(IRBuilder<> &, Value *pointer, Value *value);
    void report_store(IRBuilder<> &, Value *pointer, Value *value);
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

} // namespace track

#endif
