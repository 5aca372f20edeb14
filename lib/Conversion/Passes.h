// The pass that turns the cta dialect into LLVM and NVVM.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#include "Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"

} // namespace tile
