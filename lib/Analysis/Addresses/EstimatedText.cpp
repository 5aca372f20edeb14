// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes index arithmetic as expressions, by walking over its operations; see EstimatedText.h.
#include "Analysis/Addresses/EstimatedText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;
using llvm::formatv;

namespace {

// The maximum depth of expressions; the manifest's expressions are evaluated on a small stack.
constexpr unsigned maxDepth = 16;
constexpr size_t longestText =
    400; // the maximum length; the manifest is read whenever an application starts, so it should be short

EstimatedText limited(std::string text) {
  return text.size() <= longestText ? EstimatedText(std::move(text)) : std::nullopt;
}

EstimatedText combine(const EstimatedText &left, StringRef word, const EstimatedText &right) {
  return left && right ? limited(formatv("({0} {1} {2})", *left, word, *right)) : std::nullopt;
}

EstimatedText call(StringRef function, const EstimatedText &left, const EstimatedText &right) {
  return left && right ? limited(formatv("{0}({1}, {2})", function, *left, *right)) : std::nullopt;
}

} // namespace

EstimateWriter::EstimateWriter(KernelOp kernel) : kernel(kernel) {}

std::string EstimateWriter::gridSize(unsigned axis) {
  LaunchAttr launch = kernel.getLaunchAttr();
  if (!launch || axis >= launch.getGrid().size())
    return "1";
  return formatv("({0})", launch.getGrid()[axis].getValue());
}

EstimatedText EstimateWriter::number(Value value, unsigned depth) {
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isSignedIntN(32) ? EstimatedText(std::to_string(constant.getSExtValue())) : std::nullopt;
  if (depth == maxDepth || !value.getType().isIntOrIndex())
    return std::nullopt;
  if (auto block = dyn_cast<BlockArgument>(value))
    return argument(block, depth + 1);
  return operation(value.getDefiningOp(), depth + 1);
}

/// Returns a parameter's name, or the middle of a loop's range for its induction variable.
EstimatedText EstimateWriter::argument(BlockArgument argument, unsigned depth) {
  if (argument.getOwner() == &kernel.getBody().front()) {
    auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), argNameAttrName);
    return name && !argument.getType().isInteger(1) ? EstimatedText(name.str()) : std::nullopt;
  }
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar())
    return std::nullopt;
  EstimatedText lower = number(loop.getLowerBound(), depth), upper = number(loop.getUpperBound(), depth);
  return combine(combine(lower, "+", upper), "//", "2");
}

EstimatedText EstimateWriter::condition(Value value, unsigned depth) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  static constexpr StringLiteral words[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  return combine(number(compare.getLhs(), depth), words[unsigned(compare.getPredicate())],
                 number(compare.getRhs(), depth));
}

EstimatedText EstimateWriter::select(Operation *op, unsigned depth) {
  auto choice = cast<arith::SelectOp>(op);
  EstimatedText chosen = condition(choice.getCondition(), depth);
  EstimatedText yes = number(choice.getTrueValue(), depth), no = number(choice.getFalseValue(), depth);
  if (!chosen || !yes || !no)
    return std::nullopt;
  return limited(formatv("({0} if {1} else {2})", *yes, *chosen, *no));
}

EstimatedText EstimateWriter::operation(Operation *op, unsigned depth) {
  auto of = [&](unsigned operand) { return number(op->getOperand(operand), depth); };
  auto power = [&](StringRef word) -> EstimatedText {
    llvm::APInt bits;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&bits)) || bits.uge(31))
      return std::nullopt;
    return combine(of(0), word, std::to_string(int64_t(1) << bits.getZExtValue()));
  };
  return llvm::TypeSwitch<Operation *, EstimatedText>(op)
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, HintOp>(
          [&](Operation *) { return of(0); })
      .Case<arith::AddIOp>([&](Operation *) { return combine(of(0), "+", of(1)); })
      .Case<arith::SubIOp>([&](Operation *) { return combine(of(0), "-", of(1)); })
      .Case<arith::MulIOp>([&](Operation *) { return combine(of(0), "*", of(1)); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](Operation *) { return combine(of(0), "//", of(1)); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](Operation *) { return call("cdiv", of(0), of(1)); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *) { return combine(of(0), "%", of(1)); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](Operation *) { return call("min", of(0), of(1)); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](Operation *) { return call("max", of(0), of(1)); })
      .Case<arith::ShLIOp>([&](Operation *) { return power("*"); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](Operation *) { return power("//"); })
      .Case<arith::SelectOp>([&](Operation *) { return select(op, depth); })
      .Case([&](ProgramIdOp id) { return combine(gridSize(id.getAxis()), "//", "2"); })
      .Case([&](NumProgramsOp count) { return EstimatedText(gridSize(count.getAxis())); })
      .Default([](Operation *) { return EstimatedText(); });
}

EstimatedText EstimateWriter::iterations(scf::ForOp loop) {
  EstimatedText lower = number(loop.getLowerBound()), upper = number(loop.getUpperBound());
  EstimatedText distance = lower == "0" ? upper : combine(upper, "-", lower);
  return call("max", call("cdiv", distance, number(loop.getStep())), "0");
}
