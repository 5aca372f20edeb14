// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python's format specifications, f"{x:>8.3f}", for constants (Python's library reference, "Format Specification
// Mini-Language"): [[fill]align][sign][#][0][width][,][.precision][type].

#pragma once

#include "Frontend/Values/ConstEval.h"

namespace tile::frontend {

/// Formats a value; nullopt if the specification is malformed or does not match the value.
std::optional<std::string> formatValue(const Value &value, std::string_view specification);

/// Evaluates "%d of %-5s" % values, as in C ("printf-style String Formatting"); nullopt if the pattern is malformed, or
/// the number of values does not match.
std::optional<std::string> formatPercent(std::string_view pattern, const std::vector<Value> &values);

} // namespace tile::frontend
