// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cubin -> SASS by NVIDIA's disassembler, with the source lines of a cubin that has line tables.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tile::codegen {

struct SassLine {
  std::string text;  ///< an instruction or a label
  std::string file;  ///< of the source; empty: not known
  unsigned line = 0; ///< from 1
};

/// What `nvdisasm -g -c` prints, parsed: the code alone.
std::vector<SassLine> parseSass(llvm::StringRef text);

llvm::Expected<std::vector<SassLine>> runNvdisasm(llvm::StringRef nvdisasm, llvm::StringRef cubin);

} // namespace tile::codegen
