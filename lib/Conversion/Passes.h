// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass that turns the cta dialect into LLVM and NVVM.
#pragma once

#include "Analysis/PassKind.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile {

/// What the declaration of a pass names as its base.
template <PassKind passKind> class FunctionsPass : public mlir::OperationPass<mlir::ModuleOp>, public KindedPass {
protected:
  explicit FunctionsPass(mlir::TypeID id) : OperationPass(id), KindedPass(passKind) {}
};

#define GEN_PASS_DECL
#include "Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"

} // namespace tile
