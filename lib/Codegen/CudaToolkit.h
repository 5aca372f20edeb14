// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Location of the CUDA toolkit. The caller provides the folders to search, so this code does not read the environment.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tile::codegen {

/// Search locations: toolkit roots such as /usr/local/cuda, in order of preference.
struct ToolkitSearch {
  std::string ptxas;              ///< a file given by the user; empty: search
  std::vector<std::string> roots; ///< each may hold bin/ptxas and nvvm/libdevice/libdevice.10.bc
  std::vector<std::string> paths; ///< folders with executables, as in PATH
};

std::optional<std::string> findPtxas(const ToolkitSearch &search);
std::optional<std::string> findNvdisasm(const ToolkitSearch &search);
/// Returns the path of libdevice; also searches relative to the ptxas that was found.
std::optional<std::string> findLibdevice(const ToolkitSearch &search);

} // namespace tile::codegen
