// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds properties of parameters that would make global-memory accesses fast: divisibility, so that a thread moves
// several elements at once or TMA copies the block, or a stride of 1, so that neighbours in a block are adjacent in
// memory.
//
//   tile.load a + rows[:, None] * lda + cols[None, :] mask (cols < N)     lda and N multiples of 8: 16 bytes at a time
//
// Found by trial: on a copy of the kernel a parameter is changed, and the compiler's own analyses report the gain.
#pragma once

#include "Analysis/AxisInfo.h"
#include "Analysis/BlockPointers.h"
#include "Tile/TileDialect.h"

#include "mlir/IR/IRMapping.h"

#include <map>

namespace tile {

/// The widest access of one thread (PTX ISA, "ld", .v4.b32), and what TMA needs rows to be aligned to.
constexpr int64_t widestAccess = 16;

/// A load or store through a block of pointers.
struct GlobalAccess {
  mlir::Operation *op;
  mlir::Value pointer, mask; ///< null without a mask

  bool isStore() const { return mlir::isa<StoreOp>(op); }
  int64_t rank() const { return mlir::cast<mlir::RankedTensorType>(pointer.getType()).getRank(); }
  int64_t elementBytes() const;
};

/// Returns the accesses to blocks of at least a warp's elements, in program order.
std::vector<GlobalAccess> collectGlobalAccesses(KernelOp kernel);

/// The parameters from which an access's address is computed, in order.
struct AccessInputs {
  llvm::SmallVector<mlir::BlockArgument> integers, pointers;
  bool dependsOnMemory = false;
};

AccessInputs collectInputs(const GlobalAccess &access, bool withMask);

/// Returns true if neighbours along some dimension are adjacent in memory, or all elements have one address.
bool isContiguous(mlir::Value pointer, AxisInfoAnalysis &facts);

/// A copy of a kernel whose parameters can be changed. Make all changes before the first query.
class PromiseTrial {
public:
  explicit PromiseTrial(KernelOp kernel);
  ~PromiseTrial();
  PromiseTrial(const PromiseTrial &) = delete;
  PromiseTrial &operator=(const PromiseTrial &) = delete;

  void setValue(mlir::BlockArgument parameter, int64_t value);
  /// Sets the divisor of an integer, or of a pointer's byte address. Existing promises are kept.
  void setDivisor(mlir::BlockArgument parameter, int64_t divisor);

  bool isContiguous(const GlobalAccess &access);
  /// Returns the bytes that one thread can move at once, at most 16, given addresses and mask.
  int64_t widthInBytes(const GlobalAccess &access);
  bool isForTma(const GlobalAccess &access);

private:
  AxisInfoAnalysis &getFacts();

  mlir::IRMapping mapping;
  KernelOp copy;
  std::optional<AxisInfoAnalysis> facts;
  std::optional<BlockPointers> blocks;
};

/// Returns the parameters each of which alone would make a block contiguous by being 1.
llvm::SmallVector<mlir::BlockArgument> findUnitStrides(KernelOp kernel, const GlobalAccess &access);

/// Divisors of parameters by index; of pointers in bytes.
using Divisors = std::map<unsigned, int64_t>;

struct Widening {
  int64_t bytes = widestAccess; ///< The width to reach, for each access.
  bool byTma = false;           ///< True if TMA suffices, for blocks with rows.
};

/// Returns the smallest divisors with which every access that can become wide is wide. Empty if nothing is gained.
Divisors findDivisors(KernelOp kernel, llvm::ArrayRef<GlobalAccess> accesses, Widening wanted);

} // namespace tile
