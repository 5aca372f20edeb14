// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates values of a kernel symbolically: one element, in one iteration of each enclosing loop, of one program.
//
//   %o = (splat %pid) * 128 + arange     integer(%o, {e0})  =  128 * pid + e0
//
// Integers wrap, so a polynomial represents a value modulo 2^bits, and addition and multiplication are exact.
// Comparisons, divisions and addresses use the value itself, which must be in the range of its type. Such side
// conditions, called *needs*, are collected with each value, and must be proven before the value is used.
#pragma once

#include "Verify/Launch.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::verify {

using Index = std::vector<Poly>;
using Needs = std::set<unsigned>; ///< indices of Evaluator::need

struct Need {
  Formula condition;
  mlir::Location location;
  std::string text; ///< "the 32-bit value fits"
};

struct IntegerTerm {
  Poly poly;
  Needs needs;
};

struct TruthTerm {
  Formula truth;
  Needs needs;
};

struct PointerTerm {
  std::optional<unsigned> parameter; ///< argument of the kernel
  Poly offset;                       ///< in elements
  Needs needs;
  std::string unknown; ///< if there is no `parameter`: the reason why the pointer cannot be followed
};

/// A condition under which an operation is executed.
struct PathStep {
  Formula condition;
  Needs needs;
  bool isAssumption = false; ///< from tl.assume; the operation is executed even if the condition cannot be evaluated
};

class Evaluator {
public:
  Evaluator(KernelOp kernel, Symbols &symbols, const Launch &launch);

  IntegerTerm integer(mlir::Value value, const Index &index);
  TruthTerm truth(mlir::Value value, const Index &index);
  PointerTerm pointer(mlir::Value value, const Index &index);
  /// Returns conditions that all hold if the mask is true.
  std::vector<TruthTerm> conjuncts(mlir::Value mask, const Index &index);
  /// Returns the conditions under which an operation is executed, outermost first.
  std::vector<PathStep> pathTo(mlir::Operation *op);
  /// Returns symbols for the index of an element of a tensor.
  Index elementOf(mlir::Type type);

  /// The results of a swizzle2d that permutes the programs of two axes: each pair of indices belongs to one program.
  struct Permuted {
    Symbol symbols[2];
    unsigned axes[2];
  };
  /// Returns the permutations that have been evaluated.
  std::vector<Permuted> permutedPrograms();

  const Need &need(unsigned index) const { return needs[index]; }
  Poly programId(unsigned axis) const { return Poly::symbol(programs[axis]); }

  /// Adds the side condition that the value is in the range of its type.
  void requireRange(IntegerTerm &term, mlir::Value value, bool isUnsigned = false);
  /// Adds a side condition to the set.
  void require(Needs &set, Formula condition, mlir::Location location, std::string text);

private:
  using Key = std::pair<mlir::Value, Index>;
  struct KeyLess {
    bool operator()(const Key &left, const Key &right) const {
      return std::pair(left.first.getAsOpaquePointer(), left.second) <
             std::pair(right.first.getAsOpaquePointer(), right.second);
    }
  };

  IntegerTerm computeInteger(mlir::Value value, const Index &index);
  IntegerTerm evaluateArith(mlir::Operation *op, const Index &index);
  IntegerTerm evaluateDivision(mlir::Operation *op, const Index &index);
  IntegerTerm evaluateExtreme(mlir::Operation *op, const Index &index);
  IntegerTerm evaluateBits(mlir::Operation *op, const Index &index);
  IntegerTerm evaluateProgram(mlir::Operation *op, mlir::OpResult result);
  IntegerTerm constantOf(mlir::DenseElementsAttr values, const Index &index, mlir::Value value);
  TruthTerm computeTruth(mlir::Value value, const Index &index);
  TruthTerm compare(mlir::Operation *op, const Index &index);
  PointerTerm computePointer(mlir::Value value, const Index &index);

  /// Returns the operand and its index if the operation only moves elements.
  std::optional<std::pair<mlir::Value, Index>> throughShape(mlir::Operation *op, const Index &index);

  /// Returns the value that the condition of a while loop passes to an argument of its body; null for other arguments.
  static mlir::Value forwardedTo(mlir::BlockArgument argument);
  Symbol iterationOf(mlir::scf::ForOp loop);
  Poly countOf(mlir::scf::ForOp loop, Needs &set);
  /// Returns the amount that each iteration adds to a carried value; nullopt if the value changes in another way.
  std::optional<IntegerTerm> stepOf(mlir::scf::ForOp loop, unsigned carried, const Index &index);
  std::optional<IntegerTerm> stepOf(mlir::Value yielded, mlir::BlockArgument carried, const Index &index);
  /// Returns the value of a result of a loop, or of an argument of its body.
  IntegerTerm carriedInteger(mlir::scf::ForOp loop, unsigned carried, const Index &index, mlir::Value value);
  PointerTerm carriedPointer(mlir::scf::ForOp loop, unsigned carried, const Index &index, mlir::Value value);
  std::optional<IntegerTerm> advanceOf(mlir::scf::ForOp loop, unsigned carried, const Index &index, bool isResult);

  IntegerTerm unknownInteger(mlir::Value value, std::string why);
  TruthTerm unknownTruth(mlir::Value value, std::string why);
  /// Adds the side conditions in `other`, which are required only if the condition holds, to `set`.
  void mergeIf(Needs &set, const Needs &other, const Formula &condition);

  KernelOp kernel;
  Symbols &symbols;
  const Launch &launch;
  std::vector<Need> needs;
  std::vector<Symbol> programs;
  std::map<Key, IntegerTerm, KeyLess> integers;
  std::map<Key, TruthTerm, KeyLess> truths;
  std::map<mlir::Operation *, Symbol> iterations;
  std::map<mlir::Operation *, std::pair<Symbol, Symbol>> swizzles;
};

/// Returns the union of two sets of side conditions.
Needs merge(const Needs &left, const Needs &right);

/// Returns `line 12` for messages.
std::string lineOf(mlir::Location location);

} // namespace tile::verify
