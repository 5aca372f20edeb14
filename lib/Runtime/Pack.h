// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pack contains the variants of one kernel. A .tilepack file is a pack, or several kernels (Bundle.h); a cubin with
// several variants has a pack in its section ".tile.variants".
//
//   "tilepack" | version 1, u32 | bytes of the index frame, u32 | index frame | frame | frame | ...
//   index, JSON: {"hash": "fnv1a64:...", "frames": [[offset, bytes, decompressed bytes], ...],
//                 "variants": [{"manifest": "{...}", "image": 0, "ptx": 1}, ...], "tuning": [2]}
//
// A frame is a zstd frame with a checksum, so corruption is detected and reported with the name of the variant. Equal
// images or PTX share a frame. Offsets count from the end of the index frame. A variant without "image" is the ELF that
// contains the pack, as is the first variant of a cubin. The same variants produce identical bytes.
//
// Variant 0 is the general one: it has all parameters of the kernel, and assumes only what every other variant assumes
// as well. Another variant may lack parameters that are among its constants; it serves only calls with these values.
#pragma once

#include "Runtime/ElfSection.h"
#include "Runtime/Manifest.h"

#include <memory>

namespace tile::runtime {

/// Maximum number of variants in a pack.
constexpr size_t maxVariants = 1024;

struct PackedVariant {
  Manifest manifest;
  std::string image; ///< the cubin, or PTX for the driver; empty: the ELF that contains the pack
  std::string ptx;   ///< the PTX from which the image was assembled; may be empty
};

/// Writes a pack. Rejects variants that cannot be distinguished, and a first variant that is not general.
Result<std::string> writePack(std::span<const PackedVariant> variants);

/// Returns the cubin of variant 0 with its manifest and a pack of all variants; with one variant, the result of
/// appendManifestSection. Ignores the image of variant 0.
Result<std::string> appendVariants(Bytes elfOfVariant0, std::span<const PackedVariant> variants);

bool isPack(Bytes bytes);

class Pack {
public:
  /// Reads a pack. Copies the bytes, but decompresses only the index.
  static Result<Pack> read(Bytes bytes);

  size_t size() const { return entries.size(); }
  const Manifest &manifest(size_t index) const { return entries[index].manifest; }
  const std::string &manifestText(size_t index) const { return entries[index].text; }
  /// Returns false if the image is the ELF that contains the pack.
  bool hasImage(size_t index) const { return entries[index].image.has_value(); }
  /// Returns true if there is PTX in addition to the image.
  bool hasPtx(size_t index) const { return entries[index].ptx.has_value(); }
  /// Returns the cubin or PTX of a variant for which hasImage or hasPtx is true.
  Result<std::string> image(size_t index) const;
  Result<std::string> ptx(size_t index) const;

  /// Returns the hash of manifests, images and PTX of all variants, which identifies the pack in tuning tables.
  const std::string &hash() const { return contentHash; }
  /// Returns the JSON of the tuning tables, one per device (Tuning.h). A damaged table is replaced by an error.
  std::vector<Result<std::string>> tuning() const;
  /// Returns the bytes of the pack with these tables instead of its own.
  std::string withTuning(std::span<const std::string> tables) const;

private:
  friend class PackWriter;
  struct Frame {
    uint64_t offset = 0, bytes = 0, contentBytes = 0;
  };
  struct Entry {
    Manifest manifest;
    std::string text; ///< text of the manifest
    std::optional<size_t> image, ptx;
  };
  Result<std::string> decompress(size_t frame) const;
  Status readIndex(std::string_view json, size_t frameBytes);

  std::shared_ptr<const std::string> contents;
  size_t firstFrame = 0; ///< end of the index frame
  std::vector<Frame> frames;
  std::vector<Entry> entries;
  std::vector<size_t> tables;
  std::string contentHash;
};

/// Returns "'aligned-128x256x64'", for messages.
std::string variantLabel(const Manifest &manifest);

} // namespace tile::runtime
