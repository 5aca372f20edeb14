// The operations that compute a value, re-created so that they compute it in another layout.
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

struct CarriedValue;

/// Whether an element-wise operation means the same in `layout`. Inline PTX that computes several elements at once may
/// mix them, so these must be neighbours in memory order: its lowest registers count them.
bool meansTheSameIn(cta::LayoutAttr layout, mlir::Operation *op);

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

  /// Changes with each value of a loop or branch that `rewrite` changed.
  size_t numCarriedChanges() const { return settled.size(); }

  /// Bytes of all elements of a tensor.
  static int64_t bytesOf(mlir::Value value);

private:
  void visit(mlir::Value value, cta::LayoutAttr layout, LayoutSlice &slice);
  void visitCarried(const CarriedValue &carried, cta::LayoutAttr layout, LayoutSlice &slice);
  mlir::Value create(mlir::Value value, cta::LayoutAttr layout);
  void changeCarried(const CarriedValue &carried, cta::LayoutAttr layout);
  mlir::Value convertLeaf(mlir::Value value, cta::LayoutAttr layout);

  LayoutSlice current;
  /// Operands of carried values that have the new layout which are still in the old one.
  llvm::SmallVector<std::pair<mlir::OpOperand *, cta::LayoutAttr>> pending;
  llvm::DenseMap<std::pair<mlir::Value, cta::LayoutAttr>, mlir::Value> created;
  /// Carried values, by their first, whose layout has been changed; never changed again.
  llvm::DenseSet<mlir::Value> settled;
};

} // namespace tile
