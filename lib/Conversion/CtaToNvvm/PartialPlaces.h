// Where the registers of a partial sum lie in memory that CTAs share.
//
// Thread t of n holds register 4 i … 4 i + 3 at byte 16 (i n + t): one coalesced access of 16 bytes a lane.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tile::conversion {

struct PartialPlaces {
  static constexpr int64_t registerBytes = 4;
  int64_t width;   ///< Registers in one access: 4, 2 or 1.
  int64_t threads; ///< That hold the tensor.
  mlir::Type element;

  explicit PartialPlaces(mlir::RankedTensorType type);
  int64_t bytes() const { return width * registerBytes; }

  /// The first place of this thread in the memory at `pointer`.
  mlir::Value emitBase(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer) const;
  /// The place of one access, from the thread's first one.
  mlir::Value emitAccess(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base, int64_t index) const;

  void emitStores(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers, mlir::Value base) const;
  /// The registers plus what lies in memory.
  llvm::SmallVector<mlir::Value> emitSums(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange registers,
                                          mlir::Value base) const;
};

} // namespace tile::conversion
