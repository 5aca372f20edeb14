// Python's format specifications, f"{x:>8.3f}", of constants (Python's library reference, "Format Specification
// Mini-Language"): [[fill]align][sign][#][0][width][,][.precision][type].

#pragma once

#include "Frontend/ConstEval.h"

namespace tile::frontend {

/// The value as text; nothing if the specification is malformed or does not go with the value.
std::optional<std::string> formatValue(const Value &value, std::string_view specification);

} // namespace tile::frontend
