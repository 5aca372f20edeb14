// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates operations that move elements: returns the index of an element before the move.
#include "Verify/Evaluator.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::verify {

static Index reshapeIndex(Symbols &symbols, ArrayRef<int64_t> from, ArrayRef<int64_t> to, const Index &index) {
  Poly linear = 0;
  for (size_t axis = 0; axis < from.size(); ++axis)
    linear = linear * Poly(from[axis]) + index[axis];
  Index result(to.size());
  for (size_t axis = to.size(); axis-- > 0;) {
    auto [quotient, remainder] = symbols.divide(linear, Poly(to[axis]), /*isFloor=*/true);
    result[axis] = to[axis] == 1 ? Poly(0) : axis == 0 ? linear : remainder;
    linear = quotient;
  }
  return result;
}

std::optional<std::pair<Value, Index>> Evaluator::throughShape(Operation *op, const Index &index) {
  using Source = std::optional<std::pair<Value, Index>>;
  return llvm::TypeSwitch<Operation *, Source>(op)
      .Case([&](SplatOp splat) -> Source { return std::pair(Value(splat.getScalar()), Index()); })
      .Case([&](HintOp hint) -> Source { return std::pair(Value(hint.getSrc()), index); })
      .Case([&](BroadcastOp broadcast) -> Source {
        Index source = index;
        ArrayRef<int64_t> shape = cast<RankedTensorType>(broadcast.getSrc().getType()).getShape();
        for (size_t axis = 0; axis < shape.size(); ++axis)
          if (shape[axis] == 1)
            source[axis] = 0;
        return std::pair(Value(broadcast.getSrc()), source);
      })
      .Case([&](ExpandDimsOp expand) -> Source {
        Index source = index;
        source.erase(source.begin() + int32_t(expand.getAxis()));
        return std::pair(Value(expand.getSrc()), source);
      })
      .Case([&](TransOp trans) -> Source {
        Index source(index.size());
        for (auto [axis, from] : llvm::enumerate(trans.getOrder()))
          source[size_t(from)] = index[axis];
        return std::pair(Value(trans.getSrc()), source);
      })
      .Case([&](ReshapeOp reshape) -> Source {
        auto from = cast<RankedTensorType>(reshape.getResult().getType());
        auto to = cast<RankedTensorType>(reshape.getSrc().getType());
        return std::pair(Value(reshape.getSrc()), reshapeIndex(symbols, from.getShape(), to.getShape(), index));
      })
      .Default([](Operation *) -> Source { return std::nullopt; });
}

Index Evaluator::elementOf(Type type) {
  Index index;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return index;
  for (auto [axis, size] : llvm::enumerate(tensor.getShape())) {
    SymbolInfo info{SymbolKind::Element, "element " + std::to_string(axis), {0, size - 1}};
    info.index = unsigned(axis);
    index.push_back(size == 1 ? Poly(0) : Poly::symbol(symbols.add(info)));
  }
  return index;
}

} // namespace tile::verify
