// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two, and the operations that support them.
#pragma once

#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// Returns true if the type is a tensor with a size that is not a power of two.
bool needsPadding(mlir::Type type);
/// Returns true if any value of the kernel has such a type.
bool needsPadding(KernelOp kernel);

/// An operation that does not support padded blocks, and why.
struct PaddingProblem {
  mlir::Operation *op = nullptr;
  std::string reason;
};
/// Returns the first such operation of the kernel, or nullopt.
std::optional<PaddingProblem> findPaddingProblem(KernelOp kernel);

/// Returns the neutral element of the combination of `reduce`; null if it is not known.
mlir::TypedAttr getNeutralElement(ReduceOp reduce);

} // namespace tile
