// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file in memory for a program that reads or writes one. Nothing is left of it, however a process ends, and it needs
// no folder: it has no name but that of its descriptor.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace tile::codegen {

class MemoryFile {
public:
  static llvm::Expected<std::unique_ptr<MemoryFile>> create(llvm::StringRef content = "");
  explicit MemoryFile(int descriptor) : descriptor(descriptor) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;

  llvm::Expected<std::string> read() const;
  /// For a program that inherits the descriptor (runProgram).
  std::string path() const;

  const int descriptor; ///< closed where another program starts
};

} // namespace tile::codegen
