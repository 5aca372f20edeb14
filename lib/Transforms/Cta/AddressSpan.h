// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes how many bytes a block of pointers spans, from the range of its offsets.
//
//   %code = arith.andi %packed, 15                          0 to 15
//   %p = tile.addptr (tile.splat %table), %code : …f32      64 bytes
#pragma once

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tile {

class AddressSpans {
public:
  explicit AddressSpans(mlir::Operation *kernel) : kernel(kernel) {}

  /// Returns the size in bytes of a region that contains all elements to which `pointer`, a tensor, can point; nullopt
  /// if there is no bound. Only a few kernels need this, so the kernel is not analysed before the first call, and then
  /// in the state that it has at that time.
  std::optional<uint64_t> getBytes(mlir::Value pointer);

private:
  void analyse();

  mlir::Operation *kernel;
  std::optional<mlir::DataFlowSolver> solver;
};

} // namespace tile
