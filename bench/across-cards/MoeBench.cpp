// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the forms of a mixture of experts and of NCCL with cuBLAS in one run.
#include "MoeBaseline.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace across {

MoeMeasured Moe::bench(const MoeCase &work) {
  rank.step("experts " + work.name + ": operands");
  Buffers buffers = makeBuffers(work);
  const Routed routed = route(work, Routing::even);
  const std::vector<Expected> expected = expect(work, routed, /*samples=*/1, /*columns=*/32);
  use(work, routed, buffers);
  MoeBaseline peer(*this, work, routed, buffers);
  struct Candidate {
    std::string name;
    std::function<void()> run;
    bool isWhole = true; ///< the candidate computes the whole result y
    tile_dist_plan *plan = nullptr;
    std::vector<double> times = {};
    bool right = true;
  };
  std::vector<Candidate> candidates = {{"nccl+cublas", [&] { peer.runRouted(false); }},
                                       {"nccl+grouped", [&] { peer.runRouted(true); }},
                                       {"gathered+cublas", [&] { peer.runGathered(false); }},
                                       {"gathered+grouped", [&] { peer.runGathered(true); }},
                                       // Measures parts alone, on the sorted rows that the previous candidate has left.
                                       {"tile-experts", [&] { peer.multiplyByTile(); }, false},
                                       {"cublas", [&] { peer.multiplyAlone(false); }, false},
                                       {"grouped", [&] { peer.multiplyAlone(true); }, false},
                                       {"nccl", [&] { peer.exchangeAlone(); }, false}};
  if (!peer.hasGrouped())
    std::erase_if(candidates,
                  [](const Candidate &candidate) { return candidate.name.find("grouped") != std::string::npos; });
  std::string chosen;
  tile_dist_plan_info expectation = {};
  for (tile_dist_form form : {TILE_DIST_AUTO, TILE_DIST_SEQUENTIAL, TILE_DIST_CHUNKED}) {
    rank.step("experts " + work.name + ": plan " + nameOf(form));
    tile_dist_plan *plan = makePlan(work, form, /*capacity=*/0);
    if (form == TILE_DIST_AUTO) {
      checkDist(tile_dist_plan_describe(plan, &expectation));
      chosen = std::string("tile-") + nameOf(expectation.form);
      checkDist(tile_dist_plan_destroy(plan));
      continue;
    }
    const auto run = [=, this, &buffers] { checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands)); };
    candidates.push_back({std::string("tile-") + nameOf(form), run, true, plan});
  }
  for (Candidate &candidate : candidates) {
    rank.step("experts " + work.name + ": " + candidate.name);
    rank.barrier();
    call("cuMemsetD8Async", buffers.y->get(), static_cast<unsigned char>(0xff), buffers.y->size(), rank.stream);
    candidate.run();
    checkDist(tile_dist_synchronize(rank.comm, rank.stream));
    if (candidate.isWhole)
      candidate.right = isRight(work, *buffers.y, expected, work.name + " " + candidate.name);
  }
  const double flops = 6.0 * double(work.tokens * work.topK) * double(work.hidden) * double(work.width);
  const int iterations = int(std::clamp(20e3 / (flops / 500e6), 3.0, 50.0));
  for (int round = 0; round <= rank.options.rounds; ++round) // the first one warms up
    for (Candidate &candidate : candidates) {
      rank.step("experts " + work.name + ": measure " + candidate.name);
      const double time = rank.measure(candidate.run, round == 0 ? 2 : iterations);
      if (round > 0)
        candidate.times.push_back(time);
    }
  for (Candidate &candidate : candidates) {
    std::sort(candidate.times.begin(), candidate.times.end());
    if (candidate.plan)
      checkDist(tile_dist_plan_destroy(candidate.plan));
    candidate.right = rank.largest(candidate.right ? 0 : 1) == 0;
  }
  const auto median = [&](const std::string &name) {
    for (const Candidate &candidate : candidates)
      if (candidate.name == name)
        return candidate.times[candidate.times.size() / 2];
    return std::numeric_limits<double>::infinity();
  };
  MoeMeasured result = {work.name, std::min(median("nccl+cublas"), median("nccl+grouped")),
                        std::min(median("gathered+cublas"), median("gathered+grouped")), median(chosen),
                        std::min(median("tile-sequential"), median("tile-chunked"))};
  for (const Candidate &candidate : candidates)
    result.isRight &= candidate.right;
  if (!rank.isFirst())
    return result;
  std::printf("%-22s %5ld tokens a rank, %ld x %ld, %ld of %ld experts:", work.name.c_str(), long(work.tokens),
              long(work.hidden), long(work.width), long(work.topK), long(work.experts));
  for (const Candidate &candidate : candidates)
    std::printf("  %s %.1f%s", candidate.name.c_str(), median(candidate.name), candidate.right ? "" : " WRONG");
  std::printf("  auto=%s (%.3f of routed, %.3f of gathered; expected %.0f sequential, %.0f overlapped)\n",
              chosen.c_str(), result.routed / result.automatic, result.gathered / result.automatic,
              expectation.sequential_microseconds, expectation.overlapped_microseconds);
  std::fflush(stdout);
  return result;
}

void printSummary(const std::vector<MoeMeasured> &results) {
  double routed = 0, gathered = 0, best = 0, least = 1e9;
  for (const MoeMeasured &result : results) {
    routed += std::log(result.routed / result.automatic);
    gathered += std::log(result.gathered / result.automatic);
    best += std::log(result.best / result.automatic);
    least = std::min(least, result.routed / result.automatic);
  }
  const double count = double(results.size());
  std::printf("auto, experts, %zu cases: geometric mean %.3f of nccl+cublas with routed pairs, least %.3f; %.3f of "
              "gathered tokens; %.3f of the best form\n",
              results.size(), std::exp(routed / count), least, std::exp(gathered / count), std::exp(best / count));
}

} // namespace across
