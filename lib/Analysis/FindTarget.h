// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target that a pass option names.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Operation.h"

namespace tile {

/// The target called `name`; null, after an error at `op` that lists the known ones, if there is none.
const target::GpuTarget *findTargetOrEmitError(llvm::StringRef name, mlir::Operation *op);

} // namespace tile
