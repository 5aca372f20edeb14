// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the registers of a partial sum lie in memory that CTAs share.
//
// Each warp has a part, in which lane l holds register 4 i … 4 i + 3 at byte 16 (32 i + l): one coalesced access of 16
// bytes a lane. Of a tensor whose first columns only are computed, their registers are counted.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tile::conversion {

struct PartialPlaces {
  static constexpr int64_t registerBytes = 4;
  std::vector<int32_t> moved; ///< Numbers of the registers that move.
  int64_t width;              ///< Registers in one access: 4, 2 or 1.
  int64_t warps;              ///< That hold the tensor.
  int64_t warpBytes;          ///< Of the part of one.
  int64_t warpStride;         ///< From the part of one to that of the next: `warpBytes`, or more.
  mlir::Type element;

  explicit PartialPlaces(mlir::RankedTensorType type, std::optional<uint32_t> columns = std::nullopt);
  int64_t accessBytes() const { return width * registerBytes; }

  /// The part of this warp in the memory at `pointer`.
  mlir::Value emitWarpPart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;

  /// The first place of this thread in the memory at `pointer`.
  mlir::Value emitBase(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;
  /// The place of one access, from the thread's first one.
  mlir::Value emitAccess(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base, int64_t index) const;

  void emitStores(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers, mlir::Value base) const;
  /// The registers, those that move plus what lies in memory.
  llvm::SmallVector<mlir::Value> emitSums(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers,
                                          mlir::Value base) const;
};

} // namespace tile::conversion
