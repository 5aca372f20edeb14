// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of kernel parameters: the compiler reserves space for the parameters, and the launcher lays them out.
#pragma once

#include <cstddef>

namespace tile::target {

/// The maximum number of tensor maps of one kernel. This leaves space for pointers and integers, and allows the
/// launcher to encode the maps on its stack.
constexpr size_t maxTensorMaps = 16;

} // namespace tile::target
