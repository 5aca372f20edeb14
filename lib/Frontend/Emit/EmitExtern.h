// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions of libdevice share.

#pragma once

#include "Frontend/Emit/Builtins.h"

namespace tile::frontend {

/// Operands as floats of one type, fp64 if one of them is, else fp32, and of one shape; false after an error.
bool floatOperands(BuiltinCall &call, std::vector<SymValue> &operands);

} // namespace tile::frontend
