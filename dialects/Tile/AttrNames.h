// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Discardable attributes: all that stand on what is not this project's to declare, namely arguments of functions and
// operations of other dialects. The dialect verifies them (AttrNames.cpp); it knows no others. What a pass decides
// about an operation of tile or cta is declared there.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile {

// Of an argument of a kernel, which lowered kernels keep where the launcher adds the argument.

/// The name in the source, a string. By the front end; for the manifest, and for what names a parameter.
inline constexpr llvm::StringLiteral argNameAttrName = "tile.name";
/// An integer: the value, or the address of a pointer in bytes, is a multiple of it, which the launcher checks. By the
/// front end; for Analysis/AxisInfo, the interpreter and the manifest.
inline constexpr llvm::StringLiteral divisibilityAttrName = "tile.divisibility";
/// A unit: integers of the source, or what a pointer points to, have no sign, which their types do not say. By the
/// front end, also on operations of arith; for the manifest and `tile-host-descriptors`, and for the interpreter, which
/// reports overflows.
inline constexpr llvm::StringLiteral unsignedAttrName = "tile.unsigned";
/// A `#tile.tensor_map`: the launcher makes this descriptor so. By `tile-host-descriptors`, `cta-lower-descriptors` and
/// `cta-multicast`; for Analysis/PointerBases and the manifest.
inline constexpr llvm::StringLiteral tensorMapAttrName = "tile.tensor_map";
/// 0, 1 or 2: how many programs a launch has along this axis. By `tile-distribute-programs`; for the manifest.
inline constexpr llvm::StringLiteral gridSizeAttrName = "tile.grid_size";
/// Bytes for each CTA of the global memory that the argument points to. By `tile-device-descriptors` and
/// `cta-lower-combines`; for `cta-share-steps` and the manifest.
inline constexpr llvm::StringLiteral scratchAttrName = "tile.scratch";
/// A unit, of the same argument: CTAs share the last programs through that memory, so that those beyond the number of
/// programs have work, too. By `cta-lower-combines`; for the manifest.
inline constexpr llvm::StringLiteral sharesTailsAttrName = "tile.shares_tails";

// Of a loop of scf.

/// How many of its iterations are under way at once, if not as many as the kernel says. By the front end; for
/// Analysis/LoopOptions.
inline constexpr llvm::StringLiteral numStagesAttrName = "tile.num_stages";

// Of the function that a kernel has become, by `convert-cta-to-nvvm`.

/// Bytes of dynamic shared memory; for the manifest.
inline constexpr llvm::StringLiteral sharedBytesAttrName = "tile.shared_bytes";
/// Programs that a cluster works off together, along each axis; for the manifest.
inline constexpr llvm::StringLiteral programsPerClusterAttrName = "tile.programs_per_cluster";
/// A unit: it may be launched before the previous grid has ended (programmatic dependent launch); for the manifest.
inline constexpr llvm::StringLiteral pdlAttrName = "tile.pdl";
/// The level at which ptxas assembles it, if not the highest; for the call of ptxas.
inline constexpr llvm::StringLiteral ptxasLevelAttrName = "tile.ptxas_level";

} // namespace tile
