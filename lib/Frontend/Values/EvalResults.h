// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constructors of EvalResult, shared by the evaluators.
#pragma once

#include "Frontend/Values/ConstEval.h"

namespace tile::frontend {

inline EvalResult fail(std::string error) {
  return {std::nullopt, std::move(error), {}};
}
inline EvalResult succeed(Value value) {
  return {std::move(value), {}, {}};
}

} // namespace tile::frontend
