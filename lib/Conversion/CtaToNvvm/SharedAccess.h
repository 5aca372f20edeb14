// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves a tensor's registers to and from a tile in shared memory, with the widest instructions that the layouts permit:
// ldmatrix and stmatrix where they are faster than plain vectors, otherwise loads and stores of up to 16 bytes.
#pragma once

#include "Layout/LinearLayout.h"
#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// A tile of `element`, stored at `base` in the layout `layout`. `distributed` assigns an element to each (register,
/// lane, warp), and these elements are accessed. It has the shape of the tile, but need not cover the whole tile.
struct SharedTile {
  mlir::Value base;
  mlir::Type element;
  const layout::LinearLayout &layout;
  const layout::LinearLayout &distributed;
};

/// Loads all registers of tile.distributed after XORing the row-major index of each element with `shift`.
llvm::SmallVector<mlir::Value> emitSharedLoad(mlir::OpBuilder &builder, mlir::Location loc, const SharedTile &tile,
                                              uint64_t shift, const target::GpuTarget &gpu);

void emitSharedStore(mlir::OpBuilder &builder, mlir::Location loc, const SharedTile &tile, mlir::ValueRange registers,
                     const target::GpuTarget &gpu);

/// Loads parts of a tile. `distributed` specifies which elements a thread reads of the first part, which starts at
/// offset 0. The row-major indices of the elements of another part are those of the first part, XORed with a
/// combination of `shifts`.
class SharedPartLoader {
public:
  SharedPartLoader(mlir::OpBuilder &builder, mlir::Location loc, const SharedTile &tile,
                   const std::vector<uint64_t> &shifts);
  ~SharedPartLoader();

  /// Moves all following loads: for each bit i that is set in `index`, an i32, the row-major index is XORed with
  /// ofBit[i]. Each ofBit[i] is 0 or an XOR of some of the shifts.
  void moveBy(mlir::Value index, const std::vector<uint64_t> &ofBit);

  /// Loads the registers of the part that is reached by `shift`, an XOR of some of the shifts.
  llvm::SmallVector<mlir::Value> load(uint64_t shift);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tile::conversion
