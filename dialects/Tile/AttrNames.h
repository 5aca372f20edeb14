// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of discardable attributes. They are attached to entities that this project does not declare: function arguments
// and operations of other dialects. The dialect verifies them (AttrNames.cpp) and accepts no others. Decisions about
// operations of tile or cta are inherent attributes of these operations.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile {

// Attributes of kernel arguments. Lowered kernels keep these attributes on arguments that the launcher adds.

/// A string: the name of the parameter in the source. Set by the front end; read by the manifest and wherever a
/// parameter is named.
inline constexpr llvm::StringLiteral argNameAttrName = "tile.name";
/// An integer that divides the argument, or the byte address if the argument is a pointer; the launcher checks this.
/// Set by the front end; read by Analysis/AxisInfo, the interpreter and the manifest.
inline constexpr llvm::StringLiteral divisibilityAttrName = "tile.divisibility";
/// A unit attribute: the integer, or the pointee, is unsigned in the source, which signless types do not express. Set
/// by the front end, including on arith operations; read by the manifest, by `tile-host-descriptors`, and by the
/// interpreter to report overflows.
inline constexpr llvm::StringLiteral unsignedAttrName = "tile.unsigned";
/// A `#tile.tensor_map`: how the launcher encodes this descriptor. Set by `tile-host-descriptors`,
/// `cta-lower-descriptors` and `cta-multicast`; read by Analysis/Addresses/PointerBases and the manifest.
inline constexpr llvm::StringLiteral tensorMapAttrName = "tile.tensor_map";
/// 0, 1 or 2: the launcher passes the number of programs along this axis of the grid in this argument. Set by
/// `tile-distribute-programs`; read by the manifest.
inline constexpr llvm::StringLiteral gridSizeAttrName = "tile.grid_size";
/// The size in bytes, per CTA, of the global memory to which the argument points. Set by `tile-device-descriptors` and
/// `cta-lower-combines`; read by `cta-share-steps` and the manifest.
inline constexpr llvm::StringLiteral scratchAttrName = "tile.scratch";
/// A unit attribute on the same argument: CTAs share the last programs through this memory, so even CTAs beyond the
/// number of programs have work. Set by `cta-lower-combines`; read by the manifest.
inline constexpr llvm::StringLiteral sharesTailsAttrName = "tile.shares_tails";

// Attributes of scf loops.

/// The number of pipeline stages of this loop, if it differs from that of the kernel. Set by the front end; read by
/// Analysis/Loops/LoopOptions.
inline constexpr llvm::StringLiteral numStagesAttrName = "tile.num_stages";

// Attributes of the function to which `convert-cta-to-nvvm` lowers a kernel.

/// The number of bytes of dynamic shared memory; read by the manifest.
inline constexpr llvm::StringLiteral sharedBytesAttrName = "tile.shared_bytes";
/// The number of programs that a cluster computes together, along each axis; read by the manifest.
inline constexpr llvm::StringLiteral programsPerClusterAttrName = "tile.programs_per_cluster";
/// A unit attribute: the kernel may start before the previous grid has ended (programmatic dependent launch); read by
/// the manifest.
inline constexpr llvm::StringLiteral pdlAttrName = "tile.pdl";
/// The optimisation level of ptxas, if it is not the highest; read where ptxas is called.
inline constexpr llvm::StringLiteral ptxasLevelAttrName = "tile.ptxas_level";

} // namespace tile
