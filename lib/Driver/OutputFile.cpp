// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes files, with error messages that name the file.
#include "Driver/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::driver {
namespace {

/// Maximum size of an input: more than any handwritten or generated program, and less than the memory of a machine. The
/// front end has a lower limit for its own files.
constexpr size_t largestInput = size_t(512) << 20;

llvm::Error accessError(StringRef verb, StringRef path, std::error_code code) {
  std::string place =
      path != "-" ? formatv("'{0}'", path) : "standard " + std::string(verb == "read" ? "input" : "output");
  return llvm::createStringError(formatv("cannot {0} {1}: {2}", verb, place, code.message()));
}

/// Writes to a path that is not a regular file.
llvm::Error writeInPlace(StringRef path, StringRef contents) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return accessError("write", path, code);
  stream << contents;
  stream.flush();
  code = stream.error();
  stream.clear_error();
  return code ? accessError("write", path, code) : llvm::Error::success();
}

} // namespace

llvm::Expected<std::string> readInput(StringRef path) {
  if (path != "-" && llvm::sys::fs::is_directory(path))
    return accessError("read", path, std::make_error_code(std::errc::is_a_directory));
  auto tooLarge = [&] {
    return llvm::createStringError(
        formatv("'{0}' has more than {1} MiB", path == "-" ? "<stdin>" : path, largestInput >> 20));
  };
  uint64_t bytes = 0;
  if (path != "-" && !llvm::sys::fs::file_size(path, bytes) && bytes > largestInput)
    return tooLarge();
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::getStdinHandle();
  if (path != "-")
    file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return accessError("read", path, errorToErrorCode(file.takeError()));
  // Read in chunks, because a device or a pipe may never end.
  std::string contents;
  std::vector<char> part(1 << 20);
  llvm::Expected<size_t> count = 0;
  while ((count = llvm::sys::fs::readNativeFile(*file, part)) && *count != 0 && contents.size() <= largestInput)
    contents.append(part.data(), *count);
  if (path != "-")
    llvm::sys::fs::closeFile(*file);
  if (!count)
    return accessError("read", path, errorToErrorCode(count.takeError()));
  if (contents.size() > largestInput)
    return tooLarge();
  return contents;
}

llvm::Error writeOutput(StringRef path, StringRef contents) {
  llvm::sys::fs::file_status status;
  if (path == "-" || (!llvm::sys::fs::status(path, status) && status.type() != llvm::sys::fs::file_type::regular_file))
    return writeInPlace(path, contents);
  bool isReplaced = llvm::sys::fs::exists(status);
  llvm::SmallString<128> place(path);
  if (isReplaced) // resolve symbolic links
    if (std::error_code code = llvm::sys::fs::real_path(path, place))
      return accessError("write", path, code);
  auto file = llvm::sys::fs::TempFile::create(place + ".%%%%%%.tmp");
  if (!file)
    return accessError("write", path, errorToErrorCode(file.takeError()));
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << contents;
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  if (!code && isReplaced)
    code = llvm::sys::fs::setPermissions(file->FD, status.permissions());
  if (code) {
    consumeError(file->discard());
    return accessError("write", path, code);
  }
  if (llvm::Error error = file->keep(place))
    return accessError("write", path, errorToErrorCode(std::move(error)));
  return llvm::Error::success();
}

std::string dependencyRule(StringRef output, llvm::ArrayRef<std::string> files) {
  // Escape names as gcc does, which ninja and CMake understand: a backslash before a space, and before any backslashes
  // that precede it.
  auto escaped = [](StringRef name) {
    std::string text;
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == ' ' || name[i] == '\t') {
        for (size_t j = i; j > 0 && name[j - 1] == '\\'; --j)
          text += '\\';
        text += '\\';
      } else if (name[i] == '#') {
        text += '\\';
      } else if (name[i] == '$') {
        text += '$';
      }
      text += name[i];
    }
    return text;
  };
  std::string rule = escaped(output) + ":";
  for (const std::string &file : files)
    rule += " \\\n  " + escaped(file);
  return rule + "\n";
}

} // namespace tile::driver
