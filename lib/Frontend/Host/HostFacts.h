// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Answers the questions that Python code around kernels asks about the machine: which GPU it has, and who made it.
// Kernels are compiled for an NVIDIA GPU, so the answers are known although the host program is not executed:
//   is_hip_ = current_platform.is_rocm()                      False, independent of the module
//   GE90 = torch.cuda.get_device_capability()[0] >= 9         from the target
//   DEBUG = os.environ.get("DEBUG", "0") == "1"               with an empty environment
#pragma once

#include "Frontend/Values/SymValue.h"

#include <optional>

namespace tile::frontend {

struct Expr;

/// Returns the value of a name of the host program, such as "torch.version.hip" or "IS_AMD", if the last part of the
/// name determines it. Unless `isVariable` is true, a name such as `is_hip` may be a function, which has no value here.
/// `capability` is the compute capability of the target, times ten.
std::optional<Value> hostFact(llvm::StringRef path, int capability, bool isVariable);

/// Returns the result of calling the function at `path`; nullopt if it is not known.
std::optional<SymValue> hostAnswer(llvm::StringRef path, llvm::ArrayRef<SymValue> arguments, int capability);

/// Returns whether a condition of the host program holds, if it is a name or a call with a known answer.
std::optional<bool> hostCondition(const Expr &condition, int capability);

} // namespace tile::frontend
