// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spills in machine code: an ELF of one section whose instructions are those that nvdisasm shows for sm_90a.
#include "Codegen/SpillPlaces.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace tile::codegen;

namespace {

struct Words {
  uint64_t low, high;
};
constexpr Words store{0x0000000201007387, 0x000fe80000100800}; // STL [R1], R2
constexpr Words load{0x0000000001027983, 0x000ea80000100800};  // LDL R2, [R1]
constexpr Words other{0x0000000000007918, 0x000fc00000000000}; // NOP

/// BRA by so many instructions, 0 for itself.
Words branch(int64_t instructions) {
  uint64_t units = uint64_t((instructions - 1) * 4); // of 4 bytes
  uint64_t upper = units >> 8;
  return {0x947 | (units & 0xff) << 16 | upper << 34, upper >> 30 & 0x3ffff};
}

void append(std::string &bytes, uint64_t value, unsigned size) {
  bytes.append(reinterpret_cast<const char *>(&value), size);
}

std::string makeCubin(const std::vector<Words> &code) {
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

} // namespace

TEST(SpillPlaces, areFoundOutsideOfLoops) {
  EXPECT_TRUE(spillsOutsideLoops(makeCubin({store, other, other, branch(-2), load})));
  EXPECT_TRUE(spillsOutsideLoops(makeCubin({branch(2), other, store, branch(0)}))); // forward, and the end of the code
}

TEST(SpillPlaces, negative_inLoops) {
  EXPECT_FALSE(spillsOutsideLoops(makeCubin({store, other, load, branch(-2), other})));
  EXPECT_FALSE(spillsOutsideLoops(makeCubin({other, store, branch(-1), load})));
}

TEST(SpillPlaces, negative_whatIsNotUnderstood) {
  EXPECT_FALSE(spillsOutsideLoops(makeCubin({other, other}))); // it spills by other instructions
  EXPECT_FALSE(spillsOutsideLoops(""));
  EXPECT_FALSE(spillsOutsideLoops("PTX"));
  std::string cut = makeCubin({store, load});
  EXPECT_FALSE(spillsOutsideLoops(llvm::StringRef(cut).drop_back(30)));
}
