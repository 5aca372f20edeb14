// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks divisions and assumptions, and that no two programs store to the same element.
#include "Verify/Checker.h"
#include "Verify/RequiredSize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::verify {

std::optional<Finding> Checker::checkDivision(Operation *op) {
  Value divisor = op->getOperand(1);
  const Index element = main.elementOf(divisor.getType());
  IntegerTerm term = main.integer(divisor, element);
  if (symbols.boundsOf(term.poly).low > 0 || term.poly.getConstant())
    return std::nullopt;
  main.requireRange(term, divisor);
  Finding finding = describe(op, "division");
  Hypotheses known;
  addPath(op, main, known);
  const Formula isValid = !Formula::equal(term.poly, 0);
  std::optional<Gap> overflow = findGap(term.needs, main, known.formulas);
  if (!overflow && prover.proves(known.formulas, isValid)) {
    finding.answer = Answer::Proven;
    return finding;
  }
  // Without declared buffers, nothing says which sizes are valid.
  if (launch.hasUndeclared() && isFixed(term.poly, symbols)) {
    std::set<Symbol> used;
    term.poly.addTo(used);
    const std::map<Symbol, std::string> loaded = nameLoaded(used, symbols);
    finding.answer = Answer::Conditional;
    finding.reason = "valid if " + toText(term.poly, symbols, loaded) + " != 0";
    for (const auto &[symbol, name] : loaded)
      finding.reason += ", where " + name + " is " + symbols[symbol].text;
    return finding;
  }
  if (launch.hasUndeclared() || !refute({{known.formulas, isValid, ""}}, op, main, finding))
    finding.reason = "not proven: the divisor is not zero" + explainUnknowns(term.poly);
  return finding;
}

Finding Checker::checkAssumption(AssumeOp op) {
  Finding finding = describe(op, "assume");
  Hypotheses known;
  addPath(op, main, known);
  TruthTerm condition = main.truth(op.getCondition(), {});
  std::optional<Gap> overflow = findGap(condition.needs, main, known.formulas);
  if (!overflow && prover.proves(known.formulas, condition.truth)) {
    finding.answer = Answer::Proven;
    return finding;
  }
  if (!refute({{known.formulas, condition.truth, ""}}, op, main, finding))
    finding.reason = "not proven; the other results rely on it";
  return finding;
}

/// Adds the fact that swizzle2d maps different pairs of indices to different pairs.
static void addBijections(KernelOp kernel, Evaluator &left, Evaluator &right, std::vector<Formula> &formulas) {
  kernel.walk([&](Swizzle2dOp op) {
    auto equal = [&](Value value) {
      return Formula::equal(left.integer(value, {}).poly, right.integer(value, {}).poly);
    };
    const Formula sameSpace = equal(op.getSizeI()) && equal(op.getSizeJ()) && equal(op.getSizeG());
    const Formula sameResult = equal(op.getNewI()) && equal(op.getNewJ());
    formulas.push_back((sameSpace && sameResult).implies(equal(op.getI()) && equal(op.getJ())));
  });
}

Finding Checker::checkPrograms(Operation *store) {
  Finding finding = describe(store, "programs");
  Evaluator first(kernel, symbols, launch), second(kernel, symbols, launch);
  Access one = evaluateAccess(store, first), other = evaluateAccess(store, second);
  if (!one.pointer.parameter || !launch.buffer(*one.pointer.parameter)) {
    finding.reason = one.pointer.parameter ? "the buffer is not declared" : one.pointer.unknown;
    return finding;
  }
  const BufferTerms &buffer = *launch.buffer(*one.pointer.parameter);
  finding.subject = buffer.name;
  Hypotheses known;
  addPath(store, first, known);
  addMask(one.mask, first, known);
  addPath(store, second, known);
  addMask(other.mask, second, known);
  addBijections(kernel, first, second, known.formulas);
  Formula sameProgram;
  for (unsigned axis = 0; axis < 3; ++axis)
    sameProgram = sameProgram && Formula::equal(first.programId(axis), second.programId(axis));
  // Elements of a written buffer do not share memory, so equal offsets imply equal indices if the indices are in
  // bounds.
  const Position left = findPosition(buffer, one.pointer.offset), right = findPosition(buffer, other.pointer.offset);
  Formula sameElement = Formula::equal(one.pointer.offset, other.pointer.offset);
  const bool areInside = prover.proves(known.formulas, left.isInside) && prover.proves(known.formulas, right.isInside);
  // With constant strides other than 1, an index may refer to memory between elements.
  const bool areElements =
      buffer.isRowMajor ||
      llvm::count_if(buffer.strides, [](const Poly &stride) { return stride.getConstant() && stride != Poly(1); }) +
              std::max<long>(llvm::count(buffer.strides, Poly(1)) - 1, 0) ==
          0;
  if (areInside && areElements && buffer.isWritten) {
    sameElement = Formula();
    for (auto [a, b] : llvm::zip(left.indices, right.indices))
      sameElement = sameElement && Formula::equal(a, b);
  }
  const bool fits =
      !findGap(one.pointer.needs, first, known.formulas) && !findGap(other.pointer.needs, second, known.formulas);
  const Formula isValid = sameElement.implies(sameProgram);
  if (fits && prover.proves(known.formulas, isValid)) {
    finding.answer = Answer::Proven;
    return finding;
  }
  if (!refute({{known.formulas, isValid, ""}}, store, first, finding, Scope::Grid))
    finding.reason = "not proven: two programs do not write the same element" + explainUnknowns(one.pointer.offset);
  return finding;
}

} // namespace tile::verify
