// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of one program of a kernel, counted in the IR from the front end. Counts are expressions of the arguments:
//
//   for k in range(0, K, 64): acc = tl.dot(tl.load(a …), tl.load(b …), acc)      a: 64x64, b: 64x128, fp16
//     bytes         max(cdiv(K, 64), 0) * 24576            tensorFlops   max(cdiv(K, 64), 0) * 1048576
//     steps         cdiv(max(cdiv(K, 64), 0), 2)           with three stages, two loads are in flight
//
// Padding is counted, because a program computes whole blocks. If the number of iterations of a loop cannot be
// expressed, because the loop's bounds are loaded, it is assumed to be the number that it takes to read the program's
// share of the declared buffers.
#pragma once

#include "Tile/TileDialect.h"

#include <optional>
#include <string>

namespace tile {

/// Expressions in the manifest's syntax; Target/ProgramTime.h says what each of them means.
struct ProgramCounts {
  std::string steps, exchanges, bytes, rereadBytes, tensorFlops, operations, special, uniqueBytes;
  unsigned operandBits = 16;
  unsigned warps = 4;
};

/// Counts the work of one program. Returns nullopt if the kernel declares no grid or no buffers.
std::optional<ProgramCounts> countProgram(KernelOp kernel);

} // namespace tile
