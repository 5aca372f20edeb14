// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combines compiled variants into one artifact: decides which are worth their size, and writes the file.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Runtime/Pack.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace tile::driver {

/// A compiled variant.
struct MadeVariant {
  runtime::PackedVariant packed;
  /// Position among the plans for the same target: 0 is the general variant, and the last one is the least useful.
  size_t rank = 0;
  std::string why;           ///< the variant's purpose, in one line
  double seconds = 0;        ///< compile time
  bool isNeeded = false;     ///< whether some calls are served only by this variant
  size_t configuration = 0;  ///< index of the variant's set of constants
  bool hasCondition = false; ///< whether the variant's configuration has conditions on calls
};

/// A variant that is not in the artifact, and the reason.
struct SkippedVariant {
  std::string name, target, why;
};

/// Reports that the artifact exceeds the budget even if it contains only the required variants.
class BudgetError : public llvm::ErrorInfo<BudgetError> {
public:
  static char ID;
  explicit BudgetError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// Removes variants whose code equals that of an earlier variant for the same target that makes no more assumptions.
void dropRedundant(std::vector<MadeVariant> &made, std::vector<SkippedVariant> &skipped);

/// Returns the bytes of a cubin or, for a tilepack or several targets, of a pack. The first variant must be the general
/// one. Headers contain no PTX, because the programs that include them do not need it.
llvm::Expected<std::string> writeArtifact(llvm::ArrayRef<MadeVariant> made, EmitKind emit);

/// Drops the least useful variants until the artifact has at most `budget` bytes, and returns it. Returns a BudgetError
/// if the required variants alone exceed the budget.
llvm::Expected<std::string> fitToBudget(std::vector<MadeVariant> &made, EmitKind emit, uint64_t budget,
                                        std::vector<SkippedVariant> &skipped);

/// Formats the table of --explain-config.
std::string describeVariants(llvm::ArrayRef<MadeVariant> made, llvm::ArrayRef<SkippedVariant> skipped,
                             size_t artifactBytes);

} // namespace tile::driver
