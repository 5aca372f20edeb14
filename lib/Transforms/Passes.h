// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every transformation pass: declarations, options and registration, generated from Passes.td.
#pragma once

#include "Transforms/FormPass.h"

#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#include "Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Transforms/Passes.h.inc"

} // namespace tile
