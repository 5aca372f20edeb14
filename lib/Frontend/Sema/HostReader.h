// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates code of the host program that creates lists of configurations (@triton.autotune), as far as possible.
//
// Elsewhere, code that cannot be evaluated is an error that ends everything that needs it. Here it gives an unknown
// value (kind Error, without a message), and evaluation continues: a list keeps its other elements, and "a and b" is
// false if one of them is.
//
//   configs = []
//   for size in [64, 128, from_a_file()]:            the third is unknown, and so is its configuration
//     if is_hip() and memory_of_the_gpu() < 16:      false, because is_hip() has a known answer (HostFacts.h)
//       continue
//     configs.append(triton.Config({"BLOCK": size}))
//
// For undecided conditions, a comprehension keeps the element, "a if c else b" is a, and an "if" is not taken.

#pragma once

#include "Frontend/Sema/Part.h"
#include "Frontend/Sema/Tuning.h"

namespace tile::frontend {

/// While an instance exists, its analysis evaluates expressions as described above.
class HostReader {
public:
  /// An evaluated triton.Config(...).
  struct Configuration {
    SymValue values; // a dictionary; Error: unknown
    std::optional<SymValue> numWarps, numStages;
    bool isComplete = true; // no part is unknown
    bool isConditional = false;
    SourceRange range;
  };

  HostReader(Sema &sema, const FunctionStmt &kernel);
  ~HostReader();

  /// Returns nullopt for an unknown condition, and records the reason.
  std::optional<bool> truth(const Expr &condition);
  /// Looks up a name of the current module whose value needs host code: a list of configurations.
  std::optional<SymValue> lookup(const std::string &name);
  /// Runs a function of the host program, or a lambda, with the arguments in the scope.
  SymValue run(const FunctionStmt &function);
  /// Calls a condition of filter(): an undecided one keeps the item.
  std::optional<bool> callCondition(const SymValue &condition, SymValue &item, SourceRange range);
  /// Evaluates a call of Config, by name; returns nullopt for others.
  std::optional<SymValue> callOfConfig(const CallExpr &call);
  std::optional<SymValue> memberOf(const SymValue &configuration, const std::string &name);

  Configuration &configuration(const SymValue &value) { return configurations[static_cast<size_t>(value.dims[0])]; }
  /// Returns the configurations among the elements of a list, and records elements that are not configurations.
  std::vector<SymValue> configurationsOf(const SymValue &list, SourceRange range);
  /// From here on, marks configurations that an undecided condition lets through.
  void beginPruning() { isPruning = true; }
  /// Marks configurations in a value that an undecided condition has let through.
  void markConditional(const SymValue &value);
  /// Records an unknown part. The reason is the first message after the first 'reported' ones.
  void note(Diag what, SourceRange range, size_t reported);
  const std::vector<UnknownHost> &unknowns() const { return notes; }

private:
  enum class Flow { GoesOn, Continue, Break, Return, Unknown };

  Flow walk(const Block &block, SymValue &returned);
  Flow walkIf(const IfStmt &stmt, SymValue &returned);
  Flow walkFor(const ForStmt &stmt, SymValue &returned);
  Flow walkWhile(const WhileStmt &stmt, SymValue &returned);

  SymValue makeConfiguration(const std::vector<BoundArgument> &arguments, SourceRange range, size_t reported);

  Sema &sema;
  const FunctionStmt &kernel;
  const FunctionStmt *decorated; // the function whose decorators are read: names in them have their values at its
                                 // definition
  size_t reportedBefore, workBefore;
  std::deque<Configuration> configurations;
  std::map<std::pair<std::string, std::pair<const Expr *, size_t>>, SymValue> values; // names of modules
  std::vector<UnknownHost> notes;
  bool isPruning = false;
  unsigned openDecisions = 0; // enclosing undecided conditions

  friend class Decisions;
};

/// Counts the undecided conditions of a scope, such as an iteration of a loop, that let later statements run.
class Decisions {
public:
  explicit Decisions(HostReader *reader) : reader(reader), before(reader ? reader->openDecisions : 0) {}
  ~Decisions() {
    if (reader)
      reader->openDecisions = before;
  }
  void add(const std::optional<bool> &decision) {
    if (reader && !decision)
      ++reader->openDecisions;
  }

private:
  HostReader *reader;
  unsigned before;
};

} // namespace tile::frontend
