// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes layouts of values and buffers as linear maps, and a sample warp request for each memory access.
#include "Explain/Evidence.h"

#include "Layout/Print.h"

namespace tile::explain {

Json describeLayouts(const Evidence &evidence) {
  Json layouts = Json::array();
  for (const RecordedLayout &recorded : evidence.compiler.layouts) {
    Json bases = Json::object();
    for (const layout::InDim &dim : recorded.layout.inDims())
      bases[dim.name] = dim.bases;
    layouts.push_back({{"types", recorded.types},
                       {"kind", recorded.isShared ? "shared" : "distributed"},
                       {"shape", recorded.layout.outShape()},
                       {"element_bits", recorded.elementBits},
                       {"bases", std::move(bases)},
                       {"text", layout::toString(recorded.layout)},
                       {"lines", recorded.lines}});
  }
  return layouts;
}

static Json requestJson(const Evidence &evidence, size_t index, const Request &request) {
  const sim::Instruction &instruction = evidence.run->function()->instructions[index];
  const sim::Counts counts = evidence.run->profiler().countsOf(index);
  const bool isGlobal = request.space == sim::Space::Global;
  using C = sim::Counter;
  Json json = {
      {"line", evidence.lineOf(instruction)},
      {"ptx_line", instruction.loc.ptxLine},
      {"instruction", instruction.text()},
      {"space", isGlobal ? "global" : "shared"},
      {"kind", request.kind == sim::AccessKind::Read    ? "read"
               : request.kind == sim::AccessKind::Write ? "write"
                                                        : "atomic"},
      {"bytes", request.bytes},
      {"addresses", request.addresses},
      {"actual", request.actual},
      {"ideal", request.ideal},
      {"requests", counts[isGlobal ? C::GlobalRequests : C::SharedRequests]},
      {"transactions", counts[isGlobal ? C::GlobalSectors : C::SharedWavefronts]},
      {"wasted", isGlobal ? counts[C::GlobalSectors] - std::min(counts[C::GlobalSectors], counts[C::GlobalSectorsIdeal])
                          : counts[C::SharedConflicts]}};
  if (isGlobal)
    json["buffer"] = request.buffer;
  return json;
}

Json describeMemory(const Evidence &evidence) {
  Json accesses = Json::array();
  if (evidence.run)
    for (const auto *requests : {&evidence.run->globalRequests(), &evidence.run->sharedRequests()})
      for (size_t i = 0; i < requests->size(); ++i)
        if ((*requests)[i])
          accesses.push_back(requestJson(evidence, i, *(*requests)[i]));
  // Show the most wasteful accesses first: loops are unrolled, so a kernel may have a thousand accesses of only a few
  // kinds.
  std::stable_sort(accesses.begin(), accesses.end(), [](const Json &a, const Json &b) {
    return a["wasted"].get<uint64_t>() > b["wasted"].get<uint64_t>();
  });
  constexpr size_t maxAccesses = 200;
  if (accesses.size() > maxAccesses)
    accesses.erase(accesses.begin() + maxAccesses, accesses.end());
  return accesses;
}

} // namespace tile::explain
