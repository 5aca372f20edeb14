// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of a @triton.autotune decorator.

#pragma once

#include "Frontend/Values/SymValue.h"

namespace tile::frontend {

struct TunedConfiguration {
  std::map<std::string, SymValue> values; // constants by parameter
  std::optional<int> numWarps, numStages;
  bool isComplete = true;     // true if all parts are known
  bool isConditional = false; // see KernelConfiguration
};

struct Tuning {
  std::vector<TunedConfiguration> configurations;
  std::vector<std::string> keys;
};

/// A part of the host program that is unknown, and the reason.
struct UnknownHost {
  Diag what;
  SourceRange range;
  std::string reason;
};

/// Returns the argument with this name, or at this index.
const Expr *argumentOf(const CallExpr &call, std::string_view name, size_t index);

} // namespace tile::frontend
