// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of any data type in memory, read and written as doubles. i64 and u64 beyond 2^53 lose low bits, which
// matters only in a comparison with a reference in double.
#pragma once

#include "Runtime/DataType.h"

#include <cstddef>

namespace tile::runner {

using runtime::DataType;

/// Converters for one element, looked up once outside of loops.
using LoadElement = double (*)(const void *element);
using StoreElement = void (*)(void *element, double value);

LoadElement elementLoader(DataType type);
/// Returns a converter that rounds integers to nearest with saturation, and floats to nearest even.
StoreElement elementStorer(DataType type);

} // namespace tile::runner
