// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results by what they are made of, in files. Processes and machines may share the folder, also by a network file
// system: there are no locks.
//
//   FOLDER/3/3f0c….tilecache    magic, size, SHA-256 of key and contents, contents
//
// * A file is written beside its place and renamed, so that there is all of it or none, whenever the writer is killed.
// * Its checksum is verified at each reading; what is damaged, cut off or of another key counts as absent.
// * Sixteen folders have a sixteenth of the room each. Who writes removes from one, while it is too full, what was not
//   read for the longest time, and what killed writers left. Bigger results are not kept.
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

  /// What identifies a result: the parts, and where each ends.
  static std::string keyOf(llvm::ArrayRef<std::string> parts);

  std::optional<std::string> find(llvm::StringRef key) const;
  /// That a result is not kept is not the caller's mistake; the error says why.
  llvm::Error store(llvm::StringRef key, llvm::StringRef contents) const;

private:
  std::string shardOf(llvm::StringRef key) const { return folder + "/" + key.take_front(1).str(); }
  std::string pathOf(llvm::StringRef key) const;
  uint64_t shardBytes() const { return maxBytes / shards; }
  void evict(llvm::StringRef shard) const;

  static constexpr uint64_t shards = 16; ///< values of a hexadecimal digit

  std::string folder;
  uint64_t maxBytes;
};

} // namespace tile::driver
