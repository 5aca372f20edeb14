// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM/NVVM dialects -> llvm::Module for NVPTX, in process.
//
// Two things are added that the dialects cannot say: line tables that do not switch ptxas to its unoptimised debug
// mode, and `convergent` on inline assembly, without which LLVM may duplicate a warp-wide instruction into both sides
// of a divergent branch.
#pragma once

#include "Target/GpuTarget.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm
namespace mlir {
class ModuleOp;
} // namespace mlir

namespace tile::codegen {

/// Gives every function the debug scope from which `.loc` lines come. Changes `module`.
llvm::Error addLineTables(mlir::ModuleOp module);

/// The dialects in `module` must have their translations registered (tile::registerAllDialects).
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace tile::codegen
