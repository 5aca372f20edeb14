// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of one program of a kernel, counted in the IR from the front end, as expressions over arguments:
//
//   for k in range(0, K, 64): acc = tl.dot(tl.load(a …), tl.load(b …), acc)      a: 64x64, b: 64x128, fp16
//     bytes         max(cdiv(K, 64), 0) * 24576            tensorFlops   max(cdiv(K, 64), 0) * 1048576
//     steps         cdiv(max(cdiv(K, 64), 0), 2)           with three stages, two loads are in flight
//
// Padding counts: a program computes whole blocks. If no expression states the iterations of a loop, because its bounds
// are loaded, it has as many as it takes to read the program's share of the declared buffers.
#pragma once

#include "Tile/TileDialect.h"

#include <optional>
#include <string>

namespace tile {

/// Expressions of the manifest; see Target/ProgramTime.h for the meaning of each.
struct ProgramCounts {
  std::string steps, exchanges, bytes, rereadBytes, tensorFlops, operations, special, uniqueBytes;
  unsigned operandBits = 16;
  unsigned warps = 4;
};

/// Counts the work. Returns none without the kernel's grid, or without buffers.
std::optional<ProgramCounts> countProgram(KernelOp kernel);

} // namespace tile
