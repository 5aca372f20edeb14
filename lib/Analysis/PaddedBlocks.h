// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two, and what may be done with them.
#pragma once

#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// Whether the type is a tensor with a size that is not a power of two.
bool needsPadding(mlir::Type type);
/// Whether any value of the kernel has such a type.
bool needsPadding(KernelOp kernel);

/// An operation that cannot work on padded blocks, and why.
struct PaddingProblem {
  mlir::Operation *op = nullptr;
  std::string reason;
};
/// The first one, or none.
std::optional<PaddingProblem> findPaddingProblem(KernelOp kernel);

/// The value that changes nothing where `reduce` combines it with another one; null if that is not known.
mlir::TypedAttr getNeutralElement(ReduceOp reduce);

} // namespace tile
