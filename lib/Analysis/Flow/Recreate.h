// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recreates the operations that compute a tensor so that they compute it in another layout, or compute only a part of
// it.
//
// An operation's cta::LayoutInterface says how the layouts of operands and results are related, and how the operation
// is recreated. This file decides how far back recreation pays off: to ranges, splats and constants, around loops and
// through branches, or to values that are converted.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

struct CarriedValue;

/// Returns the layout that the tensor operands of `op` must have if it is recreated in `layout`. Null if `op` cannot be
/// recreated, because it has effects, several results or a region (which may be expensive), or moves elements between
/// threads.
cta::LayoutAttr getOperandLayout(mlir::Operation *op, cta::LayoutAttr layout);

/// The values that are recreated and converted to obtain a value in a layout, and the cost of this.
struct LayoutSlice {
  /// Values to recreate, with the new layout of each. Other values already have the required layout or must be
  /// converted.
  llvm::SetVector<std::pair<mlir::Value, cta::LayoutAttr>> recreated;
  /// Values that could be recreated, but whose conversion costs less.
  llvm::DenseSet<std::pair<mlir::Value, cta::LayoutAttr>> leaves;
  /// Bytes moved by conversions of leaves, and by conversions that become dead.
  int64_t cost = 0, saved = 0;
  int64_t limit = 0;
  /// Whether the savings from dead conversions are subtracted from the cost.
  bool offsets = false;

  int64_t netCost() const { return offsets ? cost - saved : cost; }
  bool isTooExpensive() const { return netCost() >= limit; }
  bool recreates(mlir::Value value) const { return timesRecreated.lookup(value) > 0; }
  void recreate(mlir::Value value, cta::LayoutAttr layout);
  /// Keeps only the first `count` values.
  void keepRecreated(size_t count);
  /// Returns the number of values that are recomputed although they are also used in their old layouts.
  size_t countComputedTwice() const;

private:
  llvm::DenseMap<mlir::Value, unsigned> timesRecreated; ///< The number of layouts in which each value is recreated.
};

class LayoutSlicer {
public:
  /// With `readsBuffers`, loads from shared memory are repeated in the required layout.
  explicit LayoutSlicer(bool readsBuffers = false) : readsBuffers(readsBuffers) {}

  /// Collects the slice without changing the IR. It may stop once the cost has reached `limit`.
  LayoutSlice plan(mlir::Value value, cta::LayoutAttr layout, int64_t limit = INT64_MAX, bool offsets = false);

  /// Returns `value` in `layout`: recreates what `plan` found and converts its leaves.
  mlir::Value rewrite(mlir::Value value, cta::LayoutAttr layout, bool offsets = false);

  /// Returns the number of loop-carried values and branch results whose layout `rewrite` has changed.
  size_t numCarriedChanges() const { return settled.size(); }

  /// Returns the bytes of all elements of a tensor.
  static int64_t bytesOf(mlir::Value value);

private:
  void visit(mlir::Value value, cta::LayoutAttr layout, LayoutSlice &slice);
  void visitCarried(const CarriedValue &carried, cta::LayoutAttr layout, LayoutSlice &slice);
  mlir::Value create(mlir::Value value, cta::LayoutAttr layout);
  mlir::Value recreateIn(mlir::Value value, cta::LayoutAttr layout);
  void changeCarried(const CarriedValue &carried, cta::LayoutAttr layout);
  mlir::Value convertLeaf(mlir::Value value, cta::LayoutAttr layout);
  bool mayReload(mlir::Operation *op, cta::LayoutAttr layout) const;

  bool readsBuffers;
  LayoutSlice current;
  /// Operands that are still in the old layout and feed carried values that already have the new layout.
  llvm::SmallVector<std::pair<mlir::OpOperand *, cta::LayoutAttr>> pending;
  llvm::DenseMap<std::pair<mlir::Value, cta::LayoutAttr>, mlir::Value> created;
  /// Carried values whose layout has been changed, each represented by its first value. Their layout is not changed
  /// again.
  llvm::DenseSet<mlir::Value> settled;
};

/// Erases the operations that compute these values, if nothing else uses the values; with `block`, only operations in
/// this block. Calls `note` with each operation before erasing it. Loops are left to canonicalization.
void eraseIfUnused(mlir::ValueRange unused, llvm::function_ref<void(mlir::Operation *)> note = {},
                   mlir::Block *block = nullptr);

/// Returns true if `recreateColumns` can compute columns of this matrix, because it is computed from ranges and splats
/// by arithmetic.
bool canRecreateColumns(mlir::Value matrix);

/// Returns `columns` columns of `matrix`, starting at column `first`, in `layout`. They are computed at the builder's
/// insertion point. canRecreateColumns(matrix) must be true.
mlir::Value recreateColumns(mlir::OpBuilder &builder, mlir::Value matrix, int64_t first, int64_t columns,
                            cta::LayoutAttr layout);

} // namespace tile
