// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context of all checks of one kernel: its launch, the prover, and the search for counterexamples.
#pragma once

#include "Verify/Accesses.h"
#include "Verify/Prover.h"
#include "Verify/Replay.h"
#include "Verify/Verify.h"

namespace tile::verify {

/// A goal that was not proven, with the hypotheses from which it should follow.
struct Gap {
  std::vector<Formula> hypotheses;
  Formula goal;
  std::string text; ///< "a 32-bit value does not overflow (line 12)"
};

class Checker {
public:
  Checker(KernelOp kernel, const runtime::Manifest &manifest, Solver &solver, const Options &options);

  Finding checkAccess(mlir::Operation *op);
  /// Returns nullopt if there is nothing to prove.
  std::optional<Finding> checkDivision(mlir::Operation *op);
  Finding checkAssumption(AssumeOp op);
  /// Checks that no two programs write the same element with this store.
  Finding checkPrograms(mlir::Operation *store);
  /// Checks that some program writes each element of an output with one of these stores.
  Finding checkOutput(unsigned argument, llvm::ArrayRef<mlir::Operation *> stores);

  /// Announces how many checks, which share the remaining time, are still to come.
  void expect(size_t checks) { budget.share(checks); }
  bool isTimeOver() const { return budget.isOver(); }

private:
  enum class Scope { Program, Grid };
  struct Hypotheses {
    std::vector<Formula> formulas;
    std::vector<Gap> gaps; ///< conditions that are dropped, because their values may overflow
  };

  Finding describe(mlir::Operation *op, const char *kind) const;
  /// Adds the conditions under which `op` is executed, except those whose side conditions are not proven.
  void addPath(mlir::Operation *op, Evaluator &evaluator, Hypotheses &known);
  void addMask(llvm::ArrayRef<TruthTerm> mask, Evaluator &evaluator, Hypotheses &known);
  std::optional<Gap> findGap(const Needs &needs, Evaluator &evaluator, const std::vector<Formula> &hypotheses);
  bool proveInside(const BufferTerms &buffer, const Poly &offset, llvm::ArrayRef<Formula> hypotheses);
  /// Finds a range of the loaded values for which the access is in bounds.
  std::optional<std::string> findCondition(const Access &access, const BufferTerms &buffer, const Hypotheses &known);

  /// Finds how large a buffer without a declaration must be.
  void checkUndeclared(const Access &access, Finding &finding);

  /// Searches for a counterexample to one of the goals. It must be confirmed by the interpreter, with an error at `op`.
  bool refute(llvm::ArrayRef<Gap> gaps, mlir::Operation *op, Evaluator &evaluator, Finding &finding,
              Scope scope = Scope::Program);
  bool replayModel(const Model &model, mlir::Operation *op, Evaluator &evaluator, Finding &finding, Scope scope);
  /// Returns a condition on the parameters alone under which the store writes each element, or a false condition if
  /// none is proven. `position` is the position of the access.
  Formula whenCovered(mlir::Operation *store, const Access &access, const Position &position, Evaluator &evaluator);
  bool refuteOutput(Finding &finding);
  /// Returns preferences for counterexamples, in descending order of importance.
  std::vector<std::vector<Formula>> listWishes(const Gap &gap, Scope scope) const;
  /// Describes the unmodelled values on which a polynomial depends.
  std::string explainUnknowns(const Poly &poly) const;
  std::set<Symbol> loadedIn(const Poly &poly) const;
  /// Returns the given symbols, and all symbols on which their facts depend, directly or indirectly.
  std::set<Symbol> closureOf(std::set<Symbol> symbols) const;
  std::set<Symbol> closureOf(const Poly &poly) const;

  KernelOp kernel;
  const runtime::Manifest &manifest;
  Symbols symbols;
  Launch launch;
  Budget budget;
  Prover prover;
  Replay replay;
  Evaluator main;
};

} // namespace tile::verify
