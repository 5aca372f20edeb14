// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/FatBinary.h"

#include "Runtime/ElfSection.h"
#include "Runtime/Zstd.h"

#include <cstring>
#include <elf.h>
#include <vector>

namespace tile::sim {

using runtime::makeError;
using runtime::Result;

namespace {

struct Wrapper {
  uint32_t magic, version;
  const void *contents;
};
constexpr uint32_t wrapperMagic = 0x466243b1;

struct FatHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t bytes;
};
constexpr uint32_t fatMagic = 0xba55ed50;

struct EntryHeader {
  uint16_t kind, version;
  uint32_t headerBytes;
  uint64_t bytes; ///< including padding
  uint32_t compressedBytes, options;
  uint16_t minor, major;
  uint32_t architecture;
  uint64_t name, flags, reserved, decompressedBytes;
};
static_assert(sizeof(EntryHeader) == 64);
constexpr uint16_t kindPtx = 1;
constexpr uint64_t flagLz4 = 0x2000, flagZstd = 0x8000;
constexpr uint64_t maxBytes = 64 << 20;

struct Entry {
  EntryHeader header;
  std::string_view contents;
};

Result<std::string> textOf(const Entry &entry) {
  const bool isCompressed = entry.header.flags & (flagLz4 | flagZstd);
  const size_t used = isCompressed ? entry.header.compressedBytes : entry.contents.size();
  if (used > entry.contents.size() || entry.header.decompressedBytes > maxBytes)
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT,
                     "the fat binary is damaged: an entry of {} bytes has {} compressed "
                     "bytes",
                     entry.contents.size(), used);
  const std::string_view contents = entry.contents.substr(0, used);
  Result<std::string> text = entry.header.flags & flagZstd  ? runtime::decompressFrame(contents, maxBytes)
                             : entry.header.flags & flagLz4 ? decompressLz4(contents, entry.header.decompressedBytes)
                                                            : Result<std::string>(std::string(contents));
  if (text)
    text->resize(strnlen(text->data(), text->size())); // the text is padded with zeros
  return text;
}

Result<std::string> findInFatBinary(const std::byte *image, unsigned capability) {
  FatHeader header;
  std::memcpy(&header, image, sizeof(header));
  std::vector<Entry> entries;
  for (uint64_t at = 0; at + sizeof(EntryHeader) <= header.bytes;) {
    Entry entry;
    const std::byte *begin = image + header.headerBytes + at;
    std::memcpy(&entry.header, begin, sizeof(entry.header));
    const uint64_t left = header.bytes - at;
    if (entry.header.headerBytes < sizeof(EntryHeader) || entry.header.headerBytes > left ||
        entry.header.bytes > left - entry.header.headerBytes)
      return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the fat binary is damaged: its entry at byte {} has {} bytes", at,
                       entry.header.bytes);
    entry.contents = {reinterpret_cast<const char *>(begin) + entry.header.headerBytes, entry.header.bytes};
    at += entry.header.headerBytes + entry.header.bytes;
    if (entry.header.kind == kindPtx)
      entries.push_back(entry);
  }
  const Entry *best = nullptr;
  for (const Entry &entry : entries) {
    const bool fits = entry.header.architecture <= capability,
               bestFits = best && best->header.architecture <= capability;
    if (!best || (fits && !bestFits) || (fits == bestFits && entry.header.architecture > best->header.architecture))
      best = &entry;
  }
  if (!best)
    return makeError(TILE_ERROR_ARCHITECTURE, "the fat binary has no PTX; compile with -gencode "
                                              "arch=compute_XY,code=compute_XY");
  return textOf(*best);
}

} // namespace

Result<std::string> decompressLz4(std::string_view block, size_t bytes) {
  const auto damaged = [&] {
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the LZ4 block is damaged: its {} bytes do not give {}", block.size(),
                     bytes);
  };
  std::string text;
  size_t at = 0;
  // A length of 15 is extended by the following bytes, up to and including the first byte that is not 255.
  auto takeLength = [&](unsigned nibble) -> std::optional<size_t> {
    size_t length = nibble;
    for (unsigned next = nibble == 15 ? 255 : 0; next == 255; length += next) {
      if (at == block.size() || length > bytes)
        return std::nullopt;
      next = uint8_t(block[at++]);
    }
    return length;
  };
  while (at < block.size()) {
    const unsigned token = uint8_t(block[at++]);
    const std::optional<size_t> literals = takeLength(token >> 4);
    if (!literals || *literals > block.size() - at || *literals > bytes - text.size())
      return damaged();
    text += block.substr(at, *literals);
    at += *literals;
    if (at == block.size()) // the last sequence has literals only
      break;
    if (block.size() - at < 2)
      return damaged();
    const size_t distance = uint8_t(block[at]) | uint8_t(block[at + 1]) << 8;
    at += 2;
    const std::optional<size_t> match = takeLength(token & 15);
    constexpr size_t minMatch = 4;
    if (!match || distance == 0 || distance > text.size() || *match + minMatch > bytes - text.size())
      return damaged();
    for (size_t i = 0; i < *match + minMatch; ++i)
      text += text[text.size() - distance];
  }
  if (text.size() != bytes)
    return damaged();
  return text;
}

Result<std::string> findPtx(const void *image, unsigned capability) {
  uint32_t magic = 0;
  std::memcpy(&magic, image, strnlen(static_cast<const char *>(image), sizeof(magic)));
  if (std::memcmp(&magic, ELFMAG, SELFMAG) == 0) {
    // The driver API passes no size. tilec's ELF files end with their section header table, which gives the size.
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof(header));
    const runtime::Bytes elf(static_cast<const uint8_t *>(image),
                             header.e_shoff + size_t(header.e_shentsize) * header.e_shnum);
    Result<std::string_view> ptx = runtime::findElfSection(elf, runtime::ptxSectionName);
    if (!ptx)
      return makeError(TILE_ERROR_ARCHITECTURE, "{}", ptx.error().message);
    return std::string(*ptx);
  }
  if (magic == wrapperMagic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof(wrapper));
    if (!wrapper.contents)
      return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the wrapper of a fat binary has no contents");
    image = wrapper.contents;
    std::memcpy(&magic, image, sizeof(magic));
  }
  if (magic == fatMagic)
    return findInFatBinary(static_cast<const std::byte *>(image), capability);
  return std::string(static_cast<const char *>(image));
}

} // namespace tile::sim
