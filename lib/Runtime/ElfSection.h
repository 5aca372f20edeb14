// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes and reads the manifest inside an artifact, and the PTX of a cubin.
//
//   cubin:  [ELF as ptxas wrote it][manifest][checksum][PTX][string table + ".tile.manifest", ...][section headers + 3]
//           Only the ELF header (e_shoff, e_shnum) changes; existing offsets do not. The sections are SHT_PROGBITS and
//           not allocated, so the driver ignores them. The simulator runs the PTX. In a cubin with several variants
//           (Pack.h) the manifest describes the first one, and a pack, ".tile.variants", replaces the PTX.
//           ".tile.checksum" contains two checksums: of code and manifest, and of everything else. Damaged artifacts
//           are rejected, not launched.
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

/// Returns true if the ELF is readable and has a section with this name.
bool hasElfSection(Bytes elf, std::string_view name);

/// Returns the contents of the section with this name, as a view of `elf`. Fails for a malformed ELF or a missing
/// section.
Result<std::string_view> findElfSection(Bytes elf, std::string_view name);

struct NamedSection {
  std::string_view name, contents;
};

/// Returns the ELF with these sections appended. Rejects anything but a 64-bit little-endian ELF without these
/// sections.
Result<std::string> appendSections(Bytes elf, std::span<const NamedSection> added);

/// Returns the ELF with new contents in the last section that appendSections added.
Result<std::string> replaceLastSection(Bytes elf, const NamedSection &section);

/// Returns the ELF with the manifest and, unless it is empty, the PTX from which it was assembled. Rejects anything but
/// a 64-bit little-endian ELF without a manifest.
Result<std::string> appendManifestSection(Bytes elf, std::string_view json, std::string_view ptx = {});

/// Like appendManifestSection, but appends `last`, if given, after the manifest.
Result<std::string> appendManifest(Bytes elf, std::string_view json, std::optional<NamedSection> last);

/// Fails if any byte differs from what was written. Accepts an ELF without a checksum.
Status checkContents(Bytes elf);

/// Returns the JSON in the manifest comment of PTX.
Result<std::string_view> findPtxManifest(std::string_view ptx);

/// Returns the PTX with the manifest as its last line; `json` must be a single line.
Result<std::string> appendPtxManifest(std::string_view ptx, std::string_view json);

} // namespace tile::runtime
