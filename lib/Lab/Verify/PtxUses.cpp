// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/PtxUses.h"

#include "Simulator/Ptx/Module.h"

#include <fmt/format.h>

namespace tile::runner {

/// Returns the opcode of a line: "ex2.approx.ftz.f32"; empty if there is none.
static std::string_view opcodeOf(std::string_view line) {
  const auto skip = [&](std::string_view characters) {
    const size_t at = line.find_first_not_of(characters);
    line.remove_prefix(at == std::string_view::npos ? line.size() : at);
  };
  skip(" \t{");
  if (line.starts_with('@')) { // skip a guard
    const size_t end = line.find_first_of(" \t");
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
    skip(" \t");
  }
  return line.substr(0, line.find_first_of(" \t;"));
}

PtxUses findUses(std::string_view ptx) {
  PtxUses uses;
  for (size_t begin = 0; begin < ptx.size();) {
    size_t end = ptx.find('\n', begin);
    end = end == std::string_view::npos ? ptx.size() : end;
    const std::string_view opcode = opcodeOf(ptx.substr(begin, end - begin));
    begin = end + 1;
    const std::string_view name = opcode.substr(0, opcode.find('.'));
    if (opcode.find(".approx") != std::string_view::npos || name == "ex2" || name == "tanh")
      // ex2 and tanh are approximate even without the modifier
      uses.approximate.insert(std::string(name) + ".approx");
    else if (opcode.starts_with("div.full"))
      uses.approximate.insert("div.full");
    if (name != "atom" && name != "red" && !opcode.starts_with("cp.reduce"))
      continue;
    uses.hasAtomics = true;
    const size_t type = opcode.rfind('.');
    if (opcode.find(".add") != std::string_view::npos && type != std::string_view::npos &&
        (opcode.substr(type + 1).starts_with('f') || opcode.substr(type + 1).starts_with("bf")))
      uses.floatAtomics.insert(std::string(name) + ".add" + std::string(opcode.substr(type)));
  }
  return uses;
}

std::string describeInstruction(const sim::Module &module, const sim::Instruction &instruction) {
  const sim::SourceLoc &loc = instruction.loc;
  std::string text = fmt::format("{} at ptx:{}", instruction.text(), loc.ptxLine);
  if (loc.file && loc.file < module.files.size())
    text += fmt::format(" ({}:{}:{})", module.files[loc.file], loc.sourceLine, loc.sourceColumn);
  return text;
}

} // namespace tile::runner
