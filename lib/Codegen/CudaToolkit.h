// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the CUDA toolkit. The caller provides the folders to search, so this code does not read the environment.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tile::codegen {

/// The locations in which to search for the toolkit.
struct ToolkitSearch {
  std::string ptxas;              ///< the path given by the user; if empty, ptxas is searched for
  std::vector<std::string> roots; ///< toolkit roots, such as /usr/local/cuda, in order of preference
  std::vector<std::string> paths; ///< folders that contain executables, as in PATH
};

std::optional<std::string> findPtxas(const ToolkitSearch &search);
std::optional<std::string> findNvdisasm(const ToolkitSearch &search);
/// Returns the path of libdevice; also searches the toolkit to which the found ptxas belongs.
std::optional<std::string> findLibdevice(const ToolkitSearch &search);

} // namespace tile::codegen
