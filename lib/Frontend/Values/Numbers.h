// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions on numbers (plain C++, no MLIR): conversions as in Python, and Triton's helpers for sizes.

#pragma once

#include "Frontend/Values/ConstEval.h"

namespace tile::frontend {

EvalResult absolute(const Value &value);

/// Evaluates int(value) and float(value); the value may also be a string.
EvalResult toInteger(const Value &value);
EvalResult toFloat(const Value &value);

EvalResult ceilingDivision(const Value &value, const Value &divisor);
EvalResult nextPowerOfTwo(const Value &value);

/// Applies a function of the C library. Messages call the function `name`.
EvalResult applyReal(double (*function)(double), const Value &value, std::string_view name);
/// Does the same, and converts the result to an integer. Integers are returned unchanged.
EvalResult roundReal(double (*function)(double), const Value &value, std::string_view name);

} // namespace tile::frontend
