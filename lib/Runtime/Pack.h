// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pack: the variants of one kernel in one piece of bytes. A .tilepack file is one; a cubin with several variants has
// one in its section ".tile.variants".
//
//   "tilepack" | version, u32 | bytes of the index frame, u32 | index frame | frame | frame | ...
//   index, JSON: {"hash": "fnv1a64:...", "frames": [[offset, bytes, bytes inside], ...],
//                 "variants": [{"manifest": "{...}", "image": 0, "ptx": 1}, ...], "tuning": [2]}
//
// A frame is one of zstd, with a checksum, so that damage is found, and said with the variant's name. There is one for
// each different image and each PTX; offsets count from the end of the index frame. A variant without "image" is the
// ELF that contains the pack: the first of a cubin. The same variants make the same bytes.
//
// Variant 0 is general: it has all parameters of the kernel, and promises nothing that another does not. Another may
// lack parameters, which then are among its constants: it serves calls with these values.
#pragma once

#include "Runtime/ElfSection.h"
#include "Runtime/Manifest.h"

#include <memory>

namespace tile::runtime {

/// Most variants of a pack.
constexpr size_t mostVariants = 1024;

struct PackedVariant {
  Manifest manifest;
  std::string image; ///< the cubin, or PTX for the driver; empty: the ELF that contains the pack
  std::string ptx;   ///< that it was made from; may be empty
};

/// Refuses variants that cannot be told apart, or without a general one in front.
Result<std::string> writePack(std::span<const PackedVariant> variants);

/// The cubin of variant 0 with its manifest, and a pack of all variants; with one variant, what appendManifestSection
/// makes. The image of variant 0 is not looked at.
Result<std::string> appendVariants(Bytes elfOfVariant0, std::span<const PackedVariant> variants);

bool isPack(Bytes bytes);

class Pack {
public:
  /// Copies the bytes, and decompresses the index only.
  static Result<Pack> read(Bytes bytes);

  size_t size() const { return entries.size(); }
  const Manifest &manifest(size_t index) const { return entries[index].manifest; }
  const std::string &manifestText(size_t index) const { return entries[index].text; }
  /// False: its image is the ELF that contains the pack.
  bool hasImage(size_t index) const { return entries[index].image.has_value(); }
  /// Whether there is PTX beside the image.
  bool hasPtx(size_t index) const { return entries[index].ptx.has_value(); }
  /// The cubin or PTX of a variant that has one here.
  Result<std::string> image(size_t index) const;
  Result<std::string> ptx(size_t index) const;

  /// Of manifests, images and PTX of all variants: what tuning tables are for.
  const std::string &hash() const { return contentHash; }
  /// The texts of tuning tables, one a device (Tuning.h); a damaged one is an error in its place.
  std::vector<Result<std::string>> tuning() const;
  /// The pack with other tables.
  std::string withTuning(std::span<const std::string> tables) const;

private:
  friend class PackWriter;
  struct Frame {
    uint64_t offset = 0, bytes = 0, contentBytes = 0;
  };
  struct Entry {
    Manifest manifest;
    std::string text; ///< of the manifest
    std::optional<size_t> image, ptx;
  };
  Result<std::string> decompress(size_t frame) const;
  Status readIndex(std::string_view json, size_t frameBytes);

  std::shared_ptr<const std::string> contents;
  size_t firstFrame = 0; ///< where the index frame ends
  std::vector<Frame> frames;
  std::vector<Entry> entries;
  std::vector<size_t> tables;
  std::string contentHash;
};

/// "'aligned-128x256x64'", for messages.
std::string variantLabel(const Manifest &manifest);

} // namespace tile::runtime
