// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and appends sections of a 64-bit little-endian ELF; validates every offset.
#include "Runtime/ElfSection.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <vector>

namespace tile::runtime {
namespace {

Error malformedElf(std::string message) {
  return Error{TILE_ERROR_NOT_AN_ARTIFACT, "malformed ELF: " + std::move(message)};
}

/// Header, section headers and section names, copied because the bytes need not be aligned.
struct Sections {
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> headers;
  std::string_view names;
};

bool inBounds(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

Result<Sections> readSections(Bytes elf) {
  Sections sections;
  if (elf.size() < sizeof(Elf64_Ehdr))
    return malformedElf(fmt::format("{} bytes are too few for a header", elf.size()));
  std::memcpy(&sections.header, elf.data(), sizeof(Elf64_Ehdr));
  const Elf64_Ehdr &header = sections.header;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return malformedElf("not 64-bit little-endian");
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0)
    return malformedElf(fmt::format("{} section headers of {} bytes", header.e_shnum, header.e_shentsize));
  const uint64_t tableSize = uint64_t(header.e_shnum) * sizeof(Elf64_Shdr);
  if (!inBounds(header.e_shoff, tableSize, elf.size()))
    return malformedElf(fmt::format("section headers at offset {} with {} bytes lie outside the {} bytes of the file",
                                    header.e_shoff, tableSize, elf.size()));
  sections.headers.resize(header.e_shnum);
  std::memcpy(sections.headers.data(), elf.data() + header.e_shoff, tableSize);
  if (header.e_shstrndx >= header.e_shnum)
    return malformedElf(fmt::format("string table index {} of {} sections", header.e_shstrndx, header.e_shnum));
  const Elf64_Shdr &names = sections.headers[header.e_shstrndx];
  if (names.sh_type == SHT_NOBITS || !inBounds(names.sh_offset, names.sh_size, elf.size()))
    return malformedElf("the section names lie outside the file");
  sections.names = {reinterpret_cast<const char *>(elf.data()) + names.sh_offset, static_cast<size_t>(names.sh_size)};
  return sections;
}

std::string_view nameOf(const Sections &sections, const Elf64_Shdr &section) {
  if (section.sh_name >= sections.names.size())
    return {};
  const std::string_view remaining = sections.names.substr(section.sh_name);
  return remaining.substr(0, remaining.find('\0'));
}

Elf64_Shdr *findByName(Sections &sections, std::string_view name) {
  for (Elf64_Shdr &section : sections.headers)
    if (nameOf(sections, section) == name)
      return &section;
  return nullptr;
}

/// Mixes bytes into a hash state. Every step is invertible, so any change to a single word changes the result. Not
/// cryptographic: does not protect against deliberate collisions.
uint64_t mix(uint64_t state, std::string_view bytes) {
  constexpr uint64_t prime = 0x100000001b3;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), sizeof(uint64_t)))) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof(word)));
    state = std::rotl((state ^ word) * prime, 29);
  }
  return state;
}

constexpr uint64_t checksumBasis = 0xcbf29ce484222325;
constexpr size_t checksumDigits = 16; ///< digits of one checksum; the section contains two

/// Returns the checksum of the code, its constants, and the manifest: everything between the ELF header and the section
/// with the checksum.
std::string checksumOfContents(std::string_view bytes) {
  return fmt::format("{:016x}", mix(checksumBasis ^ bytes.size(), bytes));
}

/// Returns the checksum of everything else: the ELF header, PTX or variants, names and headers of sections. The
/// checksums themselves, which end at `end`, are excluded.
std::string checksumOfRest(std::string_view elf, size_t end) {
  const uint64_t ofHeader = mix(checksumBasis ^ elf.size(), elf.substr(0, sizeof(Elf64_Ehdr)));
  return fmt::format("{:016x}", mix(ofHeader, elf.substr(end)));
}

/// Appends the names and headers of the sections, and writes the second checksum if the ELF has a checksum section.
std::string finish(std::string out, Sections &sections, const std::string &names) {
  Elf64_Shdr &nameTable = sections.headers[sections.header.e_shstrndx];
  nameTable.sh_offset = out.size();
  nameTable.sh_size = names.size();
  out += names;
  out.resize((out.size() + 7) / 8 * 8, '\0'); // section headers are read as 64-bit words
  sections.header.e_shoff = out.size();
  sections.header.e_shnum = static_cast<Elf64_Half>(sections.headers.size());
  out.append(reinterpret_cast<const char *>(sections.headers.data()), sections.headers.size() * sizeof(Elf64_Shdr));
  std::memcpy(out.data(), &sections.header, sizeof(sections.header));
  sections.names = names;
  if (const Elf64_Shdr *checksum = findByName(sections, checksumSectionName);
      checksum && checksum->sh_size == 2 * checksumDigits &&
      inBounds(checksum->sh_offset, checksum->sh_size, out.size())) {
    const size_t end = checksum->sh_offset + checksum->sh_size;
    out.replace(end - checksumDigits, checksumDigits, checksumOfRest(out, end));
  }
  return out;
}

} // namespace

bool isElf(Bytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Result<std::string_view> findElfSection(Bytes elf, std::string_view name) {
  if (!isElf(elf))
    return Error{TILE_ERROR_NOT_AN_ARTIFACT, "not an ELF file"};
  Result<Sections> sections = readSections(elf);
  if (!sections)
    return sections.error();
  const Elf64_Shdr *section = findByName(*sections, name);
  if (!section)
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the ELF file has no section {}", name);
  if (section->sh_type == SHT_NOBITS || !inBounds(section->sh_offset, section->sh_size, elf.size()))
    return malformedElf(fmt::format("section {} at offset {} with {} bytes lies outside the {} bytes of the file", name,
                                    section->sh_offset, section->sh_size, elf.size()));
  return std::string_view(reinterpret_cast<const char *>(elf.data()) + section->sh_offset,
                          static_cast<size_t>(section->sh_size));
}

bool hasElfSection(Bytes elf, std::string_view name) {
  Result<Sections> sections = isElf(elf) ? readSections(elf) : Result<Sections>(malformedElf("no magic"));
  return sections && findByName(*sections, name);
}

Result<std::string> appendSections(Bytes elf, std::span<const NamedSection> added) {
  if (!isElf(elf))
    return Error{TILE_ERROR_NOT_AN_ARTIFACT, "not an ELF file"};
  Result<Sections> read = readSections(elf);
  if (!read)
    return read.error();
  Sections &sections = *read;
  for (const NamedSection &section : added)
    if (findByName(sections, section.name))
      return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the ELF file already has a section {}", section.name);
  if (sections.header.e_shnum + added.size() >= SHN_LORESERVE)
    return malformedElf(fmt::format("{} sections leave no room for {} more", sections.header.e_shnum, added.size()));

  std::string out(reinterpret_cast<const char *>(elf.data()), elf.size());
  std::string names(sections.names);
  if (!names.empty() && names.back() != '\0')
    names += '\0';
  for (const auto &[name, contents] : added) {
    Elf64_Shdr &section = sections.headers.emplace_back();
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = out.size();
    section.sh_size = contents.size();
    section.sh_addralign = 1;
    out += contents;
    names += name;
    names += '\0';
  }
  return finish(std::move(out), sections, names);
}

Result<std::string> replaceLastSection(Bytes elf, const NamedSection &replaced) {
  if (!isElf(elf))
    return Error{TILE_ERROR_NOT_AN_ARTIFACT, "not an ELF file"};
  Result<Sections> read = readSections(elf);
  if (!read)
    return read.error();
  if (Result<std::string_view> found = findElfSection(elf, replaced.name); !found)
    return found.error();
  Elf64_Shdr &section = *findByName(*read, replaced.name);
  for (size_t i = 0; i < read->headers.size(); ++i)
    if (const Elf64_Shdr &other = read->headers[i];
        &other != &section && i != read->header.e_shstrndx && other.sh_offset > section.sh_offset)
      return malformedElf(fmt::format("section {} is not the last one", replaced.name));
  std::string out(reinterpret_cast<const char *>(elf.data()), section.sh_offset);
  section.sh_size = replaced.contents.size();
  out += replaced.contents;
  const std::string names(read->names);
  return finish(std::move(out), *read, names);
}

Result<std::string> appendManifest(Bytes elf, std::string_view json, std::optional<NamedSection> last) {
  std::string body;
  if (elf.size() > sizeof(Elf64_Ehdr))
    body.assign(reinterpret_cast<const char *>(elf.data()) + sizeof(Elf64_Ehdr), elf.size() - sizeof(Elf64_Ehdr));
  const std::string checksum = checksumOfContents(body.append(json)) + std::string(checksumDigits, '0');
  std::vector<NamedSection> added = {{manifestSectionName, json}, {checksumSectionName, checksum}};
  if (last)
    added.push_back(*last);
  return appendSections(elf, added);
}

Result<std::string> appendManifestSection(Bytes elf, std::string_view json, std::string_view ptx) {
  return appendManifest(elf, json, ptx.empty() ? std::nullopt : std::optional(NamedSection{ptxSectionName, ptx}));
}

Status checkContents(Bytes elf) {
  if (!hasElfSection(elf, checksumSectionName))
    return Success{};
  Result<std::string_view> expected = findElfSection(elf, checksumSectionName);
  if (!expected)
    return expected.error();
  const std::string_view all(reinterpret_cast<const char *>(elf.data()), elf.size());
  const size_t end = static_cast<size_t>(expected->data() - all.data()) + expected->size();
  const size_t begin = std::min(sizeof(Elf64_Ehdr), end - expected->size());
  std::string found = checksumOfContents(all.substr(begin, end - expected->size() - begin));
  if (expected->size() != checksumDigits) // earlier versions have only the first checksum
    found += checksumOfRest(all, end);
  if (found != *expected)
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT,
                     "the artifact is damaged: its checksum is {}, not {}; compile or copy it again", found,
                     expected->substr(0, 2 * checksumDigits));
  return Success{};
}

Result<std::string_view> findPtxManifest(std::string_view ptx) {
  // Searches for the last occurrence, and accepts it only at the start of a line, so that a string in the PTX cannot be
  // mistaken for the manifest.
  size_t position = ptx.rfind(manifestCommentPrefix);
  while (position != std::string_view::npos && position > 0 && ptx[position - 1] != '\n')
    position = ptx.rfind(manifestCommentPrefix, position - 1);
  if (position == std::string_view::npos)
    return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the PTX has no '{}' line", manifestCommentPrefix.substr(0, 17));
  const std::string_view remaining = ptx.substr(position + manifestCommentPrefix.size());
  return remaining.substr(0, remaining.find_first_of("\r\n"));
}

Result<std::string> appendPtxManifest(std::string_view ptx, std::string_view json) {
  if (json.find_first_of("\r\n") != std::string_view::npos)
    return Error{TILE_ERROR_INVALID_ARGUMENT, "a manifest in PTX must be one line"};
  if (findPtxManifest(ptx))
    return Error{TILE_ERROR_NOT_AN_ARTIFACT, "the PTX already has a manifest"};
  std::string out(ptx);
  if (!out.empty() && out.back() != '\n')
    out += '\n';
  out += manifestCommentPrefix;
  out += json;
  out += '\n';
  return out;
}

} // namespace tile::runtime
