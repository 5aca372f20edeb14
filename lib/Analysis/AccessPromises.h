// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What parameters would have to be for accesses to global memory to be fast: multiples of a number, so that a thread
// moves several elements at once or TMA copies the block, or 1, so that neighbours in a block are neighbours in memory.
//
//   tile.load a + rows[:, None] * lda + cols[None, :] mask (cols < N)     lda and N multiples of 8: 16 bytes at a time
//
// Found out by trying: on a copy of the kernel a parameter is changed, and the analyses that the compiler itself uses
// say what that gains.
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
  mlir::Value pointer, mask; ///< no mask: null

  bool isStore() const { return mlir::isa<StoreOp>(op); }
  int64_t rank() const { return mlir::cast<mlir::RankedTensorType>(pointer.getType()).getRank(); }
  int64_t elementBytes() const;
};

/// Those of blocks of at least a warp's elements, in program order.
std::vector<GlobalAccess> collectGlobalAccesses(KernelOp kernel);

/// Parameters that an access's address is computed from, in their order.
struct AccessInputs {
  llvm::SmallVector<mlir::BlockArgument> integers, pointers;
  bool dependsOnMemory = false;
};

AccessInputs collectInputs(const GlobalAccess &access, bool withMask);

/// Whether elements next to each other along some dimension are so in memory, or all are one.
bool isContiguous(mlir::Value pointer, AxisInfoAnalysis &facts);

/// A copy of a kernel on which parameters can be changed; first change, then ask.
class PromiseTrial {
public:
  explicit PromiseTrial(KernelOp kernel);
  ~PromiseTrial();
  PromiseTrial(const PromiseTrial &) = delete;
  PromiseTrial &operator=(const PromiseTrial &) = delete;

  void setValue(mlir::BlockArgument parameter, int64_t value);
  /// Of an integer, or of a pointer's address in bytes. What is promised already stays.
  void setDivisor(mlir::BlockArgument parameter, int64_t divisor);

  bool isContiguous(const GlobalAccess &access);
  /// Bytes that one thread can move at once, at most 16, as far as addresses and mask allow it.
  int64_t widthInBytes(const GlobalAccess &access);
  bool isForTma(const GlobalAccess &access);

private:
  AxisInfoAnalysis &getFacts();

  mlir::IRMapping mapping;
  KernelOp copy;
  std::optional<AxisInfoAnalysis> facts;
  std::optional<BlockPointers> blocks;
};

/// Parameters that, each alone, would make a block contiguous by being 1.
llvm::SmallVector<mlir::BlockArgument> findUnitStrides(KernelOp kernel, const GlobalAccess &access);

/// Divisors of parameters by their place, of pointers in bytes.
using Divisors = std::map<unsigned, int64_t>;

struct Widening {
  int64_t bytes = widestAccess; ///< to move at once
  bool byTma = false;           ///< or by TMA, where the block has rows
};

/// The least divisors with which all of the accesses that could be so wide are. Empty if nothing is gained.
Divisors findDivisors(KernelOp kernel, llvm::ArrayRef<GlobalAccess> accesses, Widening wanted);

} // namespace tile
