// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits statements and control flow.
//
// Environments are values, so SSA form needs no explicit phi nodes: an 'if' runs both branches on copies of the
// environment and yields the names whose values differ, and a loop carries the names that its body assigns. Functions
// that return early are folded: the statements after an 'if' with a 'return' become the other branch (SemaControl.cpp).

#pragma once

#include "Frontend/Sema/Part.h"

namespace tile::frontend {

/// Statements that remain to be emitted: those of a block from `index` on, then those of the enclosing blocks.
struct Continuation {
  const Block *block;
  size_t index;
  const Continuation *next;
};

struct BlockResult {
  bool returned = false;
  SymValue value = SymValue::makeConstant(NoneValue{});
  SourceRange range;
};

/// The replacement of a loop that ends early.
struct JumpingLoop {
  Block statements;           // replaces the loop and, if it returns, includes the function's return
  Block withoutReturn;        // the same, for a loop in which no return is reached
  const Stmt *loop = nullptr; // the loop itself, without jumps
  bool returnsValue = false;
};

struct LoopRange {
  std::string kind;
  std::vector<SymValue> bounds; // lower, upper, step
  SourceRange range;
};

class Statements : Part {
public:
  using Part::Part;
  BlockResult emitBlock(const Continuation &start);
  void bind(const NameExpr &target, SymValue value);
  void assign(const Expr &target, const SymValue &value, SourceRange range);
  void decayBranches(mlir::scf::IfOp skeleton, SymValue &thenValue, SymValue &elseValue, SourceRange thenRange,
                     SourceRange elseRange);
  SymValue runStatements(const std::string &name, const Block &statements);

  unsigned loopDepth = 0;
  unsigned foldDepth = 0;

private:
  void enterContexts(const WithStmt &stmt);
  bool emitSimple(const Stmt &stmt);
  SymValue decay(const SymValue &value, SourceRange range);
  SymValue decayAll(const SymValue &value, SourceRange range);
  void decayApart(SymValue &value, const SymValue &other, SourceRange range);
  void rememberLiterals(const SymValue &value, const SymValue &bound, const NameExpr &name);
  void emitAssign(const AssignStmt &stmt);
  void emitAugAssign(const AugAssignStmt &stmt);
  void emitAnnAssign(const AnnAssignStmt &stmt);
  const JumpingLoop *rewriteJumps(const Stmt &stmt);
  std::optional<SymValue> placeholderLike(const SymValue &value, SourceRange range);
  const Block *bindReturnPlaceholder(const JumpingLoop &rewritten, SourceRange range);
  std::optional<BlockResult> emitIf(const IfStmt &stmt, size_t branch, const Continuation &remaining);
  void emitDoubtful(const Block &body, SourceRange reason);
  BlockResult emitFoldedIf(const IfStmt &stmt, size_t branch, const SymValue &condition, const Continuation &remaining);
  bool checkReturnTypes(mlir::scf::IfOp skeleton, BlockResult &thenResult, BlockResult &elseResult);
  void emitBranch(const IfStmt &stmt, size_t branch);
  void emitJoinedIf(const IfStmt &stmt, size_t branch, const SymValue &condition);
  void joinEnvironments(const Environment &thenEnv, const Environment &elseEnv, const IfStmt &stmt,
                        std::vector<std::string> &changed);
  void emitAssert(const AssertStmt &stmt);
  void decayCarriedTuples(const Block &body, const Expr *condition, SourceRange loop);
  bool evaluateRange(const Expr &iterator, LoopRange &out);
  void emitFor(const ForStmt &stmt);
  void emitDoubtfulLoop(const ForStmt &stmt, SourceRange reason);
  void emitUnrolled(const ForStmt &stmt, const LoopRange &range);
  void checkLoopConstants(const Stmt &loop, const std::vector<std::string> &carried, const Environment &before,
                          const Environment &after);
  bool loopCarried(const std::vector<std::string> &names, const Environment &before, const Environment &after,
                   SourceRange loop, llvm::SmallVectorImpl<mlir::Value> &values);
  void leaveLoop(const Environment &before, const std::vector<std::string> &names, mlir::ValueRange results,
                 const Environment &after, SourceRange loop);
  SymValue loopVariable(const ForStmt &stmt, mlir::Value counter, llvm::ArrayRef<SymValue> bounds, bool isDown);
  void emitRangeLoop(const ForStmt &stmt, const LoopRange &range);
  void emitStoppingLoop(const ForStmt &stmt, llvm::ArrayRef<SymValue> bounds, bool isDown);
  void walkWhile(const WhileStmt &stmt);
  void emitWhile(const WhileStmt &stmt);
  void walkElements(const ForStmt &stmt, const std::vector<SymValue> &items);

  unsigned folds = 0;
  size_t unrolledIterations = 0;
  std::map<const Stmt *, JumpingLoop> jumpingLoops;
};

} // namespace tile::frontend
