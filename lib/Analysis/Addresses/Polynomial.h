// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials over integer scalars. With them, index expressions are compared by value and not by how they are written.
//
//   %x = arith.muli %pid, 128;  %y = arith.subi %n, %x            =>   n - 128*pid
//
// A factor is a value that is not itself a sum, product or constant. Integers are unbounded here: the compiler assumes
// that index arithmetic does not overflow (AxisInfo.h). A polynomial that has become too large, in value or in length,
// is not exact, and nothing can be concluded from it.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <utility>

namespace tile {

class Polynomial {
public:
  struct Term {
    int64_t coefficient = 0;
    llvm::SmallVector<mlir::Value, 2> factors; ///< Repeated for powers; empty in the constant term.

    bool operator==(const Term &) const = default;
  };

  Polynomial(int64_t constant = 0);
  explicit Polynomial(mlir::Value factor);
  explicit Polynomial(Term term) { add(std::move(term)); }

  Polynomial operator+(const Polynomial &other) const;
  Polynomial operator-(const Polynomial &other) const;
  Polynomial operator*(const Polynomial &other) const;
  bool operator==(const Polynomial &other) const;

  /// Returns the terms in the order in which they were added. No two terms have the same factors, and no coefficient is
  /// zero.
  llvm::ArrayRef<Term> getTerms() const { return terms; }
  bool isExact() const { return exact; }
  bool isZero() const { return exact && terms.empty(); }
  /// Returns the value of a constant polynomial; nullopt if there are other terms.
  std::optional<int64_t> getConstant() const;
  int64_t getConstantTerm() const;
  /// Returns the factor if the polynomial consists of exactly one factor; otherwise null.
  mlir::Value getSingleFactor() const;

  /// Returns the terms whose factors all satisfy `predicate`, and the remaining terms.
  std::pair<Polynomial, Polynomial> partition(llvm::function_ref<bool(mlir::Value)> predicate) const;
  /// Divides those terms that `divisor`, which has one term, divides without remainder. Returns the quotient and the
  /// remaining terms.
  std::pair<Polynomial, Polynomial> divide(const Polynomial &divisor) const;
  /// Returns true if every factor satisfies `predicate`.
  bool all(llvm::function_ref<bool(mlir::Value)> predicate) const;

  /// Returns text such as `K - 32*k`; `name` returns the name of a factor.
  std::string toString(llvm::function_ref<std::string(mlir::Value)> name) const;

private:
  void add(Term term);

  llvm::SmallVector<Term, 2> terms;
  bool exact = true;
};

} // namespace tile
