// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/MemoryFile.h"

#include "Codegen/Subprocess.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {

llvm::Expected<std::unique_ptr<MemoryFile>> MemoryFile::create(StringRef content) {
  auto cannot = [](StringRef action, const char *reason) {
    return llvm::make_error<EnvironmentError>(formatv("cannot {0} a file in memory: {1}", action, reason).str());
  };
  int descriptor = memfd_create("tilec", MFD_CLOEXEC);
  if (descriptor < 0)
    return cannot("create", std::strerror(errno));
  auto file = std::make_unique<MemoryFile>(descriptor);
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << content;
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  if (error)
    return cannot("write", error.message().c_str());
  return file;
}

MemoryFile::~MemoryFile() {
  close(descriptor);
}

llvm::Expected<std::string> MemoryFile::read() const {
  constexpr uint64_t wholeFile = -1;
  auto buffer = llvm::MemoryBuffer::getOpenFile(descriptor, path(), wholeFile, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::make_error<EnvironmentError>(
        formatv("cannot read a file in memory: {0}", buffer.getError().message()).str());
  return (*buffer)->getBuffer().str();
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

} // namespace tile::codegen
