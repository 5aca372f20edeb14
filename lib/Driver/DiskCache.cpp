// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses llvm::sys::fs throughout, except for TempFile, which installs signal handlers in the process.
#include "Driver/DiskCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace tile::driver {
namespace {

constexpr StringRef magic = "tileca01";
constexpr size_t sizePlace = 8, hashPlace = 16, headerBytes = 48;
constexpr StringRef suffix = ".tilecache";
/// A temporary file older than this belongs to a dead writer.
constexpr std::chrono::hours longestWrite(1);

std::string checksum(StringRef key, StringRef contents) {
  llvm::SHA256 hash;
  hash.update(key);
  hash.update(contents);
  std::array<uint8_t, 32> sum = hash.final();
  return {reinterpret_cast<const char *>(sum.data()), sum.size()};
}

llvm::Error cannot(StringRef verb, StringRef path, std::error_code code) {
  return llvm::createStringError(llvm::formatv("cannot {0} '{1}': {2}", verb, path, code.message()));
}

} // namespace

std::string DiskCache::keyOf(llvm::ArrayRef<std::string> parts) {
  llvm::SHA256 hash;
  for (const std::string &part : parts) {
    char size[8];
    llvm::support::endian::write64le(size, part.size());
    hash.update(StringRef(size, sizeof size));
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string DiskCache::pathOf(StringRef key) const {
  return shardOf(key) + "/" + key.str() + suffix.str();
}

std::optional<std::string> DiskCache::find(StringRef key) const {
  std::string path = pathOf(key);
  // Read regular files only, because pipes and devices may never end.
  fs::file_status status;
  if (fs::status(path, status) || status.type() != fs::file_type::regular_file || status.getSize() > shardBytes())
    return std::nullopt;
  // Read the file rather than map it, because another machine may truncate it.
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!file)
    return std::nullopt;
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() < headerBytes || !bytes.starts_with(magic))
    return std::nullopt;
  StringRef contents = bytes.drop_front(headerBytes);
  if (llvm::support::endian::read64le(bytes.data() + sizePlace) != contents.size() ||
      bytes.slice(hashPlace, headerBytes) != checksum(key, contents))
    return std::nullopt;
  int handle = 0;
  if (!fs::openFileForWrite(path, handle, fs::CD_OpenExisting, fs::OF_Append)) {
    // Refresh the access time; a read-only cache is not an error.
    fs::setLastAccessAndModificationTime(handle, std::chrono::system_clock::now());
    fs::closeFile(handle);
  }
  return contents.str();
}

llvm::Error DiskCache::store(StringRef key, StringRef contents) const {
  if (headerBytes + contents.size() > shardBytes())
    return llvm::createStringError(
        llvm::formatv("{0} bytes exceed 1/16 of the cache size ({1} bytes)", contents.size(), maxBytes));
  std::string shard = shardOf(key), path = pathOf(key);
  if (std::error_code code = fs::create_directories(shard, /*IgnoreExisting=*/true, fs::owner_all))
    return cannot("create the folder", shard, code);
  int handle = 0;
  llvm::SmallString<256> temporary;
  if (std::error_code code = fs::createUniqueFile(shard + "/%%%%%%%%%%%%.tmp", handle, temporary, fs::OF_None,
                                                  fs::owner_read | fs::owner_write))
    return cannot("write to", shard, code);
  std::error_code failed;
  {
    llvm::raw_fd_ostream stream(handle, /*shouldClose=*/true);
    char size[8];
    llvm::support::endian::write64le(size, contents.size());
    stream << magic << StringRef(size, sizeof size) << checksum(key, contents) << contents;
    stream.close(); // network file systems report errors on close
    failed = stream.error();
    stream.clear_error();
  }
  if (!failed)
    failed = fs::rename(temporary, path);
  if (failed) {
    fs::remove(temporary);
    return cannot("write", path, failed);
  }
  evict(shard);
  return llvm::Error::success();
}

void DiskCache::evict(StringRef shard) const {
  struct File {
    std::string path;
    uint64_t bytes;
    llvm::sys::TimePoint<> used;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code code;
  llvm::sys::TimePoint<> now = std::chrono::system_clock::now();
  // Another process may remove listed files concurrently.
  for (fs::directory_iterator entry(shard, code), end; !code && entry != end; entry.increment(code)) {
    fs::file_status status;
    if (fs::status(entry->path(), status))
      continue;
    if (StringRef(entry->path()).ends_with(".tmp")) {
      if (now - status.getLastModificationTime() > longestWrite)
        fs::remove(entry->path());
      continue;
    }
    if (!StringRef(entry->path()).ends_with(suffix))
      continue;
    files.push_back({entry->path(), status.getSize(), status.getLastModificationTime()});
    total += status.getSize();
  }
  if (total <= shardBytes())
    return;
  llvm::sort(files, [](const File &a, const File &b) { return a.used < b.used; });
  uint64_t wanted = shardBytes() / 10 * 9; // hysteresis, so that not every writer has to evict
  for (const File &file : files) {
    if (total <= wanted)
      break;
    fs::remove(file.path);
    total -= file.bytes;
  }
}

} // namespace tile::driver
