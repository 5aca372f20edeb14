// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code for tests: an ELF with one section, whose instructions are encoded as nvdisasm decodes them for sm_90a.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Words {
  uint64_t low, high;
};
constexpr Words other{0x0000000000007918, 0x000fc00000000000}; // NOP

/// BRA by this number of instructions; 0 branches to itself.
inline Words branch(int64_t instructions) {
  uint64_t units = uint64_t((instructions - 1) * 4); // units of 4 bytes
  uint64_t upper = units >> 8;
  return {0x947 | (units & 0xff) << 16 | upper << 34, upper >> 30 & 0x3ffff};
}

inline void append(std::string &bytes, uint64_t value, unsigned size) {
  bytes.append(reinterpret_cast<const char *>(&value), size);
}

inline std::string makeCubin(const std::vector<Words> &code) {
  constexpr uint64_t headerBytes = 64;
  const std::string names("\0.text.kernel\0.shstrtab\0", 24);
  uint64_t codeBytes = code.size() * 16, sections = headerBytes + codeBytes + names.size();
  std::string elf("\x7f\x45\x4c\x46\2\1\1", 7); // 64 bits, little-endian
  elf.resize(16);
  append(elf, 2, 2), append(elf, 190, 2), append(elf, 1, 4), append(elf, 0, 8), append(elf, 0, 8);
  append(elf, sections, 8), append(elf, 0, 4);
  for (uint64_t half : {64, 0, 0, 64, 3, 2})
    append(elf, half, 2);
  for (Words words : code)
    append(elf, words.low, 8), append(elf, words.high, 8);
  elf += names;
  auto section = [&](uint64_t name, uint64_t type, uint64_t offset, uint64_t size) {
    append(elf, name, 4), append(elf, type, 4), append(elf, 0, 8), append(elf, 0, 8), append(elf, offset, 8);
    append(elf, size, 8), append(elf, 0, 8), append(elf, 1, 8), append(elf, 0, 8);
  };
  section(0, 0, 0, 0);
  section(1, 1, headerBytes, codeBytes);
  section(14, 3, headerBytes + codeBytes, names.size());
  return elf;
}
