// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix descriptors: how wgmma and tcgen05.mma find an operand in shared memory.
//
//   bits  0-13  start address / 16      16-29  leading offset / 16     32-45  stride offset / 16
//         46-48 1 (tcgen05)             62-63 (wgmma), 61-63 (tcgen05)  swizzle
//
// If k is contiguous, with a swizzle of W bytes, 8 rows of W bytes form an atom, and the stride offset is the distance
// to the next 8 rows; advancing by 32 bytes along k advances the address by 32 bytes. If m (or n) is contiguous, a
// panel has one row of W bytes for each k: the stride offset is the distance to the next 8 values of k, and the leading
// offset is the distance to the next panel. Source: PTX ISA, "Matrix Descriptor Format" (wgmma) and "Shared memory
// descriptor" (tcgen05).
#pragma once

#include "Cta/CtaDialect.h"
#include "Layout/SharedLayouts.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// One operand, regarded as a matrix of `extent` rows (m or n) by k.
struct MatrixOperand {
  layout::SwizzleForm form;
  bool kMajor = true;
  int64_t extent = 0, k = 0;
  int64_t elementBytes = 2;

  int64_t swizzle() const { return form.swizzleBytes; }
  int64_t leadingOffset() const { return kMajor ? 16 : k * swizzle(); }
  int64_t strideOffset() const;
  /// Returns the offset in bytes of element (row, k) in the buffer.
  int64_t byteOffset(int64_t row, int64_t kIndex) const;
};

/// Returns how the operand is stored in the buffer, whose dimension `kDim` is k; nullopt if no descriptor can express
/// this.
std::optional<MatrixOperand> planMatrixOperand(cta::BufferType type, unsigned kDim);

/// Emits the descriptors of the tiles of one operand; common parts are emitted once.
class DescriptorEmitter {
public:
  enum class Format { Wgmma, Tcgen05 };

  /// The tiles are counted from row `firstRow`, an i32, or from row 0 if `firstRow` is null.
  DescriptorEmitter(mlir::OpBuilder &builder, mlir::Location loc, Format format, const MatrixOperand &operand,
                    mlir::Value buffer, mlir::Value firstRow, bool isInCluster);

  /// Returns the descriptor, an i64, of the tile that starts at (row, k).
  mlir::Value at(int64_t row, int64_t k);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const MatrixOperand &operand;
  mlir::Value low;
  uint64_t high = 0;
  mlir::Value whole; ///< The descriptor of the first tile; null for wgmma, where each descriptor is assembled
                     ///< separately.
};

/// Returns the descriptor that tcgen05.cp needs to read scales in the layout layout::scalesLayout: rows of 16 bytes
/// without a swizzle.
mlir::Value emitScalesDescriptor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value buffer, bool isInCluster);

} // namespace tile::conversion
