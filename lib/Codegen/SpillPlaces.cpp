// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An instruction is 16 bytes. The low 12 bits say what it does; a branch has the distance to its target, in units of
// 4 bytes from the next instruction, in bits 16 to 23 (the low ones) and 34 to 81, which nvdisasm shows.
#include "Codegen/SpillPlaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <vector>

using llvm::StringRef;

namespace tile::codegen {
namespace {

constexpr size_t instructionBytes = 16;

struct Instruction {
  uint64_t low, high;

  bool isBranch() const { return (low & 0xfff) == 0x947; }
  bool isLocal() const { return (low & 0xfff) == 0x983 || (low & 0xfff) == 0x387; } // a load, a store

  /// Instructions from this one to the target.
  int64_t distance() const {
    uint64_t upper = low >> 34 | (high & 0x3ffff) << 30;
    return 1 + llvm::SignExtend64<56>(upper << 8 | (low >> 16 & 0xff)) * 4 / int64_t(instructionBytes);
  }
};

std::vector<Instruction> decode(llvm::ArrayRef<uint8_t> code) {
  std::vector<Instruction> instructions;
  for (size_t place = 0; place + instructionBytes <= code.size(); place += instructionBytes)
    instructions.push_back({llvm::support::endian::read64le(code.data() + place),
                            llvm::support::endian::read64le(code.data() + place + 8)});
  return instructions;
}

} // namespace

bool spillsOutsideLoops(StringRef cubin) {
  auto elf = llvm::object::ELF64LEFile::create(cubin);
  if (!elf)
    return llvm::consumeError(elf.takeError()), false;
  auto sections = elf->sections();
  if (!sections)
    return llvm::consumeError(sections.takeError()), false;
  bool spills = false;
  for (const auto &section : *sections) {
    auto name = elf->getSectionName(section);
    if (!name || !name->starts_with(".text.")) {
      llvm::consumeError(name.takeError());
      continue;
    }
    auto code = elf->getSectionContents(section);
    if (!code)
      return llvm::consumeError(code.takeError()), false;
    std::vector<Instruction> instructions = decode(*code);
    std::vector<int64_t> localsBefore{0}; // each instruction
    for (const Instruction &instruction : instructions)
      localsBefore.push_back(localsBefore.back() + instruction.isLocal());
    spills |= localsBefore.back() != 0;
    for (auto [place, instruction] : llvm::enumerate(instructions)) {
      int64_t target = instruction.isBranch() ? int64_t(place) + instruction.distance() : int64_t(place) + 1;
      if (target >= 0 && target <= int64_t(place) && localsBefore[target] != localsBefore[place])
        return false;
    }
  }
  return spills;
}

} // namespace tile::codegen
