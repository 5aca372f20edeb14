// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that end early, in --std=tile1 and in functions that run at compile time: break, continue, and return inside a
// loop become flags, so that control flow stays structured. Statements after a jump move into the paths that do not
// take it; if several paths continue, the flags guard the statements.
//
//   for i in range(n):            $stop = False;  $returned = False
//     if a: continue              for i in range(n), until $stop:
//     if b: return v                if a: $skip = True
//     rest                          else:
//   more                              if b: $returned = True;  <the returned value> = v;  $stop = True
//                                     else: rest
//                                 if $returned: return <the returned value>
//                                 more
//
// Flags are ordinary names, which loops carry and branches join. Source files cannot name them.

#include "Frontend/Sema/Records.h"
#include "Frontend/Sema/Statements.h"
#include "Frontend/Syntax/Walk.h"

using namespace mlir;

namespace tile::frontend {

namespace {

constexpr const char *returnedFlag = "$returned";
constexpr const char *returnedValue = "the returned value"; // also appears in messages

const Block *bodyOf(const Stmt *stmt) {
  if (const auto *loop = as<ForStmt>(stmt))
    return &loop->body;
  if (const auto *loop = as<WhileStmt>(stmt))
    return &loop->body;
  return nullptr;
}

bool returns(const Block &block) {
  return anyStatement(block, [](const Stmt &stmt) { return stmt.kind == StmtKind::Return; });
}
bool returnsValue(const Block &block) {
  return anyStatement(block, [](const Stmt &stmt) {
    const auto *node = as<ReturnStmt>(&stmt);
    return node && node->value;
  });
}
/// Returns true if the block has a jump of this kind outside of inner loops.
bool hasJump(const Block &block, StmtKind kind) {
  return llvm::any_of(block, [&](const Stmt *stmt) {
    bool isLoop = bodyOf(stmt) != nullptr;
    return stmt->kind == kind ||
           (!isLoop && llvm::any_of(blocksOf(*stmt), [&](const Block *inner) { return hasJump(*inner, kind); }));
  });
}
bool leaves(const Block &block) {
  return returns(block) || hasJump(block, StmtKind::Break) || hasJump(block, StmtKind::Continue);
}

/// Returns true if the code after the block is unreachable.
bool alwaysLeaves(const Block &block) {
  for (const Stmt *stmt : block) {
    if (stmt->kind == StmtKind::Return || stmt->kind == StmtKind::Break || stmt->kind == StmtKind::Continue)
      return true;
    if (const auto *with = as<WithStmt>(stmt); with && alwaysLeaves(with->body))
      return true;
    const auto *node = as<IfStmt>(stmt);
    if (node && alwaysLeaves(node->elseBody) &&
        llvm::all_of(node->branches, [](const IfStmt::Branch &branch) { return alwaysLeaves(branch.body); }))
      return true;
  }
  return false;
}

/// Builds the statements that replace a loop.
class JumpRewriter {
public:
  explicit JumpRewriter(Module &nodes) : nodes(nodes) {}

  /// Appends the statements that replace the loop to `out`. Returns the rewritten loop, which is one of them.
  const Stmt *rewriteLoop(const Stmt &stmt, Block &out) {
    const Block &body = *bodyOf(&stmt);
    std::string number = std::to_string(stmt.range.begin), outerStop = stop, outerSkip = skip;
    stop = returns(body) || hasJump(body, StmtKind::Break) ? "$stop" + number : "";
    skip = hasJump(body, StmtKind::Continue) ? "$skip" + number : "";
    if (!stop.empty())
      out.push_back(assign(stop, boolean(false, stmt.range)));
    Block rewritten;
    if (!skip.empty())
      rewritten.push_back(assign(skip, boolean(false, stmt.range)));
    llvm::append_range(rewritten, rewriteBlock(body));
    out.push_back(makeLoop(stmt, std::move(rewritten)));
    stop = outerStop;
    skip = outerSkip;
    return out.back();
  }

  /// Builds "if $returned: return <the returned value>". After a loop that can only end by returning, the condition is
  /// not needed.
  const Stmt *returnAfter(const Stmt &stmt, bool hasValue) {
    auto *node = nodes.make<ReturnStmt>(stmt.range);
    node->value = hasValue ? name(returnedValue, stmt.range) : nullptr;
    const auto *loop = as<WhileStmt>(&stmt);
    const auto *condition = loop ? as<BoolExpr>(loop->condition) : nullptr;
    bool isOnlyEnd = condition && condition->value && !hasJump(loop->body, StmtKind::Break);
    return isOnlyEnd ? node : branch(name(returnedFlag, stmt.range), {node});
  }

  const Stmt *assign(const std::string &target, const Expr *value) {
    auto *node = nodes.make<AssignStmt>(value->range);
    node->target = name(target, value->range);
    node->value = value;
    return node;
  }
  const Expr *boolean(bool value, SourceRange range) {
    auto *node = nodes.make<BoolExpr>(range);
    node->value = value;
    return node;
  }

private:
  const NameExpr *name(const std::string &id, SourceRange range) {
    auto *node = nodes.make<NameExpr>(range);
    node->id = id;
    return node;
  }
  const Expr *negated(const std::string &flag, SourceRange range) {
    auto *node = nodes.make<UnaryExpr>(range);
    node->op = UnaryOp::Not;
    node->operand = name(flag, range);
    return node;
  }
  const Stmt *branch(const Expr *condition, Block body) {
    auto *node = nodes.make<IfStmt>(condition->range);
    node->branches.push_back({condition->range, condition, std::move(body)});
    return node;
  }

  const Stmt *makeLoop(const Stmt &stmt, Block body) {
    if (const auto *loop = as<ForStmt>(&stmt)) {
      auto *node = nodes.make<ForStmt>(stmt.range);
      node->target = loop->target;
      node->iterator = loop->iterator;
      node->body = std::move(body);
      node->stop = stop;
      node->breaks = hasJump(loop->body, StmtKind::Break);
      return node;
    }
    auto *node = nodes.make<WhileStmt>(stmt.range);
    node->condition = as<WhileStmt>(&stmt)->condition;
    node->body = std::move(body);
    if (!stop.empty()) {
      // The condition is not evaluated again after a break.
      auto *condition = nodes.make<ConditionalExpr>(node->condition->range);
      condition->condition = negated(stop, condition->range);
      condition->thenValue = node->condition;
      condition->elseValue = boolean(false, condition->range);
      node->condition = condition;
    }
    return node;
  }

  Block rewriteBlock(const Block &block, size_t from = 0) {
    Block out;
    for (size_t i = from; i < block.size(); ++i) {
      const Stmt &stmt = *block[i];
      if (stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Continue) {
        out.push_back(assign(stmt.kind == StmtKind::Break ? stop : skip, boolean(true, stmt.range)));
        return out;
      }
      if (const auto *node = as<ReturnStmt>(&stmt)) {
        if (node->value)
          out.push_back(assign(returnedValue, node->value));
        out.push_back(assign(returnedFlag, boolean(true, stmt.range)));
        out.push_back(assign(stop, boolean(true, stmt.range)));
        return out;
      }
      if (const Block *body = bodyOf(&stmt); body && returns(*body)) {
        rewriteLoop(stmt, out);
        out.push_back(assign(stop, name(returnedFlag, stmt.range)));
        if (Block remaining = rewriteBlock(block, i + 1); !remaining.empty())
          out.push_back(branch(negated(returnedFlag, stmt.range), std::move(remaining)));
        return out;
      }
      if (const auto *with = as<WithStmt>(&stmt); with && leaves(with->body)) {
        auto *entered = nodes.make<WithStmt>(with->range);
        entered->keyword = with->keyword;
        entered->items = with->items;
        out.push_back(entered);
        Block remaining = with->body;
        remaining.insert(remaining.end(), block.begin() + i + 1, block.end());
        llvm::append_range(out, rewriteBlock(remaining));
        return out;
      }
      const auto *node = as<IfStmt>(&stmt);
      bool hasJumps = node && (leaves(node->elseBody) || llvm::any_of(node->branches, [](const IfStmt::Branch &branch) {
                                 return leaves(branch.body);
                               }));
      if (hasJumps) {
        rewriteIf(*node, Block(block.begin() + i + 1, block.end()), out);
        return out;
      }
      out.push_back(&stmt);
    }
    return out;
  }

  void rewriteIf(const IfStmt &stmt, const Block &remaining, Block &out) {
    std::vector<Block> bodies;
    for (const IfStmt::Branch &branch : stmt.branches)
      bodies.push_back(branch.body);
    bodies.push_back(stmt.elseBody);
    size_t goOn = llvm::count_if(bodies, [](const Block &body) { return !alwaysLeaves(body); });
    for (Block &body : bodies) {
      if (goOn == 1 && !alwaysLeaves(body))
        llvm::append_range(body, remaining);
      body = rewriteBlock(body);
    }
    auto *node = nodes.make<IfStmt>(stmt.range);
    for (size_t i = 0; i < stmt.branches.size(); ++i)
      node->branches.push_back({stmt.branches[i].keyword, stmt.branches[i].condition, std::move(bodies[i])});
    node->elseBody = std::move(bodies.back());
    out.push_back(node);
    if (goOn < 2 || remaining.empty())
      return;
    // Both flags guard the statements: a flag that no branch sets is a constant and costs nothing.
    Block guarded = rewriteBlock(remaining);
    for (const std::string &flag : {skip, stop})
      if (!flag.empty())
        guarded = {branch(negated(flag, stmt.range), std::move(guarded))};
    llvm::append_range(out, guarded);
  }

  Module &nodes;
  std::string stop, skip; // flags of the innermost loop; empty if no jump sets them
};

} // namespace

/// Returns the replacement of a loop that ends early; null for other statements.
const JumpingLoop *Statements::rewriteJumps(const Stmt &stmt) {
  const Block *body = bodyOf(&stmt);
  if (!(isTile1() || isConstexprFunction()) || !body || !leaves(*body))
    return nullptr;
  auto [entry, isNew] = jumpingLoops.try_emplace(&stmt);
  JumpingLoop &result = entry->second;
  if (!isNew)
    return &result;
  JumpRewriter rewriter(sema.session.scratchModules.emplace_back());
  result.returnsValue = returnsValue(*body);
  if (returns(*body))
    result.statements.push_back(rewriter.assign(returnedFlag, rewriter.boolean(false, stmt.range)));
  result.loop = rewriter.rewriteLoop(stmt, result.statements);
  result.withoutReturn = result.statements;
  if (returns(*body))
    result.statements.push_back(rewriter.returnAfter(stmt, result.returnsValue));
  return &result;
}

/// Creates a placeholder of the same type, which a loop carries until a value is returned.
std::optional<SymValue> Statements::placeholderLike(const SymValue &value, SourceRange range) {
  SymValue out = value;
  if (value.isTuple()) {
    for (SymValue &element : out.elements) {
      std::optional<SymValue> placeholder = placeholderLike(element, range);
      if (!placeholder)
        return std::nullopt;
      element = *placeholder;
    }
    return out;
  }
  if (value.isTensor() && value.type.isPointer) {
    SymValue address = emitter.makeSplat(Value(Int128(0)), Scalar::Int64, value.shape(), range);
    return emitter.bitcast(address, value.type, range);
  }
  if (value.isTensor())
    return emitter.makeSplat(Value(Int128(0)), value.type, value.shape(), range);
  if (value.isConstant())
    return out;
  if (!value.isError())
    error(Diag::returned_value, range, {describe(value)});
  return std::nullopt;
}

/// Binds a placeholder for the value that the loop returns. The loop carries this value, but only the body determines
/// its type, so the body is emitted once to find the type, and discarded. Returns the statements to emit; null after an
/// error.
const Block *Statements::bindReturnPlaceholder(const JumpingLoop &rewritten, SourceRange range) {
  // At compile time nothing is carried.
  if (isConstexprFunction())
    return &rewritten.statements;
  Environment before = scope;
  KernelText textBefore = sema.records.text;
  llvm::DenseMap<mlir::Value, Records::NamedLiteral> literalsBefore = sema.records.namedLiterals;
  size_t errorsBefore = diagnostics.numErrors();
  SymValue found;
  Region region;
  bool wasTrial = std::exchange(emitter.isTrial, true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    scope.erase(returnedValue);
    emitBlock({&rewritten.withoutReturn, 0, nullptr});
    if (auto value = scope.find(returnedValue); value != scope.end())
      found = value->second.value;
  }
  emitter.isTrial = wasTrial;
  scope = std::move(before);
  bool returnsNothing = found.isError() && diagnostics.numErrors() == errorsBefore; // no path leads to a return
  std::optional<SymValue> placeholder;
  if (!returnsNothing && diagnostics.numErrors() == errorsBefore)
    placeholder = placeholderLike(found, range);
  if (placeholder)
    scope[returnedValue] = Binding{*placeholder, range};
  // The records may refer to operations in the discarded region.
  sema.records.text = std::move(textBefore);
  sema.records.namedLiterals = std::move(literalsBefore);
  region.dropAllReferences();
  return placeholder ? &rewritten.statements : returnsNothing ? &rewritten.withoutReturn : nullptr;
}

} // namespace tile::frontend
