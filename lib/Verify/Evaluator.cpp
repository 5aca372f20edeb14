// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::verify {

Needs merge(const Needs &left, const Needs &right) {
  Needs both = left;
  both.insert(right.begin(), right.end());
  return both;
}

std::string lineOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return "line " + std::to_string(file.getLine());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return lineOf(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(location))
    return lineOf(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty())
    return lineOf(fused.getLocations().front());
  return "an unknown line";
}

/// Maximum number of side conditions of a value. In a chain of selections, such as a sorting network, each selection
/// doubles their number.
constexpr size_t maxNeeds = 256;

// The largest grid of a launch: CUDA programming guide, "Technical Specifications".
constexpr Wide largestCount = 2147483647;

static unsigned widthOf(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOf(type));
  return integer ? integer.getWidth() : 64; // index
}

Evaluator::Evaluator(KernelOp kernel, Symbols &symbols, const Launch &launch)
    : kernel(kernel), symbols(symbols), launch(launch) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Poly &count = launch.programs(axis);
    SymbolInfo info{SymbolKind::Program, "program_id(" + std::to_string(axis) + ")"};
    info.range = {0, std::max<Wide>(0, std::min<Wide>(symbols.boundsOf(count).high, largestCount) - 1)};
    info.index = axis;
    programs.push_back(symbols.add(info));
    // A launch that runs a program has at least one program along each axis.
    symbols.at(programs.back()).facts = {Formula::less(Poly::symbol(programs.back()), count)};
  }
}

void Evaluator::require(Needs &set, Formula condition, Location location, std::string text) {
  if (condition.kind() == Formula::Kind::True)
    return;
  set.insert(unsigned(needs.size()));
  needs.push_back({std::move(condition), location, std::move(text)});
}

void Evaluator::requireRange(IntegerTerm &term, Value value, bool isUnsigned) {
  const unsigned width = widthOf(value.getType());
  const Wide low = isUnsigned ? Wide(0) : -(Wide(1) << (width - 1)),
             high = (Wide(1) << (isUnsigned ? width : width - 1)) - 1;
  const Interval bounds = symbols.boundsOf(term.poly);
  // A bound of 2^62 means unbounded. For a 64-bit value this is harmless only if the value is a symbol, not a result.
  const bool isTypeBound = width == 64 && term.poly.getSymbol();
  if (bounds.low >= low && (bounds.high < high || bounds.high == high) && (width < 64 || isTypeBound))
    return;
  Formula fits = Formula::lessEqual(low, term.poly) && Formula::lessEqual(term.poly, high);
  if (width == 64 && !isUnsigned && bounds.low > -(Wide(1) << 62) && bounds.high < (Wide(1) << 62))
    return;
  require(term.needs, fits, value.getLoc(),
          isUnsigned ? "a value that is used as an unsigned one is not negative"
                     : "a " + std::to_string(width) + "-bit value does not overflow");
}

void Evaluator::mergeIf(Needs &set, const Needs &other, const Formula &condition) {
  for (unsigned index : other) {
    Need copy = needs[index];
    require(set, condition.implies(copy.condition), copy.location, copy.text);
  }
}

IntegerTerm Evaluator::unknownInteger(Value value, std::string why) {
  const unsigned width = widthOf(value.getType());
  SymbolInfo info{SymbolKind::Opaque, std::move(why)};
  info.range = {-(Wide(1) << (width - 1)), (Wide(1) << (width - 1)) - 1};
  info.location = value.getLoc();
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<LoadOp, DescLoadOp, AtomicRmwOp, AtomicCasOp>(op)) {
    info.kind = SymbolKind::Loaded;
    info.text = "the value loaded at " + lineOf(value.getLoc());
  }
  const Poly result = Poly::symbol(symbols.add(info));
  // A symbol's range cannot hold 64-bit bounds, so they are stated as facts.
  if (width == 64)
    symbols.at(*result.getSymbol()).facts = {Formula::lessEqual(info.range.low, result),
                                             Formula::lessEqual(result, info.range.high)};
  return {result, {}};
}

TruthTerm Evaluator::unknownTruth(Value value, std::string why) {
  SymbolInfo info{SymbolKind::Opaque, std::move(why), {0, 1}};
  info.isFlag = true;
  info.location = value.getLoc();
  return {Formula::flag(symbols.add(info)), {}};
}

IntegerTerm Evaluator::integer(Value value, const Index &index) {
  if (auto known = integers.find({value, index}); known != integers.end())
    return known->second;
  IntegerTerm result = computeInteger(value, index);
  if (result.poly.isHuge())
    result = unknownInteger(value, "a very large product");
  if (result.needs.size() > maxNeeds)
    result = unknownInteger(value, "a value that many conditions select");
  return integers[{value, index}] = std::move(result);
}

IntegerTerm Evaluator::constantOf(DenseElementsAttr values, const Index &index, Value value) {
  if (values.isSplat())
    return {Poly(values.getSplatValue<APInt>().getSExtValue()), {}};
  IntegerTerm result = unknownInteger(value, "a table of constants");
  Interval range = {Wide(1) << 63, -(Wide(1) << 63)};
  for (const APInt &element : values.getValues<APInt>())
    range = {std::min<Wide>(range.low, element.getSExtValue()), std::max<Wide>(range.high, element.getSExtValue())};
  symbols.at(*result.poly.getSymbol()).range = range;
  return result;
}

IntegerTerm Evaluator::computeInteger(Value value, const Index &index) {
  if (getElementTypeOf(value.getType()).isInteger(1)) { // interpreted as signed, true is -1
    TruthTerm condition = truth(value, index);
    return {symbols.choose(condition.truth, -1, 0), condition.needs};
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == kernel)
      return {launch.parameter(argument.getArgNumber()), {}};
    if (Value source = forwardedTo(argument))
      return integer(source, index);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return unknownInteger(value, "a value inside the operation at " + lineOf(parent->getLoc()));
    if (argument != loop.getInductionVar())
      return carriedInteger(loop, argument.getArgNumber() - 1, index, value);
    IntegerTerm lower = integer(loop.getLowerBound(), {}), step = integer(loop.getStep(), {});
    requireRange(lower, loop.getLowerBound(), loop.getUnsignedCmp());
    return {lower.poly + step.poly * Poly::symbol(iterationOf(loop)), merge(lower.needs, step.needs)};
  }
  Operation *op = value.getDefiningOp();
  if (auto source = throughShape(op, index))
    return integer(source->first, source->second);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return carriedInteger(loop, cast<OpResult>(value).getResultNumber(), index, value);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const unsigned number = cast<OpResult>(value).getResultNumber();
    TruthTerm condition = truth(branch.getCondition(), {});
    IntegerTerm yes = integer(branch.thenYield()->getOperand(number), index),
                no = integer(branch.elseYield()->getOperand(number), index);
    IntegerTerm result{symbols.choose(condition.truth, yes.poly, no.poly), condition.needs};
    mergeIf(result.needs, yes.needs, condition.truth);
    mergeIf(result.needs, no.needs, !condition.truth);
    return result;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return {Poly(number.getValue().getSExtValue()), {}};
    if (auto values = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return constantOf(values, index, value);
  }
  if (auto range = dyn_cast<ArangeOp>(op))
    return {index[0] + Poly(int32_t(range.getStart())), {}};
  if (isa<ProgramIdOp, NumProgramsOp, Swizzle2dOp>(op))
    return evaluateProgram(op, cast<OpResult>(value));
  if (isa<arith::ArithDialect>(op->getDialect()))
    return evaluateArith(op, index);
  return unknownInteger(value, "the result of '" + op->getName().getStringRef().str() + "' at " + lineOf(op->getLoc()));
}

IntegerTerm Evaluator::evaluateProgram(Operation *op, OpResult result) {
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return {programId(id.getAxis()), {}};
  if (auto count = dyn_cast<NumProgramsOp>(op))
    return {launch.programs(count.getAxis()), {}};
  IntegerTerm terms[5];
  Needs all;
  for (auto [term, operand] : llvm::zip(terms, op->getOperands())) {
    term = integer(operand, {});
    requireRange(term, operand);
    all = merge(all, term.needs);
  }
  const auto &[i, j, sizeI, sizeJ, group] = terms;
  const Formula isInside = Formula::lessEqual(0, i.poly) && Formula::less(i.poly, sizeI.poly) &&
                           Formula::lessEqual(0, j.poly) && Formula::less(j.poly, sizeJ.poly) &&
                           Formula::less(0, group.poly);
  require(all, isInside, op->getLoc(), "the index passed to swizzle2d is inside its grid");
  auto [entry, isNew] = swizzles.try_emplace(op);
  if (isNew) {
    SymbolInfo row{SymbolKind::Derived, "a row of swizzle2d"}, column{SymbolKind::Derived, "a column of swizzle2d"};
    row.range = {0, std::max<Wide>(0, symbols.boundsOf(sizeI.poly).high - 1)};
    column.range = {0, std::max<Wide>(0, symbols.boundsOf(sizeJ.poly).high - 1)};
    entry->second = {symbols.add(row), symbols.add(column)};
    symbols.at(entry->second.first).facts = {
        isInside.implies(Formula::less(Poly::symbol(entry->second.first), sizeI.poly))};
    symbols.at(entry->second.second).facts = {
        isInside.implies(Formula::less(Poly::symbol(entry->second.second), sizeJ.poly))};
  }
  const auto &[row, column] = entry->second;
  return {Poly::symbol(result.getResultNumber() == 0 ? row : column), all};
}

std::vector<Evaluator::Permuted> Evaluator::permutedPrograms() {
  std::vector<Permuted> found;
  for (const auto &[op, results] : swizzles) {
    Permuted permuted{{results.first, results.second}, {3, 3}};
    for (unsigned which = 0; which < 2; ++which) {
      const Poly id = integer(op->getOperand(which), {}).poly, size = integer(op->getOperand(2 + which), {}).poly;
      for (unsigned axis = 0; axis < 3; ++axis)
        if (id == programId(axis) && size == launch.programs(axis))
          permuted.axes[which] = axis;
    }
    if (permuted.axes[0] < 3 && permuted.axes[1] < 3 && permuted.axes[0] != permuted.axes[1])
      found.push_back(permuted);
  }
  return found;
}

TruthTerm Evaluator::truth(Value value, const Index &index) {
  if (auto known = truths.find({value, index}); known != truths.end())
    return known->second;
  TruthTerm result = computeTruth(value, index);
  return truths[{value, index}] = std::move(result);
}

TruthTerm Evaluator::computeTruth(Value value, const Index &index) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() == kernel)
      return {!Formula::equal(launch.parameter(argument.getArgNumber()), 0), {}};
    return unknownTruth(value, "a condition that is carried by a loop");
  }
  Operation *op = value.getDefiningOp();
  if (auto source = throughShape(op, index))
    return truth(source->first, source->second);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return {Formula(!number.getValue().isZero()), {}};
    if (auto values = dyn_cast<DenseElementsAttr>(constant.getValue()); values && values.isSplat())
      return {Formula(!values.getSplatValue<APInt>().isZero()), {}};
  }
  if (isa<arith::CmpIOp>(op))
    return compare(op, index);
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    TruthTerm left = truth(op->getOperand(0), index), right = truth(op->getOperand(1), index);
    const Formula &a = left.truth, &b = right.truth;
    return {isa<arith::AndIOp>(op)  ? a && b
            : isa<arith::OrIOp>(op) ? a || b
                                    : (a && !b) || (!a && b),
            merge(left.needs, right.needs)};
  }
  auto choose = [](const TruthTerm &condition, const TruthTerm &yes, const TruthTerm &no) -> TruthTerm {
    return {(condition.truth && yes.truth) || (!condition.truth && no.truth),
            merge(condition.needs, merge(yes.needs, no.needs))};
  };
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const Index none;
    const bool isScalar = !isa<RankedTensorType>(select.getCondition().getType());
    return choose(truth(select.getCondition(), isScalar ? none : index), truth(select.getTrueValue(), index),
                  truth(select.getFalseValue(), index));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const unsigned number = cast<OpResult>(value).getResultNumber();
    return choose(truth(branch.getCondition(), {}), truth(branch.thenYield()->getOperand(number), index),
                  truth(branch.elseYield()->getOperand(number), index));
  }
  if (isa<arith::TruncIOp>(op)) {
    IntegerTerm number = integer(op->getOperand(0), index);
    return {!Formula::equal(symbols.divide(number.poly, 2, /*isFloor=*/true).second, 0), number.needs};
  }
  return unknownTruth(value, "the condition at " + lineOf(op->getLoc()));
}

TruthTerm Evaluator::compare(Operation *op, const Index &index) {
  auto compare = cast<arith::CmpIOp>(op);
  if (getElementTypeOf(compare.getLhs().getType()).isInteger(1)) {
    const Formula a = truth(compare.getLhs(), index).truth, b = truth(compare.getRhs(), index).truth;
    const Needs all = merge(truth(compare.getLhs(), index).needs, truth(compare.getRhs(), index).needs);
    const Formula areEqual = (a && b) || (!a && !b);
    if (compare.getPredicate() == arith::CmpIPredicate::eq)
      return {areEqual, all};
    return compare.getPredicate() == arith::CmpIPredicate::ne ? TruthTerm{!areEqual, all}
                                                              : unknownTruth(op->getResult(0), "a comparison");
  }
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = compare.getPredicate();
  const bool isUnsigned = predicate == Predicate::ult || predicate == Predicate::ule || predicate == Predicate::ugt ||
                          predicate == Predicate::uge;
  IntegerTerm left = integer(compare.getLhs(), index), right = integer(compare.getRhs(), index);
  requireRange(left, compare.getLhs(), isUnsigned);
  requireRange(right, compare.getRhs(), isUnsigned);
  const Needs all = merge(left.needs, right.needs);
  switch (predicate) {
  case Predicate::eq:
    return {Formula::equal(left.poly, right.poly), all};
  case Predicate::ne:
    return {!Formula::equal(left.poly, right.poly), all};
  case Predicate::slt:
  case Predicate::ult:
    return {Formula::less(left.poly, right.poly), all};
  case Predicate::sle:
  case Predicate::ule:
    return {Formula::lessEqual(left.poly, right.poly), all};
  case Predicate::sgt:
  case Predicate::ugt:
    return {Formula::less(right.poly, left.poly), all};
  case Predicate::sge:
  case Predicate::uge:
    return {Formula::lessEqual(right.poly, left.poly), all};
  }
  return unknownTruth(op->getResult(0), "a comparison");
}

std::vector<TruthTerm> Evaluator::conjuncts(Value mask, const Index &index) {
  Operation *op = mask.getDefiningOp();
  if (op)
    if (auto source = throughShape(op, index))
      return conjuncts(source->first, source->second);
  if (!isa_and_nonnull<arith::AndIOp>(op))
    return {truth(mask, index)};
  std::vector<TruthTerm> parts = conjuncts(op->getOperand(0), index);
  for (TruthTerm &part : conjuncts(op->getOperand(1), index))
    parts.push_back(std::move(part));
  return parts;
}

PointerTerm Evaluator::pointer(Value value, const Index &index) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == kernel)
      return {argument.getArgNumber(), 0, {}, {}};
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return carriedPointer(loop, argument.getArgNumber() - 1, index, value);
    if (Value source = forwardedTo(argument))
      return pointer(source, index);
    return {std::nullopt, {}, {}, "a pointer inside the operation at " + lineOf(parent->getLoc())};
  }
  Operation *op = value.getDefiningOp();
  if (auto source = throughShape(op, index))
    return pointer(source->first, source->second);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return carriedPointer(loop, cast<OpResult>(value).getResultNumber(), index, value);
  if (auto add = dyn_cast<AddPtrOp>(op)) {
    PointerTerm base = pointer(add.getPtr(), index);
    if (!base.parameter)
      return base;
    IntegerTerm offset = integer(add.getOffset(), index);
    requireRange(offset, add.getOffset());
    base.offset = base.offset + offset.poly;
    base.needs = merge(base.needs, offset.needs);
    return base;
  }
  auto choose = [&](const TruthTerm &condition, const PointerTerm &yes, const PointerTerm &no) -> PointerTerm {
    if (!yes.parameter || !no.parameter)
      return yes.parameter ? no : yes;
    if (yes.parameter != no.parameter)
      return {std::nullopt, {}, {}, "a choice between two buffers at " + lineOf(op->getLoc())};
    PointerTerm result{yes.parameter, symbols.choose(condition.truth, yes.offset, no.offset), condition.needs, {}};
    mergeIf(result.needs, yes.needs, condition.truth);
    mergeIf(result.needs, no.needs, !condition.truth);
    return result;
  };
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    const bool isScalar = !isa<RankedTensorType>(select.getCondition().getType());
    return choose(truth(select.getCondition(), isScalar ? Index() : index), pointer(select.getTrueValue(), index),
                  pointer(select.getFalseValue(), index));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const unsigned number = cast<OpResult>(value).getResultNumber();
    return choose(truth(branch.getCondition(), {}), pointer(branch.thenYield()->getOperand(number), index),
                  pointer(branch.elseYield()->getOperand(number), index));
  }
  return {std::nullopt,
          {},
          {},
          isa<AddressCastOp>(op) ? "an address that is computed from an integer, or of another type"
                                 : "the pointer of '" + op->getName().getStringRef().str() + "'"};
}

} // namespace tile::verify
