// SPDX-License-Identifier: MIT
// A pass of LLVM: code that clang compiles reports its loads and stores where a window may be near
// (window/tracking.h).
//
// The pass runs after all optimisations, so it prevents none of them, and it sees the loads that
// are really made. It puts this behind each of them:
//
//     if ((region = reprise_track.slot[address >> 12 & 0xffff]) != 0)
//         if (it is all in that region, and the shadow has the same value)
//             ++*reprise_track.loads;
//         else
//             value = reprise_track_load_64(address, value);
//
// Of an innermost loop without calls whose ranges of loads and stores are known ahead, there are
// three copies. If all ranges are below or above all windows, as they are without reprise, a copy
// runs that reports nothing. If each range is all in one region, or far from all regions, as in
// most loops of a recording, a copy runs that knows the shadows ahead (watch_segment). Else a copy
// runs that does the above for each access; so it is in a partial replay, where loads must return
// what was recorded.
//
// The code loads first and then compares the loaded value. So it does not matter that another
// process stores there meanwhile: the program uses the value that the function returns. Memory that
// cannot be in a window is left out: constants, and variables whose address nobody else knows.
#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "llvm_track.h"

namespace track
{

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

// The value of the load that the program uses.
Value *tracker::report_load(IRBuilder<> &at, Value *pointer, Value *value)
{
    Type *type = value->getType();
    unsigned bits = bits_by_value(type);
    if (bits > 0 && bits <= 64) {
        Type *integer = at.getIntNTy(bits);
        Value *reported = at.CreateCall(hook("load_" + Twine(bits), integer, {bytes, integer}),
                                        {place(at, pointer), as_integer(at, value, bits)});
        return type->isPointerTy() ? at.CreateIntToPtr(reported, type)
                                   : at.CreateBitCast(reported, type);
    }
    Value *there = room_for(*at.GetInsertPoint(), type),
          *typed = at.CreatePointerCast(there, type->getPointerTo());
    at.CreateStore(value, typed);
    at.CreateCall(hook("load_n", nothing, {bytes, bytes, word}),
                  {place(at, pointer), place(at, there), number(size_of(type))});
    return at.CreateLoad(type, typed);
}

void tracker::report_store(IRBuilder<> &at, Value *pointer, Value *value)
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
    IRBuilder<> slow_path(end);
    slow_path.SetCurrentDebugLocation(load.getDebugLoc());
    value->addIncoming(report_load(slow_path, pointer, &load), slow);
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
    IRBuilder<> slow_path(end);
    slow_path.SetCurrentDebugLocation(store.getDebugLoc());
    report_store(slow_path, pointer, value);
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
            result = at.CreateInsertElement(result, report_load(at, where, value), i);
        else
            report_store(at, where, value);
    }
    for (Use *use : uses)
        use->set(result);
}

// Instructions by their names: those that load from memory cannot be followed.
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

} // namespace track

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "reprise-track", REPRISE_VERSION, track::register_pass};
}
