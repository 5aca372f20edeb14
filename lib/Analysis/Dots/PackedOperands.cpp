// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces an operand back to its loads; see PackedOperands.h.
#include "Analysis/Dots/PackedOperands.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

namespace {

/// The number of 16-bit elements in the 16 bytes that a thread reads from the other operand with one instruction.
constexpr int64_t maxElements = 8;

class PackedElements {
public:
  /// Returns the number of consecutive elements along `dim` that come from one element in memory.
  int64_t count(Value value, unsigned dim) {
    Operation *op = look(value);
    if (auto reshape = dyn_cast_if_present<ReshapeOp>(op))
      return countMerged(reshape, dim);
    if (auto change = dyn_cast_if_present<ShapeChange>(op)) {
      std::optional<SourceDims> dims = change.getSourceDims();
      return dims && (*dims)[dim] ? count(op->getOperand(0), *(*dims)[dim]) : 1;
    }
    int64_t result = 1;
    if (op && isElementwise(op))
      for (Value operand : op->getOperands())
        result = std::max(result, count(operand, dim));
    return result;
  }

private:
  /// Returns the operation that defines a tensor; null if too many operations have been visited.
  Operation *look(Value value) {
    if (budget == 0 || !isa<RankedTensorType>(value.getType()))
      return nullptr;
    --budget;
    return value.getDefiningOp();
  }

  /// Returns the product of the innermost dimensions that are merged into `dim` and along which a loaded value repeats.
  int64_t countMerged(ReshapeOp reshape, unsigned dim) {
    ArrayRef<int64_t> from = reshape.getSrc().getType().getShape(), to = reshape.getType().getShape();
    auto following = [](ArrayRef<int64_t> shape, unsigned last) {
      return llvm::product_of(shape.drop_front(last + 1));
    };
    // Find the last dimension that is merged into `dim`: the dimensions after it have as many elements as those after
    // `dim`.
    int last = int(from.size()) - 1;
    while (last >= 0 && following(from, last) < following(to, dim))
      --last;
    if (last < 0 || following(from, last) != following(to, dim))
      return 1;
    if (from[last] == to[dim])
      return count(reshape.getSrc(), last);
    int64_t merged = 1;
    for (; last >= 0 && merged * from[last] <= to[dim] && isRepeated(reshape.getSrc(), last); --last)
      merged *= from[last];
    // An integer provides at least one bit per element, so a loaded value that repeats more often is not packed; it is
    // a scale.
    return merged <= loadedBits ? merged : 1;
  }

  /// Returns true if all elements along `dim` come from one loaded element.
  bool isRepeated(Value value, unsigned dim) {
    Operation *op = look(value);
    if (auto change = dyn_cast_if_present<ShapeChange>(op)) {
      std::optional<SourceDims> dims = change.getSourceDims();
      Value source = op->getOperand(0);
      return dims && ((*dims)[dim] ? isRepeated(source, *(*dims)[dim]) : isLoaded(source));
    }
    return op && isElementwise(op) &&
           llvm::any_of(op->getOperands(), [&](Value operand) { return isRepeated(operand, dim); });
  }

  /// Returns true if the value is computed from integers in memory.
  bool isLoaded(Value value) {
    Operation *op = look(value);
    if (isa_and_present<ShapeChange, ReshapeOp>(op))
      return isLoaded(op->getOperand(0));
    if (isa_and_present<LoadOp, DescLoadOp>(op)) {
      auto type = dyn_cast<IntegerType>(getElementTypeOf(value.getType()));
      loadedBits = type ? type.getWidth() : 0;
      return type != nullptr;
    }
    return op && isElementwise(op) && llvm::any_of(op->getOperands(), [&](Value operand) { return isLoaded(operand); });
  }

  unsigned budget = 256;
  int64_t loadedBits = 0; ///< The width of the integers that were found most recently.
};

} // namespace

int64_t tile::countPackedAlongK(DotOp dot) {
  int64_t count = std::max(PackedElements().count(dot.getA(), 1), PackedElements().count(dot.getB(), 0));
  return llvm::bit_floor(uint64_t(std::min(count, maxElements)));
}
