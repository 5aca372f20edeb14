// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes that lower the cta dialect to LLVM and NVVM.
#pragma once

#include "Analysis/PassKind.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile {

/// The base class that a pass declaration names.
template <PassKind passKind> class FunctionsPass : public mlir::OperationPass<mlir::ModuleOp>, public KindedPass {
protected:
  explicit FunctionsPass(mlir::TypeID id) : OperationPass(id), KindedPass(passKind) {}
};

#define GEN_PASS_DECL
#include "Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"

} // namespace tile
