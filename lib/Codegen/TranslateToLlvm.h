// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates the LLVM and NVVM dialects to an llvm::Module for NVPTX, in process.
//
// Adds two things that the dialects cannot express: line tables that do not switch ptxas to its unoptimised debug mode,
// and the attribute `convergent` on inline assembly. Without this attribute, LLVM may duplicate a warp-wide instruction
// into both sides of a divergent branch.
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

/// Attaches a debug scope to every function, from which `.loc` lines are generated. Modifies `module`.
llvm::Error addLineTables(mlir::ModuleOp module);

/// Translates `module`. The translations of all dialects in it must have been registered (tile::registerAllDialects).
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace tile::codegen
