// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 'if' and early return.
//
// For a constant condition only the live branch is analyzed. Otherwise both branches are emitted on copies of the
// environment into an scf.if. If some branch returns, the statements after the 'if' move into the branches that
// continue, so that every path ends the function and the scf.if yields the returned value:
//
//   if c: return a        if c: return a
//   rest                  else: rest; return b

#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Syntax/Names.h"
#include "Frontend/Syntax/Walk.h"

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr unsigned maxFoldDepth = 64;
// If a branch may return, the statements after the 'if' are emitted twice, so the number of copies can grow
// exponentially.
constexpr unsigned maxFolds = 10000;

bool hasReturn(const Block &block) {
  return anyStatement(block, [](const Stmt &stmt) { return stmt.kind == StmtKind::Return; });
}

bool hasReturn(const IfStmt &stmt, size_t branch) {
  for (size_t i = branch; i < stmt.branches.size(); ++i)
    if (hasReturn(stmt.branches[i].body))
      return true;
  return hasReturn(stmt.elseBody);
}

} // namespace

/// Emits the 'if', beginning with one of its branches. A result means that the function has returned.
std::optional<BlockResult> Statements::emitIf(const IfStmt &stmt, size_t branch, const Continuation &remaining) {
  auto emitLive = [&](const Block &body) -> std::optional<BlockResult> {
    if (!hasReturn(body)) {
      BlockResult result = emitBlock({&body, 0, nullptr});
      return result.returned ? std::optional(result) : std::nullopt;
    }
    return emitBlock({&body, 0, &remaining});
  };
  if (branch == stmt.branches.size()) {
    sema.records.addLiveBranches(&stmt, branch);
    return emitLive(stmt.elseBody);
  }
  const IfStmt::Branch &current = stmt.branches[branch];
  SymValue chosen = sema.evaluator.evaluate(*current.condition);
  if (chosen.isError()) {
    emitDoubtful(current.body, current.condition->range);
    for (size_t i = branch + 1; request.isDraft && i < stmt.branches.size(); ++i) {
      sema.evaluator.evaluate(*stmt.branches[i].condition);
      emitDoubtful(stmt.branches[i].body, current.condition->range);
    }
    if (request.isDraft)
      emitDoubtful(stmt.elseBody, current.condition->range);
    return std::nullopt;
  }
  std::optional<bool> known = truthOf(chosen);
  if (known.value_or(true))
    sema.records.addLiveBranches(&stmt, branch);
  if (known)
    return *known ? emitLive(current.body) : emitIf(stmt, branch + 1, remaining);
  chosen = sema.evaluator.condition(chosen, current.condition->range);
  if (chosen.isError())
    return std::nullopt;
  if (hasReturn(stmt, branch)) {
    if (loopDepth == 0)
      return emitFoldedIf(stmt, branch, chosen, remaining);
    error(Diag::jump_needs_tile1, current.keyword, {"'return' inside a loop"});
    return std::nullopt;
  }
  emitJoinedIf(stmt, branch, chosen);
  return std::nullopt;
}

/// Skips statements whose execution is unknown because of an error. The names that they assign would only cause
/// follow-up errors.
void Statements::emitDoubtful(const Block &body, SourceRange reason) {
  if (request.isDraft) {
    Environment before = scope;
    OpBuilder::InsertionGuard guard(builder);
    mlir::Value never = emitter.makeNumber(Value(false), Scalar::Int1, reason).value;
    auto skeleton = scf::IfOp::create(builder, location(reason), TypeRange(), never, true);
    builder.setInsertionPointToStart(skeleton.thenBlock());
    emitBlock({&body, 0, nullptr});
    scope = std::move(before);
  }
  for (const std::string &name : assignedNames(body))
    scope[name] = Binding{{}, reason};
}

BlockResult Statements::emitFoldedIf(const IfStmt &stmt, size_t branch, const SymValue &condition,
                                     const Continuation &remaining) {
  BlockResult results[2];
  if (foldDepth >= maxFoldDepth || ++folds > maxFolds) {
    unsigned limit = foldDepth >= maxFoldDepth ? maxFoldDepth : maxFolds;
    results[0].returned = true;
    results[0].value = error(Diag::too_many_returns, stmt.branches[branch].keyword, {std::to_string(limit)});
    return results[0];
  }
  ++foldDepth;
  auto skeleton = scf::IfOp::create(builder, location(stmt.range), TypeRange(), condition.value, true);
  Environment before = scope;
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(i == 0 ? skeleton.thenBlock() : skeleton.elseBlock());
    scope = before;
    if (i == 0)
      results[i] = emitBlock({&stmt.branches[branch].body, 0, &remaining});
    else if (std::optional<BlockResult> result = emitIf(stmt, branch + 1, remaining))
      results[i] = *result;
    else
      results[i] = emitBlock(remaining);
    if (!results[i].returned)
      results[i].range = stmt.range;
  }
  --foldDepth;
  scope = before;
  BlockResult joined{results[0].returned || results[1].returned, {}, stmt.range};
  if (!checkReturnTypes(skeleton, results[0], results[1]))
    return joined;
  joined.value = sema.evaluator.joinRegions(skeleton, results[0].value, results[1].value);
  return joined;
}

/// Sets the insertion point to the end of a block, before its terminator if it has one.
static void setInsertionPointToRest(OpBuilder &builder, mlir::Block *block) {
  bool isTerminated = !block->empty() && block->back().hasTrait<OpTrait::IsTerminator>();
  builder.setInsertionPoint(block, isTerminated ? std::prev(block->end()) : block->end());
}

/// Converts two different constants to run-time values in their branches, so that they can be joined.
void Statements::decayBranches(scf::IfOp skeleton, SymValue &thenValue, SymValue &elseValue, SourceRange thenRange,
                               SourceRange elseRange) {
  OpBuilder::InsertionGuard guard(builder);
  SymValue original = thenValue;
  setInsertionPointToRest(builder, skeleton.thenBlock());
  decayApart(thenValue, elseValue, thenRange);
  setInsertionPointToRest(builder, skeleton.elseBlock());
  decayApart(elseValue, original, elseRange);
}

/// Converts the returned values of two branches to a common type. Returns false after an error.
bool Statements::checkReturnTypes(scf::IfOp skeleton, BlockResult &thenResult, BlockResult &elseResult) {
  if (thenResult.value.isError() || elseResult.value.isError())
    return false;
  // Falling off the end of a function returns None or, if other paths return a value, any value of its type.
  for (auto [fallen, other] : {std::pair{&thenResult, &elseResult}, std::pair{&elseResult, &thenResult}}) {
    if (fallen->returned || !other->returned || other->value.isNoneValue())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    setInsertionPointToRest(builder, fallen == &thenResult ? skeleton.thenBlock() : skeleton.elseBlock());
    std::optional<SymValue> placeholder = placeholderLike(decayAll(other->value, other->range), other->range);
    if (!placeholder)
      return false;
    fallen->value = *placeholder;
  }
  decayBranches(skeleton, thenResult.value, elseResult.value, thenResult.range, elseResult.range);
  if (sameType(thenResult.value, elseResult.value))
    return true;
  auto [thenText, elseText] = describeApart(thenResult.value, elseResult.value);
  error(Diag::return_types, thenResult.range, {thenText, elseText},
        std::pair{elseResult.range, std::string("the other return is here")});
  return false;
}

/// Emits the remainder of an if chain, beginning with 'branch' or, after the last branch, its else.
void Statements::emitBranch(const IfStmt &stmt, size_t branch) {
  static const Block nothing;
  Continuation end{&nothing, 0, nullptr};
  emitIf(stmt, branch, end);
}

void Statements::emitJoinedIf(const IfStmt &stmt, size_t branch, const SymValue &condition) {
  auto skeleton = scf::IfOp::create(builder, location(stmt.range), TypeRange(), condition.value, true);
  Environment before = scope, after[2];
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(i == 0 ? skeleton.thenBlock() : skeleton.elseBlock());
    scope = before;
    if (i == 0)
      emitBlock({&stmt.branches[branch].body, 0, nullptr});
    else
      emitBranch(stmt, branch + 1);
    after[i] = std::move(scope);
  }
  for (auto &[name, binding] : after[0])
    if (auto other = after[1].find(name); other != after[1].end() && binding.value.isTuple() &&
                                          other->second.value.isTuple() && binding.unusable.empty() &&
                                          other->second.unusable.empty())
      decayBranches(skeleton, binding.value, other->second.value, binding.defined, other->second.defined);
  std::vector<std::string> changed;
  scope = before;
  joinEnvironments(after[0], after[1], stmt, changed);
  std::vector<SymValue> values[2];
  for (const std::string &name : changed)
    for (int i = 0; i < 2; ++i)
      values[i].push_back(after[i].at(name).value);
  SymValue joined = sema.evaluator.joinRegions(skeleton, SymValue::makeTuple(std::move(values[0])),
                                               SymValue::makeTuple(std::move(values[1])));
  for (size_t i = 0; i < changed.size(); ++i)
    scope[changed[i]] = Binding{joined.elements[i], after[0].at(changed[i]).defined};
  sema.records.recordVariables(changed);
  for (const auto &[name, binding] : scope)
    if (auto old = before.find(name); !llvm::is_contained(changed, name) && binding.unusable.empty() &&
                                      (old == before.end() || !sameValue(old->second.value, binding.value)))
      sema.records.recordVariable(name, binding, /*isAssigned=*/true);
}

/// Finds the names whose values differ between the branches, and marks names as unusable if only one branch assigns
/// them.
void Statements::joinEnvironments(const Environment &thenEnv, const Environment &elseEnv, const IfStmt &stmt,
                                  std::vector<std::string> &changed) {
  for (const auto &[name, binding] : thenEnv) {
    auto other = elseEnv.find(name);
    if (other == elseEnv.end()) {
      Binding partial = binding;
      partial.unusable = "it is only assigned when the condition holds";
      partial.unusableAt = binding.defined;
      scope[name] = partial;
      continue;
    }
    const Binding &otherBinding = other->second;
    if (!binding.unusable.empty() || !otherBinding.unusable.empty()) {
      scope[name] = binding.unusable.empty() ? otherBinding : binding;
      continue;
    }
    // If both branches assign the same value, it may still differ from the one before the 'if', and the name may be
    // new.
    if (sameValue(binding.value, otherBinding.value) && sameType(binding.value, otherBinding.value)) {
      scope[name] = binding;
      continue;
    }
    if (binding.value.isError() || otherBinding.value.isError()) {
      scope[name] = Binding{{}, binding.defined};
      continue;
    }
    if (sameType(binding.value, otherBinding.value)) {
      changed.push_back(name);
      continue;
    }
    if (binding.value.isTensor() && otherBinding.value.isTensor()) {
      error(Diag::branch_types, binding.defined, {name, describe(binding.value), describe(otherBinding.value)},
            std::pair{otherBinding.defined, std::string("the other definition is here")});
      scope[name] = Binding{{}, binding.defined};
      continue;
    }
    Binding mixed = binding;
    auto [thenText, elseText] = describeApart(binding.value, otherBinding.value);
    mixed.unusable = "it is " + thenText + " in one branch and " + elseText + " in the other";
    mixed.unusableAt = stmt.range;
    scope[name] = mixed;
  }
  for (const auto &[name, binding] : elseEnv) {
    if (thenEnv.contains(name))
      continue;
    Binding partial = binding;
    partial.unusable = "it is only assigned when the condition does not hold";
    partial.unusableAt = binding.defined;
    scope[name] = partial;
  }
}

} // namespace tile::frontend
