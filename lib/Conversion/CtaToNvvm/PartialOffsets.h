// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets of the registers of a partial accumulator in memory that several CTAs share.
//
// Each warp has a part of the memory. In this part, registers 4 * i to 4 * i + 3 of lane l start at byte 16 * (32 * i +
// l): each lane makes 16-byte accesses, and the accesses of a warp are coalesced. If only the first columns of a tensor
// are computed, only their registers are stored.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tile::conversion {

struct PartialOffsets {
  static constexpr int64_t registerBytes = 4;
  std::vector<int32_t> moved; ///< Indices of the registers that are stored.
  int64_t width;              ///< Number of registers in one access: 4, 2 or 1.
  int64_t warps;              ///< Number of warps that hold the tensor.
  int64_t warpBytes;          ///< Size of one warp's part.
  int64_t warpStride;         ///< Distance between the starts of the parts of consecutive warps, at least `warpBytes`.
  mlir::Type element;

  explicit PartialOffsets(mlir::RankedTensorType type, std::optional<uint32_t> columns = std::nullopt);
  int64_t accessBytes() const { return width * registerBytes; }

  /// Returns the address of this warp's part in the memory at `pointer`.
  mlir::Value emitWarpPart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;

  /// Returns the address of this thread's first access in the memory at `pointer`.
  mlir::Value emitBase(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;
  /// Returns the address of access `index`, given the address `base` of the thread's first access.
  mlir::Value emitAccess(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base, int64_t index) const;

  void emitStores(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers, mlir::Value base) const;
  /// Adds the values in memory to the registers that are stored there; returns all registers.
  llvm::SmallVector<mlir::Value> emitAdditions(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers,
                                               mlir::Value base) const;
};

} // namespace tile::conversion
