// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Columns of a matrix, computed from columns of what the matrix is computed from.
//
// What writes a large matrix does so panel by panel; if each panel is computed just before it is written, addresses,
// masks and intermediate results live shortly, and a conversion needs shared memory for one panel only.
#pragma once

#include "Analysis/PointerBases.h"
#include "Cta/CtaDialect.h"
#include "Tile/TileDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// The layout of `columns` columns of a matrix whose threads hold all of them in registers, or none.
std::optional<cta::LayoutAttr> sliceLayout(mlir::RankedTensorType matrix, int64_t columns);

/// Lanes walk along the rows of a panel, each with `vector` elements at once, and every warp has the rows that it has
/// in `owned`. None if warps do not own rows, the panel is too small for the lanes, or the vectors of `access`, the
/// layout in which the matrix is loaded or stored, run down its columns or are longer than the rows of a panel.
std::optional<layout::LinearLayout> planRowAccess(const layout::LinearLayout &owned, const layout::LinearLayout &access,
                                                  int64_t vector);

/// Slices of matrices for writes to memory, one after the other.
class ColumnSlicer {
public:
  /// `users` of one matrix each, of as many columns, stand one after the other, and are followed by writes to
  /// `written`. `columns` is a power of two for which `sliceLayout` gives a layout.
  ColumnSlicer(llvm::ArrayRef<mlir::Value> matrices, llvm::ArrayRef<mlir::Operation *> users,
               const PointerBases &written, int64_t columns);

  /// Columns first, first + 1, … of one of the matrices: element-wise operations and broadcasts that nothing but the
  /// users needs are computed at the builder's place, or where they were for another matrix and the same columns; what
  /// they start from is sliced. Of a matrix that is loaded and converted just for them, these columns are loaded, and
  /// pass a buffer of their size; of a block that TMA has copied they are read where they are needed.
  mlir::Value slice(mlir::OpBuilder &builder, mlir::Value matrix, int64_t first);

  /// Issues the loads of a slice ahead.
  void load(mlir::OpBuilder &builder, int64_t first);

private:
  bool isLoaded(cta::ConvertLayoutOp convert, mlir::Operation *user, const PointerBases &written) const;
  mlir::Value create(mlir::OpBuilder &builder, mlir::Value value);
  mlir::Value emitLoad(mlir::OpBuilder &builder, cta::ConvertLayoutOp convert, int64_t first);
  mlir::Value emitLoaded(mlir::OpBuilder &builder, cta::ConvertLayoutOp convert);
  mlir::RankedTensorType sliceType(mlir::RankedTensorType type) const;

  int64_t allColumns, columns, first = -1;
  llvm::DenseSet<mlir::Operation *> recomputed;
  llvm::MapVector<mlir::Operation *, mlir::Value> buffers; ///< Of loaded matrices; null until needed.
  llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, mlir::Value> loaded;
  llvm::DenseMap<mlir::Value, mlir::Value> created;
};

/// A buffer through which tensors of type `from` get the layout of `to`: at the kernel's entry, or, for a branch in a
/// loop, which few iterations may take, at the builder's place, so that all else shares its memory.
mlir::Value allocatePanel(mlir::OpBuilder builder, mlir::Location loc, mlir::Type from, mlir::Type to);

} // namespace tile
