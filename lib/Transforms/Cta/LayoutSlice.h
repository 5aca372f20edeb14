// The operations that compute a value, re-created so that they compute it in another layout.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// What it takes to have a value in a layout.
struct LayoutSlice {
  /// Values to re-create and the layout of each; the others are already as needed or must be converted.
  llvm::DenseSet<std::pair<mlir::Value, cta::LayoutAttr>> recreated;
  /// Bytes that conversions of leaves would move.
  int64_t cost = 0;
  int64_t limit = 0;

  bool isTooDear() const { return cost >= limit; }
};

class LayoutSlicer {
public:
  /// Collects the slice; changes nothing. It may stop where the cost has reached `limit`.
  LayoutSlice plan(mlir::Value value, cta::LayoutAttr layout, int64_t limit = INT64_MAX);

  /// `value` in `layout`: re-creates what `plan` found and converts its leaves.
  mlir::Value rewrite(mlir::Value value, cta::LayoutAttr layout);

  /// Changes with each loop whose value `rewrite` changed.
  size_t numCarriedChanges() const { return settled.size(); }

  /// Bytes of all elements of a tensor.
  static int64_t bytesOf(mlir::Value value);

private:
  void visit(mlir::Value value, cta::LayoutAttr layout, LayoutSlice &slice);
  void visitCarried(mlir::scf::ForOp loop, unsigned index, cta::LayoutAttr layout, LayoutSlice &slice);
  mlir::Value create(mlir::Value value, cta::LayoutAttr layout);
  mlir::Value createCarried(mlir::scf::ForOp loop, unsigned index, cta::LayoutAttr layout, bool isResult);
  mlir::Value convertLeaf(mlir::Value value, cta::LayoutAttr layout);

  LayoutSlice current;
  /// Loops and indices of carried values whose yielded value is still in the old layout.
  llvm::SmallVector<std::pair<mlir::scf::ForOp, unsigned>> pendingYields;
  llvm::DenseMap<std::pair<mlir::Value, cta::LayoutAttr>, mlir::Value> created;
  /// Values that loops carry, by loop argument, whose layout has been changed; never changed again.
  llvm::DenseSet<mlir::Value> settled;
};

} // namespace tile
