// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code of the host program that makes lists of configurations (@triton.autotune), evaluated as far as it can be known.
//
// Elsewhere what cannot be evaluated is an error, and ends what needs it. Here it is an unknown value (of kind Error,
// and without a message), and what is around it goes on: a list keeps its other elements, "a and b" is false if one of
// them is.
//
//   configs = []
//   for size in [64, 128, from_a_file()]:            the third is unknown, and so is the configuration made of it
//     if is_hip() and memory_of_the_gpu() < 16:      false: of is_hip() the answer is known (HostFacts.h)
//       continue
//     configs.append(triton.Config({"BLOCK": size}))
//
// Conditions without an answer: a comprehension keeps the element, "a if c else b" is a, an "if" is not taken.

#pragma once

#include "Frontend/Sema/ModuleSema.h"

namespace tile::frontend {

/// While it lives, its Sema evaluates expressions as said above.
class HostReader {
public:
  /// triton.Config(...) as it was evaluated.
  struct Configuration {
    SymValue values; // a dictionary; Error: unknown
    std::optional<SymValue> numWarps, numStages;
    bool isComplete = true; // nothing of it is unknown
    bool isConditional = false;
    SourceRange range;
  };
  using BoundArgument = ModuleSema::BoundArgument;

  HostReader(ModuleSema &sema, const FunctionStmt &kernel);
  ~HostReader();

  /// Elements of a value; those of ranges and of lists of configurations among them.
  static constexpr size_t mostElements = 65536;

  /// Nothing for what is evaluated as everywhere.
  std::optional<SymValue> evaluate(const Expr &expr);
  /// A name of the current module whose value takes host code: a list of configurations.
  std::optional<SymValue> lookup(const std::string &name);
  /// Calls a function of the host program, or a lambda. Unknown arguments are not an error.
  SymValue call(const FunctionStmt &function, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue call(const SymValue &callee, std::vector<SymValue> values, SourceRange range);
  std::optional<SymValue> memberOf(const SymValue &configuration, const std::string &name);

  Configuration &configuration(const SymValue &value) { return configurations[static_cast<size_t>(value.dims[0])]; }
  /// The configurations among the elements of a list. What is not a configuration is noted.
  std::vector<SymValue> configurationsOf(const SymValue &list, SourceRange range);
  /// From here on configurations that come out where a condition had no answer are marked.
  void beginPruning() { isPruning = true; }
  /// The reason is the first message since there were 'reported'.
  void note(Diag what, SourceRange range, size_t reported);
  const std::vector<UnknownHost> &unknowns() const { return notes; }

private:
  enum class Flow { GoesOn, Continue, Break, Return, Unknown };

  // HostReader.cpp
  std::optional<bool> truth(const Expr &condition);
  SymValue elements(const std::vector<const Expr *> &list);
  SymValue dictionary(const DictExpr &expr);
  std::optional<std::vector<SymValue>> items(const Expr &iterable);
  SymValue comprehension(const ComprehensionExpr &expr);
  bool clauses(const ComprehensionExpr &expr, size_t index, std::vector<SymValue> &results);
  SymValue lambda(const LambdaExpr &expr);
  SymValue binary(BinaryOp op, const SymValue &left, const SymValue &right, SourceRange range);
  SymValue boolOp(const BoolOpExpr &expr);
  void markConditional(const SymValue &value);

  // HostReaderWalk.cpp
  void bind(const Expr &target, const SymValue &value);
  void changeList(const NameExpr &name, const CallExpr &call);
  Flow walk(const Block &block, SymValue &returned);
  Flow walkIf(const IfStmt &stmt, SymValue &returned);
  Flow walkFor(const ForStmt &stmt, SymValue &returned);
  Flow walkWhile(const WhileStmt &stmt, SymValue &returned);

  // HostReaderCalls.cpp
  std::optional<SymValue> callOfList(const CallExpr &call);
  SymValue callListFunction(llvm::StringRef name, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue applyToItems(bool isFilter, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue sortItems(std::vector<SymValue> list, const std::vector<BoundArgument> &arguments, SourceRange range);
  SymValue sumItems(const std::vector<SymValue> &list, SymValue sum, SourceRange range);
  SymValue makeConfiguration(const std::vector<BoundArgument> &arguments, SourceRange range, size_t reported);

  ModuleSema &sema;
  const FunctionStmt &kernel;
  const FunctionStmt *decorated; // whose decorators are read: names in them are what they were there
  size_t reportedBefore, workBefore;
  std::deque<Configuration> configurations;
  std::map<std::pair<std::string, std::pair<const Expr *, size_t>>, SymValue> values; // of names of modules
  std::map<const LambdaExpr *, const FunctionStmt *> lambdas;
  std::vector<UnknownHost> notes;
  bool isPruning = false;
  unsigned openDecisions = 0; // conditions without an answer that led here
};

} // namespace tile::frontend
