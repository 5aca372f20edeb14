// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared helpers of libdevice functions.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// Converts operands to floats of one type and to one shape. The type is fp64 if one of the operands is fp64, otherwise
/// fp32. Returns false after an error.
bool floatOperands(BuiltinCall &call, std::vector<SymValue> &operands);

} // namespace tile::frontend
