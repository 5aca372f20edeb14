// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A branch encodes the distance to its target, counted from the next instruction in units of 4 bytes. Bits 16 to 23
// hold the low bits of the distance, and bits 34 to 81 the high bits.
#include "Codegen/MachineCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

namespace tile::codegen {

constexpr size_t instructionBytes = 16;

int64_t Instruction::distance() const {
  uint64_t upper = low >> 34 | (high & 0x3ffff) << 30;
  return 1 + llvm::SignExtend64<56>(upper << 8 | (low >> 16 & 0xff)) * 4 / int64_t(instructionBytes);
}

std::vector<CodeLoop> findLoops(llvm::ArrayRef<Instruction> code) {
  std::vector<CodeLoop> loops;
  for (auto [place, instruction] : llvm::enumerate(code)) {
    int64_t target = instruction.isBranch() ? int64_t(place) + instruction.distance() : int64_t(place) + 1;
    if (target >= 0 && target <= int64_t(place))
      loops.push_back({size_t(target), place});
  }
  return loops;
}

static std::vector<Instruction> decode(llvm::ArrayRef<uint8_t> bytes) {
  std::vector<Instruction> code;
  for (size_t place = 0; place + instructionBytes <= bytes.size(); place += instructionBytes)
    code.push_back({llvm::support::endian::read64le(bytes.data() + place),
                    llvm::support::endian::read64le(bytes.data() + place + 8)});
  return code;
}

bool forEachCode(llvm::StringRef cubin, llvm::function_ref<void(llvm::ArrayRef<Instruction>)> visit) {
  auto elf = llvm::object::ELF64LEFile::create(cubin);
  if (!elf)
    return llvm::consumeError(elf.takeError()), false;
  auto sections = elf->sections();
  if (!sections)
    return llvm::consumeError(sections.takeError()), false;
  for (const auto &section : *sections) {
    auto name = elf->getSectionName(section);
    if (!name || !name->starts_with(".text.")) {
      llvm::consumeError(name.takeError());
      continue;
    }
    auto bytes = elf->getSectionContents(section);
    if (!bytes)
      return llvm::consumeError(bytes.takeError()), false;
    visit(decode(*bytes));
  }
  return true;
}

} // namespace tile::codegen
