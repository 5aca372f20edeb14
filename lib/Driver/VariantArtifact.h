// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled variants -> one artifact: which of them are worth their bytes, and what the file holds.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Runtime/Pack.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace tile::driver {

/// A variant that the compiler has made.
struct MadeVariant {
  runtime::PackedVariant packed;
  size_t rank = 0;    ///< among the plans of its target: 0 is the general one, the last gains least
  std::string why;    ///< what it is for, one line
  double seconds = 0; ///< that it took to compile
};

/// Why a variant is not in the artifact.
struct LeftOut {
  std::string name, target, why;
};

/// Even the general variants alone make too large an artifact.
class BudgetError : public llvm::ErrorInfo<BudgetError> {
public:
  static char ID;
  explicit BudgetError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// Removes variants whose code an earlier one for the same target has as well, which promises no more.
void dropRedundant(std::vector<MadeVariant> &made, std::vector<LeftOut> &leftOut);

/// The bytes of a cubin or, with `emit` a tilepack or several targets, a pack. The first variant must be general. What
/// a header holds has no PTX: a program has no use for it.
llvm::Expected<std::string> writeArtifact(llvm::ArrayRef<MadeVariant> made, EmitKind emit);

/// Leaves out those that gain least until the artifact has at most `budget` bytes, and returns it; a BudgetError if
/// the general variants alone have more.
llvm::Expected<std::string> fitToBudget(std::vector<MadeVariant> &made, EmitKind emit, uint64_t budget,
                                        std::vector<LeftOut> &leftOut);

/// The table of --explain-config.
std::string describeVariants(llvm::ArrayRef<MadeVariant> made, llvm::ArrayRef<LeftOut> leftOut, size_t artifactBytes);

} // namespace tile::driver
