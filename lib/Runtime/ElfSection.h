// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest inside an artifact, and the PTX of a cubin: writer and reader side by side, so that both are tested
// together.
//
//   cubin:  [ELF as ptxas wrote it][manifest][checksum][PTX][string table + ".tile.manifest", ...][section headers + 3]
//           Only the ELF header (e_shoff, e_shnum) changes; every old offset stays. The sections are SHT_PROGBITS and
//           not allocated, so the driver ignores them. The simulator runs the PTX. Of a cubin with several variants
//           (Pack.h) the manifest is that of the first, and instead of the PTX there is a pack, ".tile.variants".
//           ".tile.checksum" has two: of code and manifest, and of all the rest. What is damaged is refused, not
//           launched.
//   PTX:    the last line is `// tile.manifest: {...}`.
#pragma once

#include "Runtime/Result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tile::runtime {

using Bytes = std::span<const uint8_t>;

constexpr std::string_view manifestSectionName = ".tile.manifest";
constexpr std::string_view ptxSectionName = ".tile.ptx";
constexpr std::string_view checksumSectionName = ".tile.checksum";
constexpr std::string_view variantsSectionName = ".tile.variants";
constexpr std::string_view manifestCommentPrefix = "// tile.manifest: ";

bool isElf(Bytes bytes);

/// Whether the ELF is readable and has such a section.
bool hasElfSection(Bytes elf, std::string_view name);

/// Contents of the section with this name; an error for a malformed ELF or when there is no such section. The view
/// points into `elf`.
Result<std::string_view> findElfSection(Bytes elf, std::string_view name);

struct NamedSection {
  std::string_view name, contents;
};

/// The ELF with these sections appended. Refuses what is not a 64-bit little-endian ELF or already has one of them.
Result<std::string> appendSections(Bytes elf, std::span<const NamedSection> added);

/// The ELF with other contents in the last section that appendSections added.
Result<std::string> replaceLastSection(Bytes elf, const NamedSection &section);

/// The ELF with the manifest appended and, unless it is empty, the PTX that it was made from. Refuses what is not a
/// 64-bit little-endian ELF or already has a manifest.
Result<std::string> appendManifestSection(Bytes elf, std::string_view json, std::string_view ptx = {});

/// The same with another section behind it, or none.
Result<std::string> appendManifest(Bytes elf, std::string_view json, std::optional<NamedSection> last);

/// An error if anything is not as it was written. An ELF without a checksum is taken as it is.
Status checkContents(Bytes elf);

/// The JSON in the manifest comment of a PTX text.
Result<std::string_view> findPtxManifest(std::string_view ptx);

/// The PTX with the manifest as its last line; `json` must be one line.
Result<std::string> appendPtxManifest(std::string_view ptx, std::string_view json);

} // namespace tile::runtime
