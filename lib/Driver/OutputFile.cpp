// Input and output with error texts that name the file.
#include "Driver/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::driver {
namespace {

llvm::Error cannot(StringRef verb, StringRef path, std::error_code code) {
  return llvm::createStringError(formatv("cannot {0} '{1}': {2}", verb, path, code.message()));
}

/// For what is no regular file.
llvm::Error writeInPlace(StringRef path, StringRef contents) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return cannot("write", path, code);
  stream << contents;
  stream.flush();
  code = stream.error();
  stream.clear_error();
  return code ? cannot("write", path == "-" ? "<stdout>" : path, code) : llvm::Error::success();
}

} // namespace

llvm::Expected<std::string> readInput(StringRef path) {
  if (path != "-" && llvm::sys::fs::is_directory(path))
    return cannot("read", path, std::make_error_code(std::errc::is_a_directory));
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return cannot("read", path, buffer.getError());
  return (*buffer)->getBuffer().str();
}

llvm::Error writeOutput(StringRef path, StringRef contents) {
  llvm::sys::fs::file_status status;
  if (path == "-" || (!llvm::sys::fs::status(path, status) && status.type() != llvm::sys::fs::file_type::regular_file))
    return writeInPlace(path, contents);
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!file)
    return cannot("write", path, errorToErrorCode(file.takeError()));
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << contents;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    consumeError(file->discard());
    return cannot("write", path, code);
  }
  if (llvm::Error error = file->keep(path))
    return cannot("write", path, errorToErrorCode(std::move(error)));
  return llvm::Error::success();
}

} // namespace tile::driver
