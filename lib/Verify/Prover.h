// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks the solver whether a goal follows from hypotheses.
//
// A proof is first attempted in linear arithmetic, in which each nonlinear monomial is an unknown. This is fast and
// always terminates. Lemmas relate monomials:
//
//   for each comparison p >= 0 of the query and each symbol n >= 0 such that the terms of p * n occur in the query
//     p >= 0  =>  p * n >= 0;      p < 0  =>  p * n + n <= 0
//
// For example, with n = cdiv(N, BLOCK), pid < m * n and q * n <= pid imply q < m. If this attempt fails, the solver
// uses nonlinear arithmetic.
#pragma once

#include "Verify/Solver.h"
#include "Verify/Term.h"

#include <chrono>

namespace tile::verify {

using Model = std::map<Symbol, Wide>;

/// The time budget of all queries.
class Budget {
public:
  explicit Budget(double seconds);
  /// Returns the milliseconds for a query that should take at most this long; 0 if no time is left.
  unsigned allow(unsigned milliseconds) const;
  bool isOver() const { return Clock::now() >= end; }
  /// Limits the queries of the next check to a share of the remaining time. `checks` is the number of remaining checks.
  void share(size_t checks);

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end, endOfCheck;
};

class Prover {
public:
  Prover(const Symbols &symbols, Solver &solver, const Budget &budget)
      : symbols(symbols), solver(solver), budget(budget) {}

  /// Adds a hypothesis to all queries.
  void assume(const Formula &fact) { always.push_back(fact); }

  bool proves(llvm::ArrayRef<Formula> hypotheses, const Formula &goal, bool withProducts = true);
  /// Uses linear arithmetic only, which answers quickly.
  void setLinear(bool value) { isLinear = value; }
  /// Returns true if the hypotheses are proven to be contradictory, and false if no proof is found in time.
  bool isContradiction(llvm::ArrayRef<Formula> hypotheses);
  /// Returns values that satisfy the hypotheses and `wishes` but not the goal.
  std::optional<Model> refute(llvm::ArrayRef<Formula> hypotheses, const Formula &goal,
                              llvm::ArrayRef<Formula> wishes = {});

private:
  enum class Arithmetic {
    Linear,
    Scaled, ///< linear arithmetic with additional lemmas about multiples of monomials
    Products
  };
  SolverAnswer ask(const std::vector<Formula> &assertions, Arithmetic arithmetic, unsigned milliseconds);

  const Symbols &symbols;
  Solver &solver;
  const Budget &budget;
  std::vector<Formula> always;
  bool isLinear = false;
};

} // namespace tile::verify
