// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds properties of parameters that would make global-memory accesses fast: divisibility, so that a thread moves
// several elements with one instruction or TMA copies the block, or a stride of 1, so that neighbours in a block are
// adjacent in memory.
//
//   tile.load a + rows[:, None] * lda + cols[None, :] mask (cols < N)     lda and N multiples of 8: 16 bytes at a time
//
// Works by trial: it changes a parameter in a copy of the kernel and asks the compiler's own analyses what that gains.
#pragma once

#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Addresses/BlockPointers.h"
#include "Tile/TileDialect.h"

#include "mlir/IR/IRMapping.h"

#include <map>

namespace tile {

/// The size in bytes of a thread's widest access (PTX ISA, "ld", .v4.b32), which is also the alignment of rows that TMA
/// requires.
constexpr int64_t widestAccess = 16;

/// A load or store through a block of pointers.
struct GlobalAccess {
  mlir::Operation *op;
  mlir::Value pointer, mask; ///< null without a mask

  bool isStore() const { return mlir::isa<StoreOp>(op); }
  int64_t rank() const { return mlir::cast<mlir::RankedTensorType>(pointer.getType()).getRank(); }
  int64_t elementBytes() const;
};

/// Returns the accesses to blocks that have at least one element for each lane of a warp, in program order.
std::vector<GlobalAccess> collectGlobalAccesses(KernelOp kernel);

/// The parameters from which an access's address is computed, in order.
struct AccessInputs {
  llvm::SmallVector<mlir::BlockArgument> integers, pointers;
  bool dependsOnMemory = false;
};

AccessInputs collectInputs(const GlobalAccess &access, bool withMask);

/// Returns true if neighbours along some dimension are adjacent in memory, or all elements have the same address.
bool isContiguous(mlir::Value pointer, AxisInfoAnalysis &facts);

/// A copy of a kernel whose parameters can be changed. Make all changes before the first query.
class PromiseTrial {
public:
  explicit PromiseTrial(KernelOp kernel);
  ~PromiseTrial();
  PromiseTrial(const PromiseTrial &) = delete;
  PromiseTrial &operator=(const PromiseTrial &) = delete;

  void setValue(mlir::BlockArgument parameter, int64_t value);
  /// Assumes that `divisor` divides an integer parameter, or the byte address of a pointer parameter. A larger divisor
  /// that is already assumed is kept.
  void setDivisor(mlir::BlockArgument parameter, int64_t divisor);

  bool isContiguous(const GlobalAccess &access);
  /// Returns the number of bytes, at most 16, that one thread can move with one instruction, given the addresses and
  /// the mask.
  int64_t widthInBytes(const GlobalAccess &access);
  bool isForTma(const GlobalAccess &access);

private:
  AxisInfoAnalysis &getFacts();

  mlir::IRMapping mapping;
  KernelOp copy;
  std::optional<AxisInfoAnalysis> facts;
  std::optional<BlockPointers> blocks;
};

/// Returns every parameter that alone makes the block contiguous if its value is 1.
llvm::SmallVector<mlir::BlockArgument> findUnitStrides(KernelOp kernel, const GlobalAccess &access);

/// Divisors by parameter index; in bytes for pointers.
using Divisors = std::map<unsigned, int64_t>;

struct Widening {
  int64_t bytes = widestAccess; ///< The width that each access should reach.
  bool byTma = false; ///< Whether a block of at least two dimensions also counts as wide if TMA can access it.
};

/// Returns the smallest divisors with which every access that can reach the width `wanted` reaches it. Returns no
/// divisors if no access gains from any.
Divisors findDivisors(KernelOp kernel, llvm::ArrayRef<GlobalAccess> accesses, Widening wanted);

} // namespace tile
