// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the combine regions of reductions and scans.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// Emits the combination of two tuples of scalars. Returns an empty result after an error.
using Combine = llvm::function_ref<std::vector<SymValue>(const std::vector<SymValue> &, const std::vector<SymValue> &)>;

/// Fills the region of a reduction or scan over 'sources'. Returns false after an error.
bool emitCombineRegion(BuiltinCall &call, mlir::Region &region, const std::vector<SymValue> &sources, Combine combine);

/// Calls the function argument 'index' on two tuples, and checks that it returns a tuple of the same types.
std::vector<SymValue> callCombine(BuiltinCall &call, size_t index, const std::vector<SymValue> &left,
                                  const std::vector<SymValue> &right);

/// Returns the sources of a reduction or scan: one block, or several blocks of one shape; empty after an error.
std::vector<SymValue> combineSources(BuiltinCall &call, size_t index, size_t functionIndex);

/// Converts bf16 to fp32, because bf16 has too few bits to accumulate in.
SymValue widenBf16(BuiltinCall &call, const SymValue &value);
/// Converts to the type in which Triton sums: integers of less than 32 bits are widened to 32 bits, unless argument
/// 'index' specifies another type.
SymValue widenForSum(BuiltinCall &call, const SymValue &value, size_t index);

} // namespace tile::frontend
