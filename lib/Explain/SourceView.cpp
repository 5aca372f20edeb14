// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes the source and the generated code. For each source line, gives the code generated from it and its counters.
#include "Explain/Evidence.h"

#include "Simulator/Ptx/Liveness.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

namespace tile::explain {

static bool hasPrefix(const sim::Instruction &instruction, std::string_view prefix) {
  return std::any_of(instruction.suffixes.begin(), instruction.suffixes.end(),
                     [&](const std::string &suffix) { return suffix.starts_with(prefix); });
}

std::string_view engineOf(const sim::Instruction &instruction) {
  const std::string_view name = instruction.name;
  if (name == "wgmma")
    return instruction.has("mma_async") ? "wgmma" : "waits";
  if (name == "mma")
    return "mma.sync";
  if (name == "tcgen05")
    return instruction.has("mma")                                                    ? "tcgen05"
           : instruction.has("ld") || instruction.has("st") || instruction.has("cp") ? "tensor memory"
                                                                                     : "waits";
  if (name == "cp")
    return instruction.has("wait_group") || instruction.has("wait_all")  ? "waits"
           : instruction.has("bulk") || hasPrefix(instruction, "reduce") ? "TMA"
                                                                         : "async copies";
  if (name == "mbarrier" || name == "bar" || name == "barrier")
    return "waits";
  if (name == "ldmatrix" || name == "stmatrix" || hasPrefix(instruction, "shared"))
    return "shared memory";
  if (name == "ld" || name == "st" || name == "atom" || name == "red")
    return instruction.has("param") ? "arithmetic" : instruction.has("global") ? "global memory" : "memory";
  if (name == "ex2" || name == "lg2" || name == "rcp" || name == "sqrt" || name == "rsqrt" || name == "sin" ||
      name == "cos" || name == "tanh")
    return "special functions";
  return name == "shfl" || name == "redux" || name == "vote" ? "shuffles" : "arithmetic";
}

static Json toJson(const sim::Counts &counts) {
  Json json = Json::object();
  for (unsigned i = 0; i < sim::numCounters; ++i)
    if (counts.values[i])
      json[std::string(sim::counterName(sim::Counter(i)))] = counts.values[i];
  return json;
}

namespace {

struct LineFacts {
  sim::Counts counts;
  std::map<std::string_view, uint64_t> engines; ///< warp instructions by engine
  uint32_t liveRegisters = 0;                   ///< maximum over the line's instructions
  std::map<std::string, uint64_t> mmas;         ///< execution counts by instruction: "wgmma.mma_async....m64n128k16..."
};

} // namespace

static std::map<unsigned, LineFacts> factsByLine(const Evidence &evidence) {
  std::map<unsigned, LineFacts> lines;
  const sim::Function &function = *evidence.run->function();
  const std::vector<uint32_t> live = sim::liveRegisters(function);
  for (size_t i = 0; i < function.instructions.size(); ++i) {
    const sim::Instruction &instruction = function.instructions[i];
    const sim::Counts counts = evidence.run->profiler().countsOf(i);
    const unsigned line = evidence.lineOf(instruction);
    LineFacts &facts = lines[line];
    facts.counts += counts;
    facts.liveRegisters = std::max(facts.liveRegisters, live[i]);
    facts.engines[engineOf(instruction)] += counts[sim::Counter::Instructions];
    if (counts[sim::Counter::MultiplyAdds])
      facts.mmas[instruction.text()] += counts[sim::Counter::Instructions];
  }
  return lines;
}

Json describeSource(const Evidence &evidence) {
  Json lines = Json::array();
  if (evidence.run)
    for (const auto &[line, facts] : factsByLine(evidence)) {
      Json entry = {{"line", line},
                    {"counters", toJson(facts.counts)},
                    {"live_registers", facts.liveRegisters},
                    {"engines", Json::object()}};
      for (const auto &[engine, count] : facts.engines)
        if (count)
          entry["engines"][std::string(engine)] = count;
      for (const auto &[text, count] : facts.mmas)
        entry["products"].push_back({{"instruction", text}, {"warp_instructions", count}});
      lines.push_back(std::move(entry));
    }
  Json source = {{"file", evidence.manifest.sourceFile}, {"text", evidence.sourceText}, {"lines", lines}};
  if (evidence.run)
    source["total"] = toJson(evidence.run->profiler().total());
  return source;
}

static Json marked(const MarkedText &text) {
  return {{"lines", text.lines}, {"source", text.source}};
}

/// Returns the source line of each line of the PTX: the line of the instruction or, elsewhere, of the preceding `.loc`.
static MarkedText markPtx(const Evidence &evidence) {
  MarkedText text;
  std::istringstream stream(evidence.ptx);
  unsigned source = 0;
  for (std::string line; std::getline(stream, line);) {
    unsigned file = 0, number = 0;
    if (std::sscanf(line.c_str(), " .loc %u %u", &file, &number) == 2) {
      source = file == evidence.mainFile ? number : 0;
      continue; // omit the `.loc`, because the page shows source lines anyway
    }
    const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    if (line.compare(begin, 1, "}") == 0 || line.compare(begin, 5, ".file") == 0)
      source = 0;
    text.lines.push_back(std::move(line));
    text.source.push_back(source);
  }
  return text;
}

Json describeCode(const Evidence &evidence) {
  Json code = Json::array();
  const auto add = [&](const char *name, const char *what, const MarkedText &text) {
    Json entry = {{"name", name}, {"what", what}};
    entry.update(marked(text));
    code.push_back(std::move(entry));
  };
  if (!evidence.compiler.forms.empty())
    add("tile", "what a program computes", evidence.compiler.forms.front().text);
  if (const Form *form = evidence.compiler.lastWithLayouts())
    add("cta", "how a thread block computes it", form->text);
  add("PTX", "input of ptxas", markPtx(evidence));
  if (!evidence.sass.lines.empty())
    add("SASS", "machine code", evidence.sass);
  return code;
}

Json describePasses(const Evidence &evidence) {
  std::map<std::string, size_t> known;
  Json lines = Json::array(), passes = Json::array();
  for (const Form &form : evidence.compiler.forms) {
    Json indices = Json::array(), remarks = Json::array();
    for (const std::string &line : form.text.lines) {
      auto [entry, isNew] = known.try_emplace(line, lines.size());
      if (isNew)
        lines.push_back(line);
      indices.push_back(entry->second);
    }
    for (const Remark &remark : form.remarks)
      remarks.push_back({{"line", remark.line}, {"text", remark.text}});
    passes.push_back({{"name", form.pass}, {"lines", std::move(indices)}, {"remarks", std::move(remarks)}});
  }
  return {{"lines", std::move(lines)}, {"passes", std::move(passes)}};
}

} // namespace tile::explain
