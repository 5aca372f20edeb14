// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds instructions that a module's target lacks. The simulator could execute them, but a driver rejects the module.
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// Returns an error for the first instruction of the module that its target lacks: `line 9: add.rn.f32x2: sm_90a has no
/// pairs of floats; sm_100 and later have`. Tensor-memory instructions are checked when they are decoded.
runtime::Status checkTarget(const Module &module);

} // namespace tile::sim
