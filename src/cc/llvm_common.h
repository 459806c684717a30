// SPDX-License-Identifier: MIT
// What the passes for LLVM have in common.
#ifndef RP_LLVM_COMMON_H
#define RP_LLVM_COMMON_H

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace
{

using namespace llvm;

inline bool begins_with(StringRef text, StringRef beginning)
{
    return text.substr(0, beginning.size()) == beginning;
}

// A function that counts ticks or is tracked has side effects. Attributes that say that it has none
// have served their purpose in the passes before ours.
template <class Holder> void forget_purity(Holder &holder)
{
#if LLVM_VERSION_MAJOR >= 16
    holder.removeFnAttr(Attribute::Memory);
#else
    for (auto kind :
         {Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly, Attribute::ArgMemOnly,
          Attribute::InaccessibleMemOnly, Attribute::InaccessibleMemOrArgMemOnly})
        holder.removeFnAttr(kind);
#endif
    holder.removeFnAttr(Attribute::Speculatable);
}

inline void forget_purity(Module &module)
{
    for (Function &function : module) {
        if (!function.isIntrinsic())
            forget_purity(function);
        for (BasicBlock &block : function)
            for (Instruction &i : block)
                if (auto *c = dyn_cast<CallBase>(&i))
                    if (!isa<IntrinsicInst>(c))
                        forget_purity(*c);
    }
}

// Whether the module becomes part of a shared library. Any other becomes part of the executable,
// which has our definitions.
inline bool is_for_shared_library(const Module &module)
{
    return module.getPICLevel() != PICLevel::NotPIC && module.getPIELevel() == PIELevel::Default;
}

} // namespace

#endif
