// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/TemporaryFile.h"

#include "Codegen/Subprocess.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {

llvm::Expected<std::unique_ptr<TemporaryFile>> TemporaryFile::create(StringRef suffix, bool deletesOnSignal) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("tilec", suffix, path)) {
    llvm::SmallString<128> folder;
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
    return llvm::make_error<EnvironmentError>(formatv("cannot create a temporary file in '{0}': {1}; set TMPDIR "
                                                      "to another",
                                                      folder, error.message())
                                                  .str());
  }
  return std::make_unique<TemporaryFile>(path, deletesOnSignal);
}

TemporaryFile::TemporaryFile(StringRef path, bool deletesOnSignal) : path(path), deletesOnSignal(deletesOnSignal) {
  if (deletesOnSignal)
    llvm::sys::RemoveFileOnSignal(path);
}

TemporaryFile::~TemporaryFile() {
  llvm::sys::fs::remove(path);
  if (deletesOnSignal)
    llvm::sys::DontRemoveFileOnSignal(path);
}

llvm::Error TemporaryFile::write(StringRef text) const {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error)
    stream << text;
  stream.close();
  if (!error)
    error = stream.error();
  stream.clear_error();
  if (!error)
    return llvm::Error::success();
  return llvm::make_error<EnvironmentError>(formatv("cannot write '{0}': {1}", path, error.message()).str());
}

llvm::Expected<std::string> TemporaryFile::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::make_error<EnvironmentError>(
        formatv("cannot read '{0}': {1}", path, buffer.getError().message()).str());
  return (*buffer)->getBuffer().str();
}

} // namespace tile::codegen
