// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of kernel parameters: the compiler reserves space for them, and the launcher lays them out.
#pragma once

#include <cstddef>

namespace tile::target {

/// The maximum number of tensor maps of one kernel. They leave space for pointers and integers, and are encoded on the
/// launcher's stack.
constexpr size_t maxTensorMaps = 16;

} // namespace tile::target
