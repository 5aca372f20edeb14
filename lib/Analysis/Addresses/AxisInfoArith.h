// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AxisInfo's rules for element-wise arithmetic; used by AxisInfoRules.cpp only.
#pragma once

#include "Analysis/Addresses/AxisInfo.h"

namespace tile {

/// Returns the facts of the result of an integer operation of `arith` with one result; nullopt if there is no rule.
std::optional<AxisInfo> inferArithmetic(mlir::Operation *op, llvm::ArrayRef<const AxisInfo *> operands);

/// Returns the facts of the result of an operation that has no rule: an element-wise result is constant where all
/// operands are constant, and nothing else is known.
AxisInfo inferElementwise(mlir::Operation *op, mlir::Type type, llvm::ArrayRef<const AxisInfo *> operands);

/// Returns the facts of the sum of two values of one type (pointers: of an address and a number of bytes).
AxisInfo addAxisInfos(mlir::Type type, const AxisInfo &lhs, const AxisInfo &rhs);

/// Limits contiguity so that no aligned group contains both ends of the signed range of `element`: such a group would
/// no longer be consecutive once the value is extended.
void limitContiguityToSignedRange(AxisInfo &info, mlir::Type element);

} // namespace tile
