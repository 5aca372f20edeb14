// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two, and the operations that support them.
#pragma once

#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// Returns true if the type is a tensor with a size that is not a power of two.
bool needsPadding(mlir::Type type);
/// Returns true if any value of the kernel has a type that needs padding.
bool needsPadding(KernelOp kernel);

/// An operation that does not support padded blocks, and why.
struct PaddingProblem {
  mlir::Operation *op = nullptr;
  std::string reason;
};
/// Returns the first operation of the kernel that does not support padded blocks, or nullopt.
std::optional<PaddingProblem> findPaddingProblem(KernelOp kernel);

/// Returns the neutral element of the reduction's combiner; null if the combiner is not recognized.
mlir::TypedAttr getNeutralElement(ReduceOp reduce);

} // namespace tile
