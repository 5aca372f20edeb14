// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Format.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

const Instruction *instructionAt(const Module &module, uint32_t ptxLine) {
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions)
      if (instruction.loc.ptxLine == ptxLine)
        return &instruction;
  return nullptr;
}

std::string fileName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// Returns "gemm.ptx:123 (gemm.tile:29:9) in CTA (0,1,0) warp 3 lane 7: st.shared.b32".
std::string formatActor(const Actor &actor, const Module &module, const SourceText &source) {
  const SourceLoc &loc = actor.loc;
  std::string text = fmt::format("{}:{}", source.ptxName.empty() ? "ptx" : source.ptxName, loc.ptxLine);
  if (loc.sourceLine && loc.file < module.files.size())
    text += fmt::format(" ({}:{}:{})", fileName(module.files[loc.file]), loc.sourceLine, loc.sourceColumn);
  if (actor.gpu >= 0)
    text += fmt::format(" on GPU {}", actor.gpu);
  text += fmt::format(" in CTA ({},{},{})", actor.cta[0], actor.cta[1], actor.cta[2]);
  if (actor.warp >= 0)
    text += fmt::format(" warp {}", actor.warp);
  if (actor.lane >= 0)
    text += fmt::format(" lane {}", actor.lane);
  if (const Instruction *instruction = instructionAt(module, loc.ptxLine))
    text += ": " + instruction->text();
  return text;
}

std::string formatSourceLine(const SourceLoc &loc, const Module &module, const SourceText &source) {
  if (!source.line || !loc.sourceLine || loc.file >= module.files.size())
    return {};
  std::string line = source.line(module.files[loc.file], loc.sourceLine);
  size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : fmt::format("      {} | {}\n", loc.sourceLine, line.substr(begin));
}

} // namespace

std::string formatReport(const Report &report, const Module &module, const SourceText &source) {
  std::string text = fmt::format("{}: {}\n", reportKindName(report.kind), report.message);
  if (report.actor.loc.ptxLine) {
    text += fmt::format("  at {}\n", formatActor(report.actor, module, source));
    text += formatSourceLine(report.actor.loc, module, source);
  }
  for (const auto &[actor, note] : report.notes) {
    if (!actor.loc.ptxLine) {
      text += fmt::format("  {}\n", note);
      continue;
    }
    text += fmt::format("  {}: at {}\n", note, formatActor(actor, module, source));
    if (actor.loc.sourceLine != report.actor.loc.sourceLine)
      text += formatSourceLine(actor.loc, module, source);
  }
  if (report.count > 1)
    text += fmt::format("  this happened {} more times{}\n", report.count - 1,
                        report.instructions > 1
                            ? fmt::format(", at {} {} in all", report.instructions,
                                          report.notes.empty() ? "instructions" : "pairs of instructions")
                            : "");
  return text;
}

} // namespace tile::sim
