// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Disassembles a cubin to SASS with nvdisasm, with source lines if the cubin has line tables.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tile::codegen {

struct SassLine {
  std::string text;  ///< an instruction or a label
  std::string file;  ///< source file; empty if unknown
  unsigned line = 0; ///< counted from 1
};

/// Parses the output of `nvdisasm -g -c`; returns only the code.
std::vector<SassLine> parseSass(llvm::StringRef text);

llvm::Expected<std::vector<SassLine>> runNvdisasm(llvm::StringRef nvdisasm, llvm::StringRef cubin);

} // namespace tile::codegen
