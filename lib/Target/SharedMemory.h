// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels take of a CTA's shared memory beside their buffers, and how blocks of results pass through it: the
// passes do so, and the cost model counts on it.
#pragma once

namespace tile::target {

/// Bytes at whose multiples the shared memory of a CTA begins: what a 128-byte swizzle needs. Who fills shared memory
/// keeps as many free, for the alignment of buffers, and for barriers.
constexpr unsigned sharedAlignment = 1024;

/// Bytes of each CTA that the driver takes, from capability 8.0 on.
constexpr unsigned reservedShared = 1024;

/// Panels of a block that are on their way to memory at a time, while the next one is computed.
constexpr unsigned storePanels = 2;

} // namespace tile::target
