// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the CUDA toolkit is. The caller gives the folders to search, so nothing here reads the environment.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tile::codegen {

/// Folders such as /usr/local/cuda (toolkit roots), in order of preference.
struct ToolkitSearch {
  std::string ptxas;              ///< a file given by the user; empty: search
  std::vector<std::string> roots; ///< each may hold bin/ptxas and nvvm/libdevice/libdevice.10.bc
  std::vector<std::string> paths; ///< folders with executables, as in PATH
};

std::optional<std::string> findPtxas(const ToolkitSearch &search);
std::optional<std::string> findNvdisasm(const ToolkitSearch &search);
/// Also looks beside the ptxas that was found.
std::optional<std::string> findLibdevice(const ToolkitSearch &search);

} // namespace tile::codegen
