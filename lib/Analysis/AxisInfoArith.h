// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of AxisInfo for element-wise arithmetic; used by AxisInfoRules.cpp only.
#pragma once

#include "Analysis/AxisInfo.h"

namespace tile {

/// Returns the facts of the result of an integer operation of `arith` with one result; none if there is no rule.
std::optional<AxisInfo> inferArithmetic(mlir::Operation *op, llvm::ArrayRef<const AxisInfo *> operands);

/// Returns the facts of the result of any operation: an elementwise one is constant where all operands are.
AxisInfo inferElementwise(mlir::Operation *op, mlir::Type type, llvm::ArrayRef<const AxisInfo *> operands);

/// Returns the facts of the sum of two values of one type (pointers: of an address and a number of bytes).
AxisInfo addAxisInfos(mlir::Type type, const AxisInfo &lhs, const AxisInfo &rhs);

/// Limits groups that are so large that an aligned one contains both ends of the signed range of `element`: they are no
/// longer consecutive once the value is extended.
void limitContiguityToSignedRange(AxisInfo &info, mlir::Type element);

} // namespace tile
