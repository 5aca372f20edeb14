// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which a kernel adds floats, as far as its last form in phase allocated determines this order.
//
//   %d, %t = cta.wgmma %a, %b, %c {n = 128 : i32} : …   ==>  "39:15: dot f16 x f16 -> f32 by wgmma: 64 elements of K in
//                                                            order, 16 in an instruction"
//   %s = tile.reduce %x {axis = 0 : i32} : tensor<1024xf32, #l>
//     ==>  "22:38: sum of 1024 f32: 8 in a thread, 32 lanes, 4 warps"
//
// Which instructions add within a thread, and which multiplications are contracted, is decided later: lib/Order reads
// that from the PTX. Together with the hash of the tile program these determine the bits of all results.
#pragma once

#include "Tile/TileDialect.h"

#include <string>
#include <vector>

namespace tile {

struct SummationOrder {
  /// Readable descriptions, in the order of the kernel, without repetitions.
  std::vector<std::string> steps;
  /// Exact descriptions, with positions relative to the kernel; sorted, without repetitions.
  std::vector<std::string> keys;
  bool isShared = false; ///< CTAs share the K steps of a program
};

SummationOrder describeSummation(KernelOp kernel);

/// Returns the text of a kernel in the tile dialect, without names, locations, assumptions and directives: which
/// elements are combined, before any order is chosen.
std::string printTileProgram(KernelOp kernel);

} // namespace tile
