// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An in-memory file, used to run a program that reads or writes files. It exists in no folder and can be opened only
// through its descriptor, so it disappears when the process ends, even if the process is killed.
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
  /// Returns a path that a program can open if it inherits the descriptor (runProgram).
  std::string path() const;

  const int descriptor; ///< close-on-exec
};

} // namespace tile::codegen
