// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch passes to a kernel: the compiler leaves room for it, and the launcher lays it out.
#pragma once

#include <cstddef>

namespace tile::target {

/// Tensor maps of one kernel, which leave room for pointers and integers, and are made on the launcher's stack.
constexpr size_t maxTensorMaps = 16;

} // namespace tile::target
