// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops: 'for' over range, tl.range and tl.static_range, and 'while'.
//
// A loop carries the names that its body assigns and that have a value before the loop. They are found by a syntactic
// scan, without a trial run. A carried name keeps its exact type. Names first assigned inside are unusable after the
// loop.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Syntax/Names.h"
#include "Frontend/Values/Collections.h"
#include "Tile/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

namespace {

// An unrolled loop is copied into the kernel for each iteration.
constexpr size_t maxUnrolled = 65536;

} // namespace

/// If a loop changes a tuple, converts the numbers in it to run-time values, as any assignment to a name does.
void Statements::decayCarriedTuples(const Block &body, const Expr *condition, SourceRange loop) {
  for (const std::string &name : assignedNames(body)) {
    auto found = scope.find(name);
    bool isCarried = found != scope.end() && found->second.value.isTuple() && found->second.unusable.empty() &&
                     (firstUse(body, name) == FirstUse::Read || (condition && mentions(condition, name)));
    if (isCarried)
      found->second.value = decayAll(found->second.value, loop);
  }
}

/// Evaluates the iterator, which must be a call to range, tl.range or tl.static_range; a constant condition may choose
/// the callee.
bool Statements::evaluateRange(const Expr &iterator, LoopRange &out) {
  const auto *call = as<CallExpr>(&iterator);
  SymValue callee = call ? sema.evaluator.evaluate(*call->callee) : SymValue();
  if (call && callee.isError())
    return false;
  const auto *info = callee.isConstant() ? std::get_if<const BuiltinInfo *>(&callee.constant) : nullptr;
  if (!info || (*info)->emit != emitRange) {
    error(Diag::not_a_range, iterator.range, {unparse(iterator)});
    return false;
  }
  SymValue bounds = sema.evaluator.evaluate(iterator);
  if (bounds.isError())
    return false;
  out.kind = (*info)->name;
  out.bounds = bounds.elements;
  out.range = iterator.range;
  return true;
}

void Statements::emitFor(const ForStmt &stmt) {
  LoopRange range;
  if (isConstexprFunction()) {
    SymValue iterated = sema.evaluator.evaluate(*stmt.iterator);
    if (iterated.kind == SymValue::Kind::Range)
      return emitUnrolled(stmt, {"", iterated.elements, stmt.iterator->range});
    if (std::optional<std::vector<SymValue>> items = itemsOfValue(iterated))
      return walkElements(stmt, *items);
    if (!iterated.isError())
      error(Diag::not_a_range, stmt.iterator->range, {unparse(*stmt.iterator)});
    return emitDoubtfulLoop(stmt, stmt.iterator->range);
  }
  if (!evaluateRange(*stmt.iterator, range))
    return emitDoubtfulLoop(stmt, stmt.iterator->range);
  if (range.kind == "static_range")
    emitUnrolled(stmt, range);
  else
    emitRangeLoop(stmt, range);
}

void Statements::emitDoubtfulLoop(const ForStmt &stmt, SourceRange reason) {
  if (request.isDraft)
    scope[stmt.target->id] = Binding{{}, reason};
  ++loopDepth;
  emitDoubtful(stmt.body, reason);
  --loopDepth;
}

/// Builds "if not stop: body".
static const Stmt *guardedBy(const std::string &stop, const ForStmt &loop, Module &nodes) {
  auto *name = nodes.make<NameExpr>(loop.range);
  name->id = stop;
  auto *isRunning = nodes.make<UnaryExpr>(loop.range);
  isRunning->op = UnaryOp::Not;
  isRunning->operand = name;
  auto *guard = nodes.make<IfStmt>(loop.range);
  guard->branches.push_back({loop.range, isRunning, loop.body});
  return guard;
}

void Statements::emitUnrolled(const ForStmt &stmt, const LoopRange &range) {
  Int128 bounds[3];
  for (int i = 0; i < 3; ++i) {
    std::optional<Int128> bound = range.bounds[i].isConstant() ? asInteger(range.bounds[i].constant) : std::nullopt;
    if (!bound) {
      error(Diag::constant_needed, range.range, {"a bound of tl.static_range", describe(range.bounds[i])});
      return;
    }
    bounds[i] = *bound;
  }
  auto [lower, upper, step] = bounds;
  size_t errorsBefore = diagnostics.numErrors();
  Block guarded =
      stmt.stop.empty() ? Block() : Block{guardedBy(stmt.stop, stmt, sema.session.scratchModules.emplace_back())};
  bool mayHaveEnded = false, hasNoKnownEnd = false;
  ++loopDepth;
  for (Int128 i = lower; step > 0 ? i < upper : i > upper; i += step) {
    if (++unrolledIterations > maxUnrolled) {
      error(Diag::too_many_iterations, range.range, {std::to_string(maxUnrolled)});
      break;
    }
    if (!charge(1, stmt.range))
      break;
    hasNoKnownEnd |= mayHaveEnded;
    bind(*stmt.target, SymValue::makeConstant(i));
    emitBlock({stmt.stop.empty() ? &stmt.body : &guarded, 0, nullptr});
    // Every iteration would report the same errors.
    if (diagnostics.numErrors() != errorsBefore)
      break;
    if (stmt.stop.empty())
      continue;
    // In a kernel, the flag is a run-time value. If it is a known constant, it decides whether unrolling ends here. If
    // it is not known, the target has no known value after the loop.
    const SymValue &stop = scope[stmt.stop].value;
    if (stop.isTensor() ? matchPattern(stop.value, m_One()) : truthOf(stop).value_or(false))
      break;
    mayHaveEnded = stop.isTensor() && !matchPattern(stop.value, m_Zero());
  }
  --loopDepth;
  if (hasNoKnownEnd && stmt.breaks) {
    Binding &target = scope[stmt.target->id];
    target.unusable = "the loop may end early, at run time; assign it to another name before the jump";
    target.unusableAt = stmt.range;
  }
}

/// Reports names that are constants before the loop and that the loop reads and then changes, because all iterations
/// would read the constant.
void Statements::checkLoopConstants(const Stmt &loop, const std::vector<std::string> &carried,
                                    const Environment &before, const Environment &after) {
  const auto *counting = as<ForStmt>(&loop);
  const auto *testing = as<WhileStmt>(&loop);
  const Block &body = counting ? counting->body : testing->body;
  for (const std::string &name : assignedNames(body)) {
    auto initial = before.find(name);
    auto final = after.find(name);
    const bool isKnown = initial != before.end() && initial->second.unusable.empty() &&
                         !initial->second.value.isError() && final != after.end();
    if (!isKnown || llvm::is_contained(carried, name) || (counting && counting->target->id == name))
      continue;
    const bool isRead = firstUse(body, name) == FirstUse::Read || (testing && mentions(testing->condition, name));
    const bool isChanged = !final->second.unusable.empty() || !sameValue(initial->second.value, final->second.value);
    if (isRead && isChanged && !final->second.value.isError())
      error(Diag::loop_constant, final->second.defined, {name, describe(initial->second.value)},
            std::pair{initial->second.defined, std::string("its value before the loop is defined here")});
  }
}

/// Collects the values of carried names for the next iteration. Returns false if a name has changed its type.
bool Statements::loopCarried(const std::vector<std::string> &names, const Environment &before, const Environment &after,
                             SourceRange loop, SmallVectorImpl<mlir::Value> &values) {
  bool ok = true;
  for (const std::string &name : names) {
    const Binding &initial = before.at(name);
    Binding final = after.at(name);
    if (initial.value.isTuple() && final.unusable.empty())
      decayApart(final.value, initial.value, final.defined);
    if (final.value.isError() || !final.unusable.empty()) {
      if (!final.unusable.empty() && !final.value.isError())
        error(Diag::unusable_name, loop, {name, final.unusable}, std::pair{final.unusableAt, std::string("here")});
      ok = false;
    } else if (!sameType(initial.value, final.value)) {
      auto [initialText, finalText] = describeApart(initial.value, final.value);
      error(Diag::loop_type, final.defined, {name, initialText, finalText},
            std::pair{initial.defined, std::string("its value before the loop is defined here")});
      ok = false;
    } else {
      flatten(final.value, values);
    }
  }
  return ok;
}

/// Restores the environment after a loop.
void Statements::leaveLoop(const Environment &before, const std::vector<std::string> &names, ValueRange results,
                           const Environment &after, SourceRange loop) {
  scope = before;
  SmallVector<mlir::Value> leaves(results);
  ArrayRef<mlir::Value> remaining = leaves;
  for (const std::string &name : names) {
    Binding &binding = scope[name];
    binding.value = rebuild(binding.value, remaining);
    binding.defined = after.at(name).defined;
  }
  sema.records.recordVariables(names);
  for (const auto &[name, binding] : after) {
    auto old = before.find(name);
    bool isCarried = llvm::is_contained(names, name);
    if (isCarried || (old != before.end() && sameValue(old->second.value, binding.value)))
      continue;
    Binding gone = binding;
    bool isNew = old == before.end();
    gone.unusable = isNew ? "it is only assigned inside a loop, which may not run; assign it before the loop"
                          : "it changes its kind inside a loop; assign a tensor before the loop";
    gone.unusableAt = binding.defined;
    scope[name] = gone;
  }
}

/// Returns those of the names that have run-time values in `scope`, the environment before the loop.
static std::vector<std::string> withRuntimeValue(const std::vector<std::string> &names, const Environment &scope) {
  std::vector<std::string> out;
  for (const std::string &name : names) {
    auto found = scope.find(name);
    if (found == scope.end() || !found->second.unusable.empty())
      continue;
    SmallVector<mlir::Value> leaves;
    flatten(found->second.value, leaves);
    if (!leaves.empty())
      out.push_back(name);
  }
  return out;
}

static void bindLeaves(Environment &scope, const std::vector<std::string> &names, ValueRange arguments) {
  SmallVector<mlir::Value> leaves(arguments);
  ArrayRef<mlir::Value> remaining = leaves;
  for (const std::string &name : names)
    scope[name].value = rebuild(scope[name].value, remaining);
}

/// Returns the variable of a loop that counts from the first bound to the second.
SymValue Statements::loopVariable(const ForStmt &stmt, mlir::Value counter, ArrayRef<SymValue> bounds, bool isDown) {
  SymValue variable = SymValue::makeTensor(counter, bounds[0].type);
  if (!isDown)
    return variable;
  // The counter counts up from the lower bound, the variable down from the upper one.
  variable = emitter.binary(BinaryOp::Sub, bounds[1], variable, stmt.target->range);
  return emitter.binary(BinaryOp::Add, variable, bounds[0], stmt.target->range);
}

void Statements::emitRangeLoop(const ForStmt &stmt, const LoopRange &range) {
  SymValue bounds[3];
  std::optional<Int128> step = range.bounds[2].isConstant() ? asInteger(range.bounds[2].constant) : std::nullopt;
  bool isDown = step && *step < 0;
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    bool negate = isDown && i == 2;
    bounds[i] = emitter.toTensor(negate ? SymValue::makeConstant(-*step) : range.bounds[i], range.range);
    bool isInteger = bounds[i].isScalar() && bounds[i].type.isInt() && !bounds[i].type.isBool();
    if (!bounds[i].isError() && !isInteger)
      error(Diag::range_bound, range.range, {describe(bounds[i])}), ok = false;
    ok &= !bounds[i].isError();
  }
  if (!ok)
    return emitDoubtfulLoop(stmt, range.range);
  DType type = promoteIntegers(promoteIntegers(bounds[0].type, bounds[1].type), bounds[2].type);
  for (SymValue &bound : bounds)
    bound = emitter.cast(bound, type, range.range);
  if (isDown)
    std::swap(bounds[0], bounds[1]);
  if (!stmt.stop.empty()) {
    emitStoppingLoop(stmt, bounds, isDown);
    return;
  }

  decayCarriedTuples(stmt.body, nullptr, stmt.range);
  Environment before = scope;
  std::vector<std::string> names = withRuntimeValue(assignedNames(stmt.body), scope);
  names.erase(std::remove(names.begin(), names.end(), stmt.target->id), names.end());
  SmallVector<mlir::Value> initial;
  for (const std::string &name : names)
    flatten(scope[name].value, initial);
  auto loop = scf::ForOp::create(builder, location(stmt.range), bounds[0].value, bounds[1].value, bounds[2].value,
                                 initial, nullptr, type.isUnsigned());
  if (range.bounds.size() > 3)
    loop->setAttr(numStagesAttrName,
                  builder.getI32IntegerAttr(static_cast<int32_t>(*asInteger(range.bounds[3].constant))));
  OpBuilder::InsertionGuard guard(builder);
  if (!loop.getBody()->empty())
    loop.getBody()->clear();
  builder.setInsertionPointToStart(loop.getBody());
  bindLeaves(scope, names, loop.getRegionIterArgs());
  sema.records.recordVariables(names);
  bind(*stmt.target, loopVariable(stmt, loop.getInductionVar(), bounds, isDown));
  ++loopDepth;
  emitBlock({&stmt.body, 0, nullptr});
  --loopDepth;
  Environment after = std::move(scope);
  checkLoopConstants(stmt, names, before, after);
  SmallVector<mlir::Value> next;
  if (!loopCarried(names, before, after, stmt.range, next))
    next = SmallVector<mlir::Value>(loop.getRegionIterArgs());
  scf::YieldOp::create(builder, location(stmt.range), next);
  leaveLoop(before, names, loop.getResults(), after, stmt.range);
}

/// Emits a counting loop that a flag can end. It is an scf.while that carries the counter and a flag for whether there
/// is a next iteration.
void Statements::emitStoppingLoop(const ForStmt &stmt, ArrayRef<SymValue> bounds, bool isDown) {
  decayCarriedTuples(stmt.body, nullptr, stmt.range);
  Environment before = scope;
  std::vector<std::string> names = withRuntimeValue(assignedNames(stmt.body), scope);
  names.erase(std::remove(names.begin(), names.end(), stmt.target->id), names.end());
  Location loc = location(stmt.range);
  auto less = bounds[0].type.isUnsigned() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  SmallVector<mlir::Value> initial{bounds[0].value,
                                   arith::CmpIOp::create(builder, loc, less, bounds[0].value, bounds[1].value)};
  for (const std::string &name : names)
    flatten(scope[name].value, initial);
  SmallVector<Location> locations(initial.size(), loc);
  TypeRange types = ValueRange(initial).getTypes();
  auto loop = scf::WhileOp::create(builder, loc, types, initial);
  OpBuilder::InsertionGuard guard(builder);

  mlir::Block *test = builder.createBlock(&loop.getBefore(), {}, types, locations);
  bindLeaves(scope, names, test->getArguments().drop_front(2));
  SymValue goesOn = emitter.unary(UnaryOp::Not, scope[stmt.stop].value, stmt.range);
  mlir::Value both = arith::AndIOp::create(builder, loc, test->getArgument(1), goesOn.value);
  scf::ConditionOp::create(builder, loc, both, test->getArguments());

  mlir::Block *body = builder.createBlock(&loop.getAfter(), {}, types, locations);
  bindLeaves(scope, names, body->getArguments().drop_front(2));
  sema.records.recordVariables(names);
  mlir::Value counter = body->getArgument(0);
  bind(*stmt.target, loopVariable(stmt, counter, bounds, isDown));
  ++loopDepth;
  emitBlock({&stmt.body, 0, nullptr});
  --loopDepth;
  Environment after = std::move(scope);
  checkLoopConstants(stmt, names, before, after);
  // The distance to the end fits the unsigned type, so the counter cannot wrap undetected.
  mlir::Value left = arith::SubIOp::create(builder, loc, bounds[1].value, counter);
  SmallVector<mlir::Value> next{arith::AddIOp::create(builder, loc, counter, bounds[2].value),
                                arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, left, bounds[2].value)};
  if (!loopCarried(names, before, after, stmt.range, next))
    next = SmallVector<mlir::Value>(body->getArguments());
  scf::YieldOp::create(builder, loc, next);
  leaveLoop(before, names, loop.getResults().drop_front(2), after, stmt.range);
}

/// Runs a 'while' loop of a compile-time function.
void Statements::walkWhile(const WhileStmt &stmt) {
  size_t errorsBefore = diagnostics.numErrors();
  ++loopDepth;
  while (true) {
    SymValue chosen = sema.evaluator.evaluate(*stmt.condition);
    std::optional<bool> goesOn = chosen.isError() ? std::nullopt : truthOf(chosen);
    if (!goesOn && !chosen.isError())
      error(Diag::constant_needed, stmt.condition->range, {"the condition of this loop", describe(chosen)});
    if (!goesOn || !*goesOn || !charge(1, stmt.range))
      break;
    if (++unrolledIterations > maxUnrolled) {
      error(Diag::too_many_iterations, stmt.condition->range, {std::to_string(maxUnrolled)});
      break;
    }
    emitBlock({&stmt.body, 0, nullptr});
    if (diagnostics.numErrors() != errorsBefore)
      break;
  }
  --loopDepth;
}

void Statements::emitWhile(const WhileStmt &stmt) {
  if (isConstexprFunction())
    return walkWhile(stmt);
  decayCarriedTuples(stmt.body, stmt.condition, stmt.range);
  Environment before = scope;
  std::vector<std::string> names = withRuntimeValue(assignedNames(stmt.body), scope);
  SmallVector<mlir::Value> initial;
  for (const std::string &name : names)
    flatten(scope[name].value, initial);
  Location loc = location(stmt.range);
  SmallVector<Location> locations(initial.size(), loc);
  TypeRange types = ValueRange(initial).getTypes();
  auto loop = scf::WhileOp::create(builder, loc, types, initial);
  OpBuilder::InsertionGuard guard(builder);

  mlir::Block *test = builder.createBlock(&loop.getBefore(), {}, types, locations);
  bindLeaves(scope, names, test->getArguments());
  sema.records.recordVariables(names);
  SymValue chosen = sema.evaluator.evaluate(*stmt.condition);
  if (std::optional<bool> known = chosen.isError() ? std::nullopt : truthOf(chosen)) {
    // The condition is constant: either there is nothing to emit, or the loop is endless.
    const std::vector<std::string> assigned = assignedNames(stmt.body);
    auto changed = llvm::find_if(assigned, [&](const std::string &name) {
      return mentions(stmt.condition, name) && before.count(name) != 0 && !llvm::is_contained(names, name);
    });
    if (*known && changed != assigned.end())
      error(Diag::loop_constant, stmt.condition->range, {*changed, describe(before.at(*changed).value)});
    else if (*known)
      error(Diag::endless_loop, stmt.condition->range);
    loop.erase();
    scope = std::move(before);
    return;
  }
  chosen = sema.evaluator.condition(chosen, stmt.condition->range);
  if (chosen.isError())
    chosen = emitter.makeNumber(Value(false), Scalar::Int1, stmt.condition->range);
  scf::ConditionOp::create(builder, loc, chosen.value, test->getArguments());

  mlir::Block *body = builder.createBlock(&loop.getAfter(), {}, types, locations);
  bindLeaves(scope, names, body->getArguments());
  sema.records.recordVariables(names);
  ++loopDepth;
  emitBlock({&stmt.body, 0, nullptr});
  --loopDepth;
  Environment after = std::move(scope);
  checkLoopConstants(stmt, names, before, after);
  SmallVector<mlir::Value> next;
  if (!loopCarried(names, before, after, stmt.range, next))
    next = SmallVector<mlir::Value>(body->getArguments());
  scf::YieldOp::create(builder, loc, next);
  leaveLoop(before, names, loop.getResults(), after, stmt.range);
}

/// Runs a 'for' loop of a compile-time function over known items.
void Statements::walkElements(const ForStmt &stmt, const std::vector<SymValue> &items) {
  size_t errorsBefore = diagnostics.numErrors();
  ++loopDepth;
  for (const SymValue &item : items) {
    if (!charge(1, stmt.range))
      break;
    bind(*stmt.target, item);
    emitBlock({&stmt.body, 0, nullptr});
    const Binding *stop = stmt.stop.empty() ? nullptr : &scope[stmt.stop];
    if (diagnostics.numErrors() != errorsBefore || (stop && truthOf(stop->value).value_or(false)))
      break;
  }
  --loopDepth;
}

} // namespace tile::frontend
