// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations that compute a tensor, created again so that they compute it in another layout, or a part of it.
//
// What an operation does to layouts, and how it is created again, its cta::LayoutInterface says. Here is how far back
// that pays: to ranges, splats and constants, around loops and through branches, or to values that are converted.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

struct CarriedValue;

/// The layout that the tensor operands of `op` must have if it is created again in `layout`. Null if it cannot be: it
/// has effects, several results or a region, which may compute for long, or moves elements between threads.
cta::LayoutAttr getOperandLayout(mlir::Operation *op, cta::LayoutAttr layout);

/// What it takes to have a value in a layout.
struct LayoutSlice {
  /// Values to re-create and the layout of each; the others are already as needed or must be converted.
  llvm::SetVector<std::pair<mlir::Value, cta::LayoutAttr>> recreated;
  /// Of the others those that could be re-created at a higher cost.
  llvm::DenseSet<std::pair<mlir::Value, cta::LayoutAttr>> leaves;
  /// Bytes that conversions of leaves would move, and that those move which are no longer needed.
  int64_t cost = 0, saved = 0;
  int64_t limit = 0;
  /// Whether conversions that are no longer needed make up for others.
  bool offsets = false;

  int64_t netCost() const { return offsets ? cost - saved : cost; }
  bool isTooDear() const { return netCost() >= limit; }
  bool recreates(mlir::Value value) const { return timesRecreated.lookup(value) > 0; }
  void recreate(mlir::Value value, cta::LayoutAttr layout);
  /// Takes back all but the first `count`.
  void keepRecreated(size_t count);
  /// How many values are computed again although they are needed in their old layouts, too.
  size_t countComputedTwice() const;

private:
  llvm::DenseMap<mlir::Value, unsigned> timesRecreated; ///< In one layout or another.
};

class LayoutSlicer {
public:
  /// With `readsBuffers`, what is loaded from shared memory is loaded in the layout that is needed.
  explicit LayoutSlicer(bool readsBuffers = false) : readsBuffers(readsBuffers) {}

  /// Collects the slice; changes nothing. It may stop where the cost has reached `limit`.
  LayoutSlice plan(mlir::Value value, cta::LayoutAttr layout, int64_t limit = INT64_MAX, bool offsets = false);

  /// `value` in `layout`: re-creates what `plan` found and converts its leaves.
  mlir::Value rewrite(mlir::Value value, cta::LayoutAttr layout, bool offsets = false);

  /// Changes with each value of a loop or branch that `rewrite` changed.
  size_t numCarriedChanges() const { return settled.size(); }

  /// Bytes of all elements of a tensor.
  static int64_t bytesOf(mlir::Value value);

private:
  void visit(mlir::Value value, cta::LayoutAttr layout, LayoutSlice &slice);
  void visitCarried(const CarriedValue &carried, cta::LayoutAttr layout, LayoutSlice &slice);
  mlir::Value create(mlir::Value value, cta::LayoutAttr layout);
  mlir::Value createAgain(mlir::Value value, cta::LayoutAttr layout);
  void changeCarried(const CarriedValue &carried, cta::LayoutAttr layout);
  mlir::Value convertLeaf(mlir::Value value, cta::LayoutAttr layout);
  bool mayLoadAgain(mlir::Operation *op, cta::LayoutAttr layout) const;

  bool readsBuffers;
  LayoutSlice current;
  /// Operands of carried values that have the new layout which are still in the old one.
  llvm::SmallVector<std::pair<mlir::OpOperand *, cta::LayoutAttr>> pending;
  llvm::DenseMap<std::pair<mlir::Value, cta::LayoutAttr>, mlir::Value> created;
  /// Carried values, by their first, whose layout has been changed; never changed again.
  llvm::DenseSet<mlir::Value> settled;
};

/// Erases what computes these values, as far as nothing else uses it and, if there is one, it stands in `block`; `note`
/// is told before. Loops are left to the canonicalisation.
void eraseIfUnused(mlir::ValueRange unused, llvm::function_ref<void(mlir::Operation *)> note = {},
                   mlir::Block *block = nullptr);

/// Whether `recreateColumns` can compute columns of this matrix: it is made of ranges, splats and arithmetic.
bool canRecreateColumns(mlir::Value matrix);

/// `columns` columns of such a matrix from `first` on, in `layout`, computed at the builder's place.
mlir::Value recreateColumns(mlir::OpBuilder &builder, mlir::Value matrix, int64_t first, int64_t columns,
                            cta::LayoutAttr layout);

} // namespace tile
