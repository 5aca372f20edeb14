// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutates IR such that most results still verify, so that passes are tested and not the verifier.
//
// Mutations of operations: operands are replaced by other visible values; operations are removed, duplicated, moved, or
// wrapped in a loop or branch; attributes get other values; and a type or layout is replaced everywhere. Mutations of
// text: lines, tokens and integers, also from another file, as input that the parser and the verifier must survive.

#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <random>
#include <string>
#include <string_view>

namespace tile::fuzz {

class IrMutator {
public:
  explicit IrMutator(uint64_t seed) : random(seed) {}

  /// Returns a uniform value from 0 to count - 1; count is positive.
  size_t below(size_t count) { return static_cast<size_t>(random() % count); }
  bool oneIn(size_t count) { return below(count) == 0; }

  /// Makes one change; returns false if none was found.
  bool mutate(mlir::ModuleOp module);
  /// `other` is a file from which lines are taken.
  std::string mutateText(std::string_view text, std::string_view other);

private:
  void collect(mlir::ModuleOp module);
  mlir::Operation *someOp();
  mlir::Value someValue(mlir::Operation *user, mlir::Type type);

  bool replaceOperand();
  bool swapOperands();
  bool eraseOp();
  bool copyOp();
  bool moveOp();
  bool wrapOp();
  bool swapRegions();
  bool addDetour();
  bool changeAttribute();
  bool changeType(mlir::ModuleOp module);
  bool changeKernel();

  mlir::Attribute changed(mlir::Attribute attribute);
  mlir::Type changed(mlir::Type type);
  mlir::Attribute changedLayout(mlir::Attribute layout);
  int64_t changed(int64_t number);
  llvm::SmallVector<int64_t> changed(llvm::ArrayRef<int64_t> shape);

  std::mt19937_64 random;
  llvm::SmallVector<mlir::Operation *> ops; ///< Operations inside kernels and functions.
  llvm::SmallVector<mlir::Operation *> kernels;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace tile::fuzz
