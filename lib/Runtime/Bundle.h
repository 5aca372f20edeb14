// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bundle contains the artifacts of several kernels, each found by a name. It is a .tilepack file of version 2:
//
//   "tilepack" | version 2, u32 | bytes of the index frame, u32 | index frame | frame | frame | ...
//   index, JSON: {"kernels": [{"name": "matmul", "frame": [offset, bytes, decompressed bytes]}, ...]}
//
// Each frame is a zstd frame with a checksum that contains a cubin, PTX or a pack of variants (Pack.h). Offsets count
// from the end of the index frame. The same artifacts produce identical bytes.
#pragma once

#include "Runtime/ElfSection.h"
#include "Runtime/Result.h"

#include <vector>

namespace tile::runtime {

/// Maximum number of kernels in a bundle.
constexpr size_t maxKernels = 4096;

struct NamedArtifact {
  std::string name; ///< letters, digits and ".+_-", not empty
  std::string bytes;
};

/// Writes a bundle. Rejects duplicate names and names with other characters.
Result<std::string> writeBundle(std::span<const NamedArtifact> artifacts);

bool isBundle(Bytes bytes);

class Bundle {
public:
  /// Decompresses the index. Does not copy the bytes, which must outlive the bundle.
  static Result<Bundle> read(Bytes bytes);

  size_t size() const { return entries.size(); }
  const std::string &name(size_t index) const { return entries[index].name; }
  /// Returns the index of the kernel with this name. The error lists the names that exist.
  Result<size_t> find(std::string_view name) const;
  /// Returns the bytes of an artifact.
  Result<std::string> artifact(size_t index) const;
  /// Returns "a, b, c"; if there are many names, the first ones and the total number.
  std::string describeNames() const;

private:
  struct Entry {
    std::string name;
    uint64_t offset = 0, bytes = 0, contentBytes = 0;
  };
  Bytes frames;
  std::vector<Entry> entries;
};

} // namespace tile::runtime
