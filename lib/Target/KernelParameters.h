// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of kernel parameters: the compiler leaves room for them, and the launcher lays them out.
#pragma once

#include <cstddef>

namespace tile::target {

/// Tensor maps of one kernel, which leave room for pointers and integers, and are made on the launcher's stack.
constexpr size_t maxTensorMaps = 16;

} // namespace tile::target
