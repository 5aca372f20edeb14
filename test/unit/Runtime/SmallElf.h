// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The smallest ELF with named sections, built in memory: null section, .text with four bytes, .shstrtab.
#pragma once

#include <cstring>
#include <elf.h>
#include <string>

namespace tile::test {

inline std::string smallElf() {
  const std::string names = std::string("\0.text\0.shstrtab\0", 17);
  const std::string text = "code";
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = 190; // EM_CUDA
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof(header) + 24; // 4 bytes of text, 17 of names, 3 of padding
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof(header);
  sections[1].sh_size = text.size();
  sections[2].sh_name = 7;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof(header) + text.size();
  sections[2].sh_size = names.size();
  std::string elf(reinterpret_cast<const char *>(&header), sizeof(header));
  elf += text + names + std::string(3, '\0');
  elf.append(reinterpret_cast<const char *>(sections), sizeof(sections));
  return elf;
}

} // namespace tile::test
