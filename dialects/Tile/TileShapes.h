// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes and element types that a program's tensors may have.
#pragma once

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tile {

/// The front end allows 2^20 elements; rounding sizes up to powers of two may multiply this number by a small factor.
constexpr int64_t maxBlockElements = int64_t(1) << 23;

/// Returns true if there is at least one dimension, all sizes are static and at least 1, and the number of elements is
/// within the limit.
bool isBlockShape(llvm::ArrayRef<int64_t> shape);

/// Returns true for a numeric element type of the language, or a pointer.
bool isBlockElement(mlir::Type type);

} // namespace tile
