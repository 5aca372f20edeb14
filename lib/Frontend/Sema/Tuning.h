// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a decorator @triton.autotune says of a kernel's parameters.

#pragma once

#include "Frontend/Sema/SemaValue.h"

namespace tile::frontend {

struct TunedConfiguration {
  std::map<std::string, SymValue> values; // constants, by parameter
  std::optional<int> numWarps, numStages;
  bool isComplete = true;     // nothing of it is unknown
  bool isConditional = false; // see KernelConfiguration
};

struct Tuning {
  std::vector<TunedConfiguration> configurations;
  std::vector<std::string> keys;
};

/// Why something of the host program is unknown.
struct UnknownHost {
  Diag what;
  SourceRange range;
  std::string reason;
};

/// The argument with this name, or the one at this place.
const Expr *argumentOf(const CallExpr &call, std::string_view name, size_t index);

} // namespace tile::frontend
