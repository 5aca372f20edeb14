// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The combine regions of reductions and scans.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// Emits the combination of two tuples of scalars; an empty result means that an error was reported.
using Combine = llvm::function_ref<std::vector<SymValue>(const std::vector<SymValue> &, const std::vector<SymValue> &)>;

/// Fills the region of a reduction or scan over 'sources'; false after an error.
bool emitCombineRegion(BuiltinCall &call, mlir::Region &region, const std::vector<SymValue> &sources, Combine combine);

/// Calls the function that is argument 'index' on two tuples, and checks that it returns a tuple like them.
std::vector<SymValue> callCombine(BuiltinCall &call, size_t index, const std::vector<SymValue> &left,
                                  const std::vector<SymValue> &right);

/// One block or a tuple of blocks of one shape; empty after an error.
std::vector<SymValue> combineSources(BuiltinCall &call, size_t index, size_t functionIndex);

/// bf16 as fp32: it has too few bits to accumulate in.
SymValue widenBf16(BuiltinCall &call, const SymValue &value);
/// The type in which Triton sums: integers of less than 32 bits are widened; argument 'index' may say another.
SymValue widenForSum(BuiltinCall &call, const SymValue &value, size_t index);

} // namespace tile::frontend
