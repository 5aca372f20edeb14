// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of attributes of operations that are not the dialect's. Those of a kernel's arguments are KernelOp's.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile {

/// Of a loop, an i32: how many of its iterations are under way at once, if not as many as the kernel says.
inline constexpr llvm::StringLiteral numStagesAttrName = "tile.num_stages";

// Of the function that a kernel has become, for its manifest:

/// Bytes of dynamic shared memory, an i64.
inline constexpr llvm::StringLiteral sharedBytesAttrName = "tile.shared_bytes";
/// Programs that a cluster works off together, along each axis.
inline constexpr llvm::StringLiteral programsPerClusterAttrName = "tile.programs_per_cluster";
/// The kernel may be launched before the previous one has ended (programmatic dependent launch).
inline constexpr llvm::StringLiteral pdlAttrName = "tile.pdl";

} // namespace tile
