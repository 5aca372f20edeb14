// A file for a program that reads or writes one.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace tile::codegen {

/// Disappears with the object, and when the process is interrupted.
class TemporaryFile {
public:
  static llvm::Expected<std::unique_ptr<TemporaryFile>> create(llvm::StringRef suffix);
  explicit TemporaryFile(llvm::StringRef path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;

  llvm::Error write(llvm::StringRef text) const;
  llvm::Expected<std::string> read() const;

  const std::string path;
};

} // namespace tile::codegen
