// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Python's format specifications, f"{x:>8.3f}", of constants (Python's library reference, "Format Specification
// Mini-Language"): [[fill]align][sign][#][0][width][,][.precision][type].

#pragma once

#include "Frontend/Syntax/ConstEval.h"

namespace tile::frontend {

/// The value as text; nothing if the specification is malformed or does not go with the value.
std::optional<std::string> formatValue(const Value &value, std::string_view specification);

/// "%d of %-5s" % values, as in C ("printf-style String Formatting"); nothing if it is malformed, or there are more or
/// fewer values than places.
std::optional<std::string> formatPercent(std::string_view pattern, const std::vector<Value> &values);

} // namespace tile::frontend
