// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the forms of an operation and of NCCL with cuBLAS in one run.
#include "Baseline.h"
#include "Rank.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace across {

void Rank::multiply(Address a, Address b, Address c, const Case &work) {
  int32_t m = int32_t(work.m), n = int32_t(work.n), k = int32_t(work.k);
  void *arguments[] = {&a, &b, &c, &m, &n, &k};
  tile_launch_options launch = {};
  launch.stream = stream;
  checkRuntime(tile_launch(kernels.gemm, &launch, arguments, 6));
}

double Rank::measure(const std::function<void()> &run, int iterations) {
  barrier();
  call("cuEventRecord", begin, stream);
  for (int i = 0; i < iterations; ++i)
    run();
  call("cuEventRecord", end, stream);
  checkDist(tile_dist_synchronize(comm, stream));
  float milliseconds = 0;
  call("cuEventElapsedTime", &milliseconds, begin, end);
  return largest(double(milliseconds) * 1000 / iterations);
}

void Rank::bench(const Case &work) {
  peer();
  Buffers buffers = makeBuffers(work, /*hasRoom=*/true);
  const Address a = buffers.a->get(), b = buffers.b->get(), c = buffers.c->get(), room = buffers.room->get();
  const Sizes sizes = {work.m, work.n, work.k};
  struct Candidate {
    std::string name;
    std::function<void()> run;
    tile_dist_plan *plan = nullptr;
    std::vector<double> times = {};
    bool right = true;
  };
  std::vector<Candidate> candidates;
  step(work, "all forms", "measure");
  const bool isGather = work.operation == TILE_DIST_ALL_GATHER_GEMM;
  // Measures the GEMM alone and the communication alone.
  candidates.push_back(
      {"cublas", [&] { baseline->multiply(stream, isGather ? room : a, b, isGather ? c : room, sizes); }});
  candidates.push_back({"tile", [&] { multiply(isGather ? room : a, b, isGather ? c : room, work); }});
  const size_t chunkA = size_t(work.m / info.size * work.k), chunkC = size_t(work.m / info.size * work.n);
  if (isGather) {
    candidates.push_back({"nccl", [&] { baseline->gather(stream, a, room, chunkA); }});
    candidates.push_back({"nccl+cublas", [&] { baseline->gatherThenMultiply(stream, a, b, c, room, sizes); }});
    for (int parts : {2, 4})
      candidates.push_back({"nccl|cublas/" + std::to_string(parts),
                            [&, parts] { baseline->gatherBesides(stream, a, b, c, room, sizes, parts); }});
  } else if (work.operation == TILE_DIST_GEMM_REDUCE_SCATTER) {
    candidates.push_back({"nccl", [&] { baseline->scatter(stream, room, c, chunkC); }});
    candidates.push_back({"nccl+cublas", [&] { baseline->multiplyThenScatter(stream, a, b, c, room, sizes); }});
    for (int parts : {2, 4})
      candidates.push_back({"nccl|cublas/" + std::to_string(parts),
                            [&, parts] { baseline->scatterBesides(stream, a, b, c, room, sizes, parts); }});
  } else {
    candidates.push_back({"nccl", [&] { baseline->reduce(stream, c, size_t(work.m * work.n)); }});
    candidates.push_back({"nccl+cublas", [&] { baseline->multiplyThenReduce(stream, a, b, c, sizes); }});
  }
  std::string chosen;
  tile_dist_plan_info expectation = {};
  for (tile_dist_form form : {TILE_DIST_SEQUENTIAL, TILE_DIST_CHUNKED, TILE_DIST_FLAGGED, TILE_DIST_AUTO}) {
    if (form == TILE_DIST_FLAGGED && !isGather)
      continue;
    tile_dist_plan *plan = makePlan(work, form);
    tile_dist_plan_info planned;
    checkDist(tile_dist_plan_describe(plan, &planned));
    if (form == TILE_DIST_AUTO) {
      chosen = nameOf(planned.form);
      expectation = planned;
      checkDist(tile_dist_plan_destroy(plan));
      continue;
    }
    // Uses the plan's own buffers if it has any, as in a model whose layers write to where the next operation reads.
    const void *in = isGather ? planned.a : reinterpret_cast<const void *>(a);
    void *out = work.operation == TILE_DIST_GEMM_ALL_REDUCE && planned.c ? planned.c : reinterpret_cast<void *>(c);
    if (isGather && planned.a)
      call("cuMemcpyDtoDAsync_v2", reinterpret_cast<Address>(planned.a), a, buffers.a->size(), stream);
    candidates.push_back(
        {std::string("tile-") + nameOf(form),
         [=, this] { checkDist(tile_dist_run(plan, stream, in, reinterpret_cast<const void *>(b), out)); }, plan});
    // Checks the result before measuring.
    candidates.back().run();
    checkDist(tile_dist_synchronize(comm, stream));
    if (out != reinterpret_cast<void *>(c))
      call("cuMemcpyDtoD_v2", c, reinterpret_cast<Address>(out), buffers.c->size());
    candidates.back().right = isRight(work, *buffers.c, 64, nameOf(form));
  }
  const double flops = 2.0 * double(work.m) * double(work.n) * double(work.k);
  const int iterations = int(std::clamp(30e3 / (flops / 500e6), 5.0, 200.0));
  for (int round = 0; round <= options.rounds; ++round) // the first one warms up
    for (Candidate &candidate : candidates) {
      const double time = measure(candidate.run, round == 0 ? 3 : iterations);
      if (round > 0)
        candidate.times.push_back(time);
    }
  for (Candidate &candidate : candidates) {
    std::sort(candidate.times.begin(), candidate.times.end());
    if (candidate.plan)
      checkDist(tile_dist_plan_destroy(candidate.plan));
    candidate.right = largest(candidate.right ? 0 : 1) == 0;
  }
  if (!isFirst())
    return;
  const auto median = [&](const std::string &name) {
    for (const Candidate &candidate : candidates)
      if (candidate.name == name)
        return candidate.times[candidate.times.size() / 2];
    return 0.0;
  };
  const double sequential = median("nccl+cublas"), automatic = median("tile-" + chosen);
  Measured result = {work.operation, sequential / automatic,
                     std::max(std::min(median("cublas"), median("tile")), median("nccl")) / automatic, 0, true};
  std::printf("%-20s %5ld %6ld %6ld", nameOf(work.operation), long(work.m), long(work.n), long(work.k));
  for (const Candidate &candidate : candidates) {
    const double time = median(candidate.name);
    std::printf("  %s %.1f (%.3f)%s", candidate.name.c_str(), time, sequential / time, candidate.right ? "" : " WRONG");
    result.isRight &= candidate.right;
    if (candidate.plan)
      result.ofBest = std::max(result.ofBest, automatic / time);
  }
  result.ofBest = 1 / result.ofBest;
  std::printf("  auto=%s (%.3f, %.3f of the bound; expected %.0f sequential, %.0f overlapped)\n", chosen.c_str(),
              result.speedup, result.ofBound, expectation.sequential_microseconds, expectation.overlapped_microseconds);
  std::fflush(stdout);
  shared.results.push_back(result);
}

void printSummary(const std::vector<Measured> &results) {
  for (int operation = 0; operation < 3; ++operation) {
    double logarithms = 0, least = 1e9, bound = 0, best = 0;
    int count = 0;
    for (const Measured &result : results) {
      if (result.operation != operation)
        continue;
      logarithms += std::log(result.speedup);
      bound += std::log(result.ofBound);
      best += std::log(result.ofBest);
      least = std::min(least, result.speedup);
      ++count;
    }
    if (count > 0)
      std::printf("auto, %-20s %2d shapes: geometric mean %.3f of nccl+cublas, least %.3f; %.3f of max(GEMM, wire); "
                  "%.3f of the best form\n",
                  nameOf(tile_dist_operation(operation)), count, std::exp(logarithms / count), least,
                  std::exp(bound / count), std::exp(best / count));
  }
}

} // namespace across
