// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file for a program that reads or writes one.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace tile::codegen {

/// Disappears with the object and, if it may, when the process is interrupted, which takes handlers of signals.
class TemporaryFile {
public:
  static llvm::Expected<std::unique_ptr<TemporaryFile>> create(llvm::StringRef suffix, bool deletesOnSignal = true);
  TemporaryFile(llvm::StringRef path, bool deletesOnSignal);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;

  llvm::Error write(llvm::StringRef text) const;
  llvm::Expected<std::string> read() const;

  const std::string path;

private:
  bool deletesOnSignal;
};

} // namespace tile::codegen
