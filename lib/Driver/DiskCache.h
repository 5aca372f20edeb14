// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A content-addressed cache of results in files. Processes and machines may share the folder, even over a network file
// system, because the cache uses no locks.
//
//   FOLDER/3/3f0c….tilecache    magic, size, SHA-256 of key and contents, contents
//
// * A file is written under a temporary name and renamed, so a killed writer never leaves a partial entry.
// * The checksum is verified on each read; a corrupt, truncated or foreign entry counts as a miss.
// * Each of the sixteen shards has a sixteenth of the capacity. If a shard is too full, a writer evicts its least
//   recently used entries and the temporary files of killed writers. Results larger than a shard are not cached.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tile::driver {

class DiskCache {
public:
  DiskCache(std::string folder, uint64_t maxBytes) : folder(std::move(folder)), maxBytes(maxBytes) {}

  /// Returns the key of a result, a hash of the parts and their boundaries.
  static std::string keyOf(llvm::ArrayRef<std::string> parts);

  std::optional<std::string> find(llvm::StringRef key) const;
  /// Stores a result. On failure returns the reason why it was not cached; callers may ignore it.
  llvm::Error store(llvm::StringRef key, llvm::StringRef contents) const;

private:
  std::string shardOf(llvm::StringRef key) const { return folder + "/" + key.take_front(1).str(); }
  std::string pathOf(llvm::StringRef key) const;
  uint64_t shardBytes() const { return maxBytes / shards; }
  void evict(llvm::StringRef shard) const;

  static constexpr uint64_t shards = 16; ///< one per hexadecimal digit

  std::string folder;
  uint64_t maxBytes;
};

} // namespace tile::driver
