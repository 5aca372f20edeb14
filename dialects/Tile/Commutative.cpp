// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tile/Commutative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace mlir;

namespace tile {

namespace {

/// Renders the computation of a combine region as a string, such that equal strings imply equal values. The region is
/// commutative if the string stays the same when the left and right arguments are swapped. If the values must be
/// bitwise equal, operations that round have no string, because a multiplication may be contracted with either addend.
class Formula {
public:
  Formula(Block &block, bool isSwapped, bool isExact) : block(block), isSwapped(isSwapped), isExact(isExact) {}

  std::optional<std::string> of(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &block) {
      unsigned count = block.getNumArguments(), number = argument.getArgNumber();
      return "%" + std::to_string(isSwapped ? (number + count / 2) % count : number);
    }
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block)
      return "@" + std::to_string(reinterpret_cast<uintptr_t>(value.getAsOpaquePointer()));
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
        (isExact && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op)))
      return std::nullopt;
    if (std::optional<std::string> choice = ofChoice(op))
      return choice;
    SmallVector<std::string> operands;
    for (Value operand : op->getOperands()) {
      std::optional<std::string> text = of(operand);
      if (!text)
        return std::nullopt;
      operands.push_back(*text);
    }
    if (op->hasTrait<OpTrait::IsCommutative>() || comparesForEquality(op))
      llvm::sort(operands);
    std::string text;
    llvm::raw_string_ostream(text) << op->getName() << op->getAttrDictionary() << '(' << llvm::join(operands, ",")
                                   << ')';
    return text;
  }

private:
  static bool comparesForEquality(Operation *op) {
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return compare.getPredicate() == arith::CmpIPredicate::eq || compare.getPredicate() == arith::CmpIPredicate::ne;
    auto compare = dyn_cast<arith::CmpFOp>(op);
    return compare &&
           (compare.getPredicate() == arith::CmpFPredicate::OEQ || compare.getPredicate() == arith::CmpFPredicate::UNE);
  }

  /// Returns the string for `p != q ? (p ? x : y) : z`, which is x if only p holds, y if only q holds, and otherwise z.
  std::optional<std::string> ofChoice(Operation *op) {
    auto outer = dyn_cast<arith::SelectOp>(op);
    auto differ = outer ? outer.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
    auto inner = outer ? outer.getTrueValue().getDefiningOp<arith::SelectOp>() : arith::SelectOp();
    if (!differ || !inner || differ.getPredicate() != arith::CmpIPredicate::ne ||
        !differ.getLhs().getType().isInteger(1) || inner.getCondition() != differ.getLhs())
      return std::nullopt;
    std::optional<std::string> p = of(differ.getLhs()), q = of(differ.getRhs()), x = of(inner.getTrueValue()),
                               y = of(inner.getFalseValue()), z = of(outer.getFalseValue());
    if (!p || !q || !x || !y || !z)
      return std::nullopt;
    std::array<std::string, 2> sides{*p + "->" + *x, *q + "->" + *y};
    llvm::sort(sides);
    return "only(" + sides[0] + "," + sides[1] + "," + *z + ")";
  }

  Block &block;
  bool isSwapped, isExact;
};

} // namespace

bool isCommutative(Block &combine, bool isExact) {
  constexpr size_t maxOperations = 16; // also limits combinations written by users
  if (llvm::hasNItems(combine.without_terminator(), 1) && combine.getNumArguments() == 2)
    return combine.front().hasTrait<OpTrait::IsCommutative>();
  return combine.getOperations().size() <= maxOperations &&
         llvm::all_of(combine.getTerminator()->getOperands(), [&](Value result) {
           std::optional<std::string> text = Formula(combine, /*isSwapped=*/false, isExact).of(result);
           return text && text == Formula(combine, /*isSwapped=*/true, isExact).of(result);
         });
}

} // namespace tile
