// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What shapes the tensors of a program may have.
#pragma once

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tile {

/// The front end's limit is 2^20 elements; sizes that are rounded up to powers of two may make them a few times as
/// many.
constexpr int64_t maxBlockElements = int64_t(1) << 23;

/// At least one dimension, all of a known size of at least 1, and no more elements than a block may have.
bool isBlockShape(llvm::ArrayRef<int64_t> shape);

/// A number of the language, or a pointer.
bool isBlockElement(mlir::Type type);

} // namespace tile
