// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared helpers of libdevice functions.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// Converts operands to floats of one type, fp64 if one of them is, else fp32, and to one shape. Returns false after an
/// error.
bool floatOperands(BuiltinCall &call, std::vector<SymValue> &operands);

} // namespace tile::frontend
