// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Python code around kernels asks its machine: which GPU is there, and whose. A kernel is compiled for an NVIDIA
// GPU, so the answers are known although the host program is not executed:
//
//   is_hip_ = current_platform.is_rocm()                      False, whatever module that comes from
//   GE90 = torch.cuda.get_device_capability()[0] >= 9         of the target
//   DEBUG = os.environ.get("DEBUG", "0") == "1"               as if no variable were set
#pragma once

#include "Frontend/Sema/SemaValue.h"

#include <optional>

namespace tile::frontend {

struct Expr;

/// The value of a name of the host program, "torch.version.hip" or "IS_AMD", by its last part if that tells enough.
/// `is_hip` may be a function, unless it is known to be a variable. `capability` is that of the target, times ten.
std::optional<Value> hostFact(llvm::StringRef path, int capability, bool isVariable);

/// What a call of the function at `path` returns.
std::optional<SymValue> hostAnswer(llvm::StringRef path, llvm::ArrayRef<SymValue> arguments, int capability);

/// Whether a condition of the host program holds, if it is a name or a call that says.
std::optional<bool> hostCondition(const Expr &condition, int capability);

} // namespace tile::frontend
