// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves a tensor's registers from and to a tile in shared memory with the widest instructions that the layouts allow:
// ldmatrix and stmatrix where they beat plain vectors, otherwise loads and stores of up to 16 bytes.
#pragma once

#include "Layout/LinearLayout.h"
#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// A tile of `element` stored as `layout` at `base`, of which (register, lane, warp) of `distributed` is accessed; it
/// has the shape of the tile but need not cover it.
struct SharedTile {
  mlir::Value base;
  mlir::Type element;
  const layout::LinearLayout &layout;
  const layout::LinearLayout &distributed;
};

/// Loads all registers of tile.distributed, moved by XOR of `shift` (a row-major index).
llvm::SmallVector<mlir::Value> emitSharedLoad(mlir::OpBuilder &builder, mlir::Location loc, const SharedTile &tile,
                                              uint64_t shift, const target::GpuTarget &gpu);

void emitSharedStore(mlir::OpBuilder &builder, mlir::Location loc, const SharedTile &tile, mlir::ValueRange registers,
                     const target::GpuTarget &gpu);

/// Loads parts of a tile. `distributed` says which elements a thread reads of the part at offset 0, and need not cover
/// the tile; the other parts are reached by moving all elements by XOR of some of `shifts` (row-major indices).
class SharedPartLoader {
public:
  SharedPartLoader(mlir::OpBuilder &builder, mlir::Location loc, const SharedTile &tile,
                   const std::vector<uint64_t> &shifts);
  ~SharedPartLoader();

  /// Adds a shift to all loads that follow: for each bit i that is set in `index`, an i32, the XOR with ofBit[i], an
  /// XOR of shifts or 0.
  void moveBy(mlir::Value index, const std::vector<uint64_t> &ofBit);

  /// Loads the registers of the part that is moved by `shift`, an XOR of shifts.
  llvm::SmallVector<mlir::Value> load(uint64_t shift);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tile::conversion
