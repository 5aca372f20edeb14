// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Columns of a matrix, recomputed from columns of the matrix's inputs.
//
// Large matrices are written panel by panel. If each panel is computed just before it is written, addresses, masks and
// intermediate results have short live ranges, and a conversion needs shared memory for one panel only.
#pragma once

#include "Analysis/Addresses/PointerBases.h"
#include "Cta/CtaDialect.h"
#include "Tile/TileDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// Returns the layout of a slice of `columns` columns of a matrix. Returns nullopt unless each thread holds the same
/// part of every slice, in different registers.
std::optional<cta::LayoutAttr> sliceLayout(mlir::RankedTensorType matrix, int64_t columns);

/// Plans row-wise accesses to a panel: lanes run along its rows, each with `vector` elements at once, and every warp
/// has the same rows as in `owned`. Returns nullopt if warps do not own rows, if the panel is too small for the lanes,
/// or if the vectors of `access`, the layout in which the matrix is loaded or stored, run along columns or are longer
/// than a panel's rows.
std::optional<layout::LinearLayout> planRowAccess(const layout::LinearLayout &owned, const layout::LinearLayout &access,
                                                  int64_t vector);

/// Slices of matrices for consecutive writes to memory.
class ColumnSlicer {
public:
  /// `users` are consecutive operations, each of which uses one of the matrices; they are followed by writes to
  /// `written`. All matrices have the same number of columns. `columns` is a power of two for which `sliceLayout`
  /// returns a layout.
  ColumnSlicer(llvm::ArrayRef<mlir::Value> matrices, llvm::ArrayRef<mlir::Operation *> users,
               const PointerBases &written, int64_t columns);

  /// Returns columns first, first + 1, … of one of the matrices. Element-wise operations and broadcasts that only the
  /// users need are recomputed for the slice at the builder's insertion point; if they were already computed for the
  /// same columns of another matrix, that result is reused. If a matrix is loaded and converted only for the users,
  /// only the columns of the slice are loaded, and pass through a buffer of the size of the slice. If TMA has copied a
  /// block, the columns are read from its buffer at the insertion point.
  mlir::Value slice(mlir::OpBuilder &builder, mlir::Value matrix, int64_t first);

  /// Issues the loads of a slice in advance.
  void load(mlir::OpBuilder &builder, int64_t first);

private:
  bool isLoaded(cta::ConvertLayoutOp convert, mlir::Operation *user, const PointerBases &written) const;
  mlir::Value create(mlir::OpBuilder &builder, mlir::Value value);
  mlir::Value emitLoad(mlir::OpBuilder &builder, cta::ConvertLayoutOp convert, int64_t first);
  mlir::Value emitLoaded(mlir::OpBuilder &builder, cta::ConvertLayoutOp convert);
  mlir::RankedTensorType sliceType(mlir::RankedTensorType type) const;

  int64_t allColumns, columns, first = -1;
  llvm::DenseSet<mlir::Operation *> recomputed;
  llvm::MapVector<mlir::Operation *, mlir::Value> buffers; ///< Buffers of loaded matrices; null until needed.
  llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, mlir::Value> loaded;
  llvm::DenseMap<mlir::Value, mlir::Value> created;
};

/// Allocates a buffer through which tensors of type `from` are converted to the layout of `to`. The allocation is at
/// the kernel's entry. In a branch of a loop that may be taken rarely, it is at the builder's insertion point instead,
/// so that buffers of other code can use the same memory.
mlir::Value allocatePanel(mlir::OpBuilder builder, mlir::Location loc, mlir::Type from, mlir::Type to);

} // namespace tile
