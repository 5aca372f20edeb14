// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All facts about a kernel that are available when the document is written, and one function for each topic of the
// document.
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
  std::string sourceText = {}; ///< empty: not available
  unsigned multiprocessors = 0;
  std::string ptx = {};
  std::vector<std::string> ptxasWarnings = {};
  const CompilerFacts &compiler;
  MarkedText sass = {};           ///< empty if no disassembler was found
  const RunRecord *run = nullptr; ///< null: the kernel did not run
  uint32_t mainFile = 1;          ///< index of the kernel's source in the PTX
  std::array<int64_t, 3> programs = {1, 1, 1};
  double expectedMicroseconds = 0; ///< estimate of the cost model; 0: unsupported kernel
  Timeline timeline = {};

  /// Returns the source line of the instruction, or 0 if it is not from the kernel's file.
  unsigned lineOf(const sim::Instruction &instruction) const {
    return instruction.loc.file == mainFile ? instruction.loc.sourceLine : 0;
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
/// Describes findings as sentences. Findings are derived from the other topics.
Json describeFindings(const Evidence &evidence, const Json &document);
/// Describes how far a run is from the roofline and what to do first. Derived from the other topics and the findings.
Json describeHeadline(const Evidence &evidence, const Json &document);

/// Returns the engine of an instruction: "wgmma", "tcgen05", "tensor memory", "mma.sync", "TMA", "async copies",
/// "special functions", "shared memory", "global memory", "waits", ...
std::string_view engineOf(const sim::Instruction &instruction);

/// Returns the occupancy of one of the target's multiprocessors with the kernel's thread blocks.
sim::Occupancy occupancyOf(const Evidence &evidence);
/// Returns the number of thread blocks that can run concurrently on the target's GPU.
uint64_t slotsOf(const Evidence &evidence);

} // namespace tile::explain
