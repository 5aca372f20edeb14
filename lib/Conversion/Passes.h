// The conversion pass, and the upstream passes that finish its work.
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tile {

#define GEN_PASS_DECL
#include "Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"

/// From the output of convert-cta-to-nvvm to the LLVM and NVVM dialects alone (phase nvvm). For a module.
void addLoweringToLlvm(mlir::OpPassManager &manager);

} // namespace tile
