// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions. Constants are folded with Python's rules (ConstEval.h); if an operand is a run-time value, the operation
// is emitted.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Host/HostFacts.h"
#include "Frontend/Sema/Calls.h"
#include "Frontend/Sema/Classes.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Values/Collections.h"
#include "Frontend/Values/FormatSpec.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

SymValue Evaluator::evaluate(const Expr &expr) {
  if (!charge(1, expr.range))
    return {};
  SymValue result = limitSize(evaluateKind(expr), expr.range);
  sema.records.observe(expr.range, result);
  return result;
}

SymValue Evaluator::evaluateKind(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Name:
    return evaluateName(*as<NameExpr>(&expr));
  case ExprKind::Int:
    return SymValue::makeConstant(as<IntExpr>(&expr)->value);
  case ExprKind::Float:
    return SymValue::makeConstant(as<FloatExpr>(&expr)->value);
  case ExprKind::String:
    return SymValue::makeConstant(as<StringExpr>(&expr)->value);
  case ExprKind::Bool:
    return SymValue::makeConstant(as<BoolExpr>(&expr)->value);
  case ExprKind::None:
    return SymValue::makeConstant(NoneValue{});
  case ExprKind::FString:
    return evaluateFString(*as<FStringExpr>(&expr));
  case ExprKind::Unary:
    return evaluateUnary(*as<UnaryExpr>(&expr));
  case ExprKind::Binary:
    return evaluateBinary(*as<BinaryExpr>(&expr));
  case ExprKind::BoolOp:
    return evaluateBoolOp(*as<BoolOpExpr>(&expr));
  case ExprKind::Compare:
    return evaluateCompare(*as<CompareExpr>(&expr));
  case ExprKind::Conditional:
    return evaluateConditional(*as<ConditionalExpr>(&expr));
  case ExprKind::Call:
    if (std::optional<SymValue> made = host ? host->callOfConfig(*as<CallExpr>(&expr)) : std::nullopt)
      return *made;
    return sema.calls.evaluateCall(*as<CallExpr>(&expr));
  case ExprKind::Attribute:
    return attributeOf(evaluate(*as<AttributeExpr>(&expr)->value), *as<AttributeExpr>(&expr));
  case ExprKind::Subscript:
    return evaluateSubscript(*as<SubscriptExpr>(&expr));
  case ExprKind::Tuple:
    return evaluateElements(as<TupleExpr>(&expr)->elements);
  case ExprKind::List:
    return evaluateElements(as<ListExpr>(&expr)->elements);
  case ExprKind::Comprehension:
    return evaluateComprehension(*as<ComprehensionExpr>(&expr));
  case ExprKind::Dict:
    return evaluateDictionary(*as<DictExpr>(&expr));
  case ExprKind::Lambda:
    if (isHostCode())
      return evaluateLambda(*as<LambdaExpr>(&expr));
    break;
  case ExprKind::Ellipsis:
  case ExprKind::Slice:
  case ExprKind::Starred:
    break;
  }
  return error(Diag::not_supported, expr.range, {"'" + unparse(expr) + "' as a value"});
}

SymValue Evaluator::evaluateName(const NameExpr &expr) {
  if (auto found = scope.find(expr.id); found != scope.end()) {
    const Binding &binding = found->second;
    if (!binding.unusable.empty())
      return error(Diag::unusable_name, expr.range, {expr.id, binding.unusable},
                   std::pair{binding.unusableAt, std::string("here")});
    // Flags of loops that end early are constants until a branch sets them; treat them as such.
    APInt flag;
    if (expr.id.front() == '$' && binding.value.isTensor() && matchPattern(binding.value.value, m_ConstantInt(&flag)))
      return SymValue::makeConstant(!flag.isZero());
    return binding.value;
  }
  if (std::optional<SymValue> global = sema.names.lookupGlobal(expr.id, expr.range)) {
    const auto *function = global->isConstant() ? std::get_if<const FunctionStmt *>(&global->constant) : nullptr;
    if (function && (*function)->isHost && !isHostCode())
      return error(Diag::host_name, expr.range, {expr.id, "host function"},
                   std::pair{(*function)->nameRange, std::string("it is defined here, in the host program")});
    return *global;
  }
  for (const char *space : {"host.", "builtins."}) {
    bool isVisible = space == std::string_view("builtins.") || (isHostCode() && !sema.names.isSkipped(expr.id));
    if (const BuiltinInfo *python = isVisible ? findBuiltin(space + expr.id) : nullptr)
      return SymValue::makeConstant(python);
  }
  for (std::string space : {"tl", "triton"}) {
    // The language's names need no prefix, and its modules no import.
    if (expr.id == space || (space == "tl" && expr.id == "tile"))
      return SymValue::makeConstant(NamespaceValue{space});
    if (std::optional<Value> member = sema.names.namespaceMember(space, expr.id))
      return SymValue::makeConstant(*member);
  }
  if (expr.id == "math" || expr.id == "libdevice")
    return SymValue::makeConstant(NamespaceValue{expr.id});
  return sema.names.unknownName(expr.id, expr.range);
}

SymValue Evaluator::fromResult(const EvalResult &result, SourceRange range) {
  if (!result.value)
    return error(Diag::constant_expression, range, {result.error});
  if (!result.warning.empty() && !isTile1()) // both round down there
    warn(Diag::negative_floor_division, range, {result.warning}).fixIt(range, str(*result.value));
  return SymValue::makeConstant(*result.value);
}

SymValue Evaluator::evaluateElements(const std::vector<const Expr *> &elements) {
  std::vector<SymValue> values;
  for (const Expr *element : elements) {
    const auto *starred = as<StarredExpr>(element);
    SymValue value = evaluate(starred ? *starred->value : *element);
    if (value.isError() && !host)
      return {};
    std::optional<std::vector<SymValue>> items =
        starred && !value.isError() ? itemsOfValue(value) : std::vector<SymValue>{value};
    if (!items)
      return error(Diag::unpack_tuple, element->range, {describe(value)});
    llvm::append_range(values, *items);
  }
  return SymValue::makeTuple(std::move(values));
}

/// Evaluates operators of lists and dictionaries; nullopt for other operands.
std::optional<SymValue> Evaluator::containerOperator(BinaryOp op, const SymValue &left, const SymValue &right,
                                                     SourceRange range) {
  if (op == BinaryOp::Add && left.isTuple() && right.isTuple()) {
    SymValue both = SymValue::makeTuple(left.elements);
    llvm::append_range(both.elements, right.elements);
    return limitSize(std::move(both), range);
  }
  if (op == BinaryOp::BitOr && left.isDictionary() && right.isDictionary())
    return merged(left, right);
  const SymValue &tuple = left.isTuple() ? left : right;
  std::optional<Int128> times = integerOf(left.isTuple() ? right : left);
  if (op != BinaryOp::Mult || !tuple.isTuple() || !times)
    return std::nullopt;
  size_t count = static_cast<size_t>(std::clamp<Int128>(*times, 0, INT64_MAX));
  if (limitSize(tuple, range, count).isError())
    return SymValue();
  SymValue repeated = SymValue::makeTuple({});
  for (size_t i = 0; i < count; ++i)
    llvm::append_range(repeated.elements, tuple.elements);
  return repeated;
}

SymValue Evaluator::applyBinary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range) {
  if (left.isError() || right.isError()) {
    // A list with unknown parts in the host program.
    bool isJoined = host && op == BinaryOp::Add && (left.isTuple() || right.isTuple());
    auto asList = [](const SymValue &side) { return side.isError() ? SymValue::makeTuple({SymValue()}) : side; };
    return isJoined ? containerOperator(op, asList(left), asList(right), range).value_or(SymValue()) : SymValue();
  }
  if (std::optional<SymValue> text = op == BinaryOp::Mod ? formatText(left, right, range) : std::nullopt)
    return *text;
  if (left.isConstant() && right.isConstant())
    return fromResult(frontend::evaluate(op, left.constant, right.constant), range);
  if (std::optional<SymValue> result = containerOperator(op, left, right, range))
    return *result;
  if (left.isTuple() || right.isTuple() || left.isDictionary() || right.isDictionary())
    return error(Diag::operator_operands, range, {std::string(spelling(op)), describe(left), describe(right)});
  if (left.kind == SymValue::Kind::Object || right.kind == SymValue::Kind::Object)
    if (std::optional<SymValue> result = sema.classes.objectOperator(op, left, right, range))
      return *result;
  sema.records.warnConstantOperand(op, left, right, range);
  return emitter.binary(op, left, right, range);
}

SymValue Evaluator::evaluateBinary(const BinaryExpr &expr) {
  SymValue left = evaluate(*expr.left), right = evaluate(*expr.right);
  SymValue result = applyBinary(expr.op, left, right, expr.range);
  sema.records.rememberMultiplication(result, expr);
  return result;
}

SymValue Evaluator::evaluateUnary(const UnaryExpr &expr) {
  if (host && expr.op == UnaryOp::Not) {
    std::optional<bool> known = host->truth(*expr.operand);
    return known ? SymValue::makeConstant(!*known) : SymValue();
  }
  SymValue operand = evaluate(*expr.operand);
  std::optional<bool> holds = expr.op == UnaryOp::Not && !operand.isConstant() ? truthOf(operand) : std::nullopt;
  if (holds)
    return SymValue::makeConstant(!*holds);
  if (operand.isConstant())
    return fromResult(frontend::evaluate(expr.op, operand.constant), expr.range);
  return emitter.unary(expr.op, operand, expr.range);
}

/// Evaluates from left to right; a constant that determines the result ends the evaluation, other constants are
/// dropped. In the host program it also determines the result in spite of unknown operands, because evaluation has no
/// side effects there.
SymValue Evaluator::evaluateBoolOp(const BoolOpExpr &expr) {
  std::optional<SymValue> result;
  SymValue last;
  bool isOpen = false;
  for (const Expr *operand : expr.values) {
    std::optional<bool> fact = host ? hostCondition(*operand, request.targetCapability) : std::nullopt;
    SymValue value = fact ? SymValue::makeConstant(*fact) : evaluate(*operand);
    if (host && !truthOf(value)) {
      isOpen = true;
      continue;
    }
    if (value.isError())
      return {};
    last = value;
    if (value.isTensor()) {
      if (value.isBlock())
        warn(Diag::logical_block, operand->range,
             {std::string(spelling(expr.op)), expr.op == BoolOperator::And ? "&" : "|"});
      result = result ? emitter.logical(expr.op, *result, value, expr.range) : value;
      if (result->isError())
        return {};
      continue;
    }
    std::optional<bool> known = truthOf(value);
    if (!known)
      return error(Diag::logical_operand, operand->range, {std::string(spelling(expr.op)), describe(value)});
    if (*known == (expr.op == BoolOperator::Or))
      return isOpen ? SymValue::makeConstant(*known) : value;
  }
  if (isOpen)
    return {};
  return result ? *result : last;
}

/// Compares tuples element by element; the result is a constant unless run-time scalars determine it.
SymValue Evaluator::structuresEqual(const SymValue &left, const SymValue &right, SourceRange range) {
  auto isNumeric = [](const SymValue &value) {
    return value.isTensor() || (value.isConstant() && isNumber(value.constant));
  };
  if ((left.isTensor() && isNumeric(right)) || (right.isTensor() && isNumeric(left)))
    return condition(emitter.compare(CompareOp::Eq, left, right, range), range);
  if (!left.isTuple() || !right.isTuple() || left.elements.size() != right.elements.size())
    return SymValue::makeConstant(isEqual(left, right));
  std::optional<SymValue> all;
  for (auto [a, b] : llvm::zip(left.elements, right.elements)) {
    SymValue equal = structuresEqual(a, b, range);
    if (equal.isError())
      return equal;
    std::optional<bool> known = truthOf(equal);
    if (known && !*known)
      return equal;
    if (!known)
      all = all ? emitter.logical(BoolOperator::And, *all, equal, range) : equal;
  }
  return all.value_or(SymValue::makeConstant(true));
}

SymValue Evaluator::evaluateCompare(const CompareExpr &expr) {
  SymValue left = evaluate(*expr.left), right = evaluate(*expr.right);
  if (left.isError() || right.isError())
    return {};
  if (expr.op == CompareOp::In || expr.op == CompareOp::NotIn)
    return contains(left, right, expr);
  bool isIdentity = expr.op == CompareOp::Is || expr.op == CompareOp::IsNot;
  // A value from a module that is not read may be anything, also None.
  for (const SymValue *side : {&left, &right})
    if (const auto *space = side->isConstant() ? std::get_if<NamespaceValue>(&side->constant) : nullptr)
      return sema.names.unknownImport(space->name, (side == &left ? expr.left : expr.right)->range);
  if (left.isConstant() && right.isConstant())
    return fromResult(frontend::evaluate(expr.op, left.constant, right.constant), expr.range);
  if (isIdentity) {
    // A run-time value is neither None nor a type.
    bool same = left.kind == right.kind && sameValue(left, right);
    return SymValue::makeConstant(same == (expr.op == CompareOp::Is));
  }
  bool isEquality = expr.op == CompareOp::Eq || expr.op == CompareOp::NotEq;
  auto isStructure = [](const SymValue &side) { return !side.isConstant() && !side.isTensor(); };
  if (isEquality && (isStructure(left) || isStructure(right))) {
    SymValue equal = structuresEqual(left, right, expr.range);
    if (expr.op == CompareOp::Eq || equal.isError())
      return equal;
    return equal.isConstant() ? SymValue::makeConstant(!*truth(equal.constant))
                              : emitter.unary(UnaryOp::Not, equal, expr.range);
  }
  if (isEquality && (left.isNoneValue() || right.isNoneValue()))
    return SymValue::makeConstant(expr.op == CompareOp::NotEq);
  return emitter.compare(expr.op, left, right, expr.range);
}

SymValue Evaluator::condition(const SymValue &value, SourceRange range) {
  if (value.isError())
    return {};
  bool isOneElement = value.isBlock() && ShapedType::getNumElements(value.shape()) == 1;
  if (!value.isScalar() && !isOneElement)
    return error(Diag::condition_block, range, {describe(value)});
  return emitter.cast(isOneElement ? emitter.toScalar(value, range) : value, Scalar::Int1, range);
}

SymValue Evaluator::evaluateConditional(const ConditionalExpr &expr) {
  if (host)
    return evaluate(host->truth(*expr.condition).value_or(true) ? *expr.thenValue : *expr.elseValue);
  SymValue chosen = evaluate(*expr.condition);
  if (chosen.isError())
    return {};
  if (std::optional<bool> known = truthOf(chosen))
    return evaluate(*known ? *expr.thenValue : *expr.elseValue);
  chosen = condition(chosen, expr.condition->range);
  if (chosen.isError())
    return {};
  auto skeleton = scf::IfOp::create(builder, location(expr.range), TypeRange(), chosen.value, /*withElseRegion=*/true);
  SymValue values[2];
  const Expr *sources[2] = {expr.thenValue, expr.elseValue};
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(i == 0 ? skeleton.thenBlock() : skeleton.elseBlock());
    values[i] = evaluate(*sources[i]);
    // Other constants, such as None in "store(...) if c else store(...)", must match.
    if (values[i].isConstant() && isNumber(values[i].constant))
      values[i] = emitter.toTensor(values[i], sources[i]->range);
  }
  if (values[0].isError() || values[1].isError())
    return {};
  if (values[0].isTuple() && values[1].isTuple())
    sema.statements.decayBranches(skeleton, values[0], values[1], sources[0]->range, sources[1]->range);
  if (!sameType(values[0], values[1]))
    return error(Diag::conditional_types, expr.range, {describe(values[0]), describe(values[1])});
  return joinRegions(skeleton, values[0], values[1]);
}

/// Adds results to an scf.if without results, for the values in which its branches end.
SymValue Evaluator::joinRegions(scf::IfOp skeleton, const SymValue &thenValue, const SymValue &elseValue) {
  SmallVector<mlir::Value> thenLeaves, elseLeaves;
  flatten(thenValue, thenLeaves);
  flatten(elseValue, elseLeaves);
  OpBuilder::InsertionGuard guard(builder);
  auto terminate = [&](mlir::Block *block, ValueRange values) {
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, skeleton.getLoc(), values);
  };
  terminate(skeleton.thenBlock(), thenLeaves);
  terminate(skeleton.elseBlock(), elseLeaves);
  builder.setInsertionPoint(skeleton);
  auto joined = scf::IfOp::create(builder, skeleton.getLoc(), ValueRange(thenLeaves).getTypes(),
                                  skeleton.getCondition(), /*addThenBlock=*/false, /*addElseBlock=*/false);
  joined.getThenRegion().takeBody(skeleton.getThenRegion());
  joined.getElseRegion().takeBody(skeleton.getElseRegion());
  skeleton.erase();
  SmallVector<mlir::Value> results(joined.getResults());
  ArrayRef<mlir::Value> remaining = results;
  return rebuild(thenValue, remaining);
}

SymValue Evaluator::evaluateFString(const FStringExpr &expr) {
  std::string text;
  for (const FStringPart &part : expr.parts) {
    text += part.text;
    if (!part.value)
      continue;
    SymValue value = evaluate(*part.value);
    if (value.isError())
      return {};
    if (!value.isConstant()) {
      SmallVector<mlir::Value> leaves;
      flatten(value, leaves);
      if (!leaves.empty() && sema.session.messageDepth == 0)
        return error(Diag::fstring_value, part.value->range, {unparse(*part.value), describe(value)});
      text += leaves.empty() ? printed(value) : "{" + unparse(*part.value) + "}";
      continue;
    }
    frontend::Value shown = part.conversion == 0     ? value.constant
                            : part.conversion == 's' ? frontend::Value(str(value.constant))
                                                     : frontend::Value(repr(value.constant));
    if (part.format.empty()) {
      text += str(shown);
      continue;
    }
    std::optional<std::string> formatted = formatValue(shown, part.format);
    if (!formatted)
      return error(Diag::format_spec, part.value->range, {part.format, describe(value)});
    text += *formatted;
  }
  return SymValue::makeConstant(text);
}

/// Evaluates "%d of %s" % (1, name); nullopt if the left operand is not a string.
std::optional<SymValue> Evaluator::formatText(const SymValue &pattern, const SymValue &values, SourceRange range) {
  const std::string *text = textOf(pattern);
  if (!text || (!values.isTuple() && !values.isConstant()))
    return std::nullopt;
  std::vector<Value> constants;
  for (const SymValue &value : values.isTuple() ? values.elements : std::vector<SymValue>{values})
    constants.push_back(value.isConstant() ? value.constant : Value(printed(value)));
  std::optional<std::string> out = formatPercent(*text, constants);
  if (!out)
    return error(Diag::constant_expression, range, {describe(values) + " does not match the format " + repr(*text)});
  return limitSize(SymValue::makeConstant(*out), range);
}

/// Evaluates host code; nullopt, without a message, if the result is not a constant.
std::optional<SymValue> Evaluator::evaluateQuietly(const Expr &expr) {
  size_t reported = diagnostics.all().size();
  ++quietDepth;
  SymValue value = evaluate(expr);
  --quietDepth;
  (void)diagnostics.takeSince(reported);
  SmallVector<mlir::Value> leaves;
  flatten(value, leaves);
  return value.isError() || !leaves.empty() ? std::nullopt : std::optional(value);
}

} // namespace tile::frontend
