// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parameter of a kernel, and the arguments of a launch that it stands for.

#pragma once

#include "Frontend/Values/SymValue.h"

namespace tile::frontend {

struct KernelParameter {
  DType type;
  int divisibility = 1;
  std::optional<SymValue> constant;       // for a compile-time parameter
  bool isOpen = false;                    // `auto`: the constant is not chosen yet
  bool isDefault = false;                 // the constant is the parameter's default
  std::vector<int64_t> block;             // of a tensor descriptor; `type` is its element type
  bool padsNan = false;                   // of a descriptor: reads out of bounds are NaN
  std::map<std::string, int> assumptions; // assumptions about its arguments
  bool isTuple = false;                   // `elements` are separate arguments
  std::vector<KernelParameter> elements;
  std::vector<std::string> fields;   // names of a named tuple's elements
  const ClassStmt *record = nullptr; // class of the named tuple, if there is one
};
using ResolvedParameters = std::map<std::string, std::optional<KernelParameter>>;

/// An argument that the launcher passes.
struct KernelArgument {
  std::string name;
  DType type;
  int divisibility = 1;
};

} // namespace tile::frontend
