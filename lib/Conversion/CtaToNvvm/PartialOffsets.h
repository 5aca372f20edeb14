// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets of the registers of a partial accumulator in memory that CTAs share.
//
// Each warp has a part, in which lane l holds register 4 i … 4 i + 3 at byte 16 (32 i + l): one coalesced 16-byte
// access per lane. If only the first columns of a tensor are computed, only their registers are counted.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tile::conversion {

struct PartialOffsets {
  static constexpr int64_t registerBytes = 4;
  std::vector<int32_t> moved; ///< Indices of the registers that are moved.
  int64_t width;              ///< Registers in one access: 4, 2 or 1.
  int64_t warps;              ///< Warps that hold the tensor.
  int64_t warpBytes;          ///< Size of the part of one warp.
  int64_t warpStride;         ///< Distance from the part of one warp to that of the next: `warpBytes`, or more.
  mlir::Type element;

  explicit PartialOffsets(mlir::RankedTensorType type, std::optional<uint32_t> columns = std::nullopt);
  int64_t accessBytes() const { return width * registerBytes; }

  /// Returns the address of this warp's part in the memory at `pointer`.
  mlir::Value emitWarpPart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;

  /// Returns the first address of this thread in the memory at `pointer`.
  mlir::Value emitBase(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;
  /// Returns the address of one access, given the thread's first one.
  mlir::Value emitAccess(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base, int64_t index) const;

  void emitStores(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers, mlir::Value base) const;
  /// Returns the registers, to which the values in memory are added where they are moved.
  llvm::SmallVector<mlir::Value> emitAdditions(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers,
                                               mlir::Value base) const;
};

} // namespace tile::conversion
