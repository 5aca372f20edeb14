// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes elements of any data type as doubles. i64 and u64 values beyond 2^53 lose low bits, which matters
// only in comparisons with a reference in double.
#pragma once

#include "Runtime/DataType.h"

#include <cstddef>

namespace tile::runner {

using runtime::DataType;

/// Converters for one element. They are looked up once, outside of loops.
using LoadElement = double (*)(const void *element);
using StoreElement = void (*)(void *element, double value);

LoadElement elementLoader(DataType type);
/// Returns a converter that rounds integers to nearest with saturation, and floats to nearest even.
StoreElement elementStorer(DataType type);

} // namespace tile::runner
