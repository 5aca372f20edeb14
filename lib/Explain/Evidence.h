// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that is known of a kernel when the document is written, and the topics of the document: a function each.
#pragma once

#include "Explain/Facts.h"
#include "Explain/RunRecord.h"
#include "Explain/Timeline.h"
#include "Runtime/Manifest.h"

#include <nlohmann/json.hpp>

namespace tile::explain {

using Json = nlohmann::ordered_json;

struct Evidence {
  const target::GpuTarget &gpu;
  runtime::Manifest manifest;
  std::string sourceText = {}; ///< empty: not there
  unsigned multiprocessors = 0;
  std::string ptx = {};
  std::vector<std::string> ptxasWarnings = {};
  const CompilerFacts &compiler;
  MarkedText sass = {};           ///< empty where no disassembler is found
  const RunRecord *run = nullptr; ///< null: nothing ran
  uint32_t mainFile = 1;          ///< of the PTX: the kernel's source
  std::array<int64_t, 3> programs = {1, 1, 1};
  double expectedMicroseconds = 0; ///< by the cost model; 0: it knows no such kernel
  Timeline timeline = {};

  /// Whether the instruction is of the kernel's file.
  unsigned lineOf(const sim::Instruction &instruction) const {
    return instruction.place.file == mainFile ? instruction.place.sourceLine : 0;
  }
};

Json describeSource(const Evidence &evidence);
Json describeCode(const Evidence &evidence);
Json describePasses(const Evidence &evidence);
Json describeResources(const Evidence &evidence);
Json describeGrid(const Evidence &evidence);
Json describeL2(const Evidence &evidence);
Json describeLayouts(const Evidence &evidence);
Json describeMemory(const Evidence &evidence);
Json describePipeline(const Evidence &evidence);
/// Sentences; they look at what the other topics say.
Json describeFindings(const Evidence &evidence, const Json &document);

/// "wgmma", "mma.sync", "TMA", "async copies", "special functions", "shared memory", "global memory", "waits", ...
std::string_view engineOf(const sim::Instruction &instruction);

/// Of a thread block and target, as a multiprocessor has them.
sim::Occupancy occupancyOf(const Evidence &evidence);
/// Thread blocks at a time on the target's card.
uint64_t slotsOf(const Evidence &evidence);

} // namespace tile::explain
