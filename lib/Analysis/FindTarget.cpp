// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Look-up of a target with its error message.
#include "Analysis/FindTarget.h"

#include "mlir/IR/Diagnostics.h"

using namespace tile;

const target::GpuTarget *tile::findTargetOrEmitError(llvm::StringRef name, mlir::Operation *op) {
  const target::GpuTarget *gpu = target::findTarget(name.str());
  if (!gpu)
    op->emitError() << "unknown target '" << name << "'; known are " << target::listTargets();
  return gpu;
}
