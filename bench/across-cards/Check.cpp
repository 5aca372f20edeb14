// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the results of individual runs, of consecutive runs and of graphs, and what happens if a rank does not take
// part.
#include "Moe.h"

#include <chrono>
#include <cstdio>
#include <random>

namespace across {

using Clock = std::chrono::steady_clock;

bool Rank::check(const Case &work, tile_dist_form form, const CheckOptions &depth) {
  if (form == TILE_DIST_FLAGGED && work.operation != TILE_DIST_ALL_GATHER_GEMM)
    return true;
  step(work, nameOf(form), "plan");
  tile_dist_plan *plan = makePlan(work, form);
  tile_dist_plan_info chosen;
  checkDist(tile_dist_plan_describe(plan, &chosen));
  step(work, nameOf(form), "operands");
  Buffers buffers = makeBuffers(work, /*hasRoom=*/false);
  const auto run = [&] {
    checkDist(tile_dist_run(plan, stream, buffers.a->pointer(), buffers.b->pointer(), buffers.c->pointer()));
  };
  const auto clear = [&] {
    call("cuMemsetD8Async", buffers.c->get(), static_cast<unsigned char>(0xff), buffers.c->size(), stream);
  };
  barrier(); // no rank may allocate while the work of another rank waits
  bool right = true;
  std::vector<uint16_t> runs[2];
  for (int repeats : {1, 3}) { // three runs without waiting: a run must not disturb the previous one
    std::vector<uint16_t> &values = runs[repeats == 1 ? 0 : 1];
    step(work, nameOf(form), repeats == 1 ? "run" : "three runs");
    clear();
    for (int repeat = 0; repeat < repeats; ++repeat)
      run();
    step(work, nameOf(form), "synchronize");
    checkDist(tile_dist_synchronize(comm, stream));
    step(work, nameOf(form), "compare");
    right = right && isRight(work, *buffers.c, depth.samples, nameOf(chosen.form));
    values.resize(elementsOfC(work));
    buffers.c->read(values.data(), 0, values.size() * 2);
  }
  if (runs[0] != runs[1]) {
    std::printf("WRONG: rank %d, %s %s: two runs differ\n", info.rank, nameOf(work.operation), nameOf(chosen.form));
    right = false;
  }
  if (work.hasGemm() || chosen.c)
    right = rejectsMisuse(plan, work, chosen, buffers) && right;
  if (depth.replays > 0) {
    replay(describe(work, nameOf(form)), depth.replays, run, [&](int replay) {
      if (replay == 0)
        clear();
    });
    right = isRight(work, *buffers.c, depth.samples, "graph") && right;
  }
  step(work, nameOf(form), "destroy");
  checkDist(tile_dist_plan_destroy(plan));
  return right;
}

bool Rank::rejectsMisuse(tile_dist_plan *plan, const Case &work, const tile_dist_plan_info &chosen,
                         const Buffers &buffers) {
  // Kernels must reject a null b, and an all-reduce must not read from memory that other ranks write.
  const void *a = chosen.c, *b = nullptr;
  void *c = chosen.c;
  std::string expected = "a is the plan's memory";
  if (work.hasGemm()) {
    a = buffers.a->pointer();
    b = static_cast<const char *>(buffers.b->pointer()) + 1;
    c = buffers.c->pointer();
    expected = "b: kernels.gemm";
  }
  expected = "rank " + std::to_string(info.rank) + ": " + nameOf(work.operation) + ": " + expected;
  const tile_status status = tile_dist_run(plan, stream, a, b, c);
  const std::string message = status == TILE_OK ? "" : tile_dist_last_error();
  if (status == TILE_ERROR_INVALID_ARGUMENT && message.rfind(expected, 0) == 0)
    return true;
  std::printf("WRONG: rank %d, %s: misuse: status %d, '%s', expected '%s'\n", info.rank, nameOf(work.operation),
              int(status), message.c_str(), expected.c_str());
  return false;
}

void Rank::replay(const std::string &name, int replays, const std::function<void()> &run,
                  const std::function<void(int)> &prepare) {
  barrier();
  step(name + ", graph: capture");
  Handle graph = nullptr, executable = nullptr;
  constexpr int ofThread = 1; // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  call("cuStreamBeginCapture_v2", stream, ofThread);
  run();
  call("cuStreamEndCapture", stream, &graph);
  step(name + ", graph: instantiate");
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  step(name + ", graph: upload");
  call("cuGraphUpload", executable, stream);
  checkDist(tile_dist_synchronize(comm, stream));
  barrier();
  for (int replay = 0; replay < replays; ++replay) {
    prepare(replay);
    step(name + ", graph: launch");
    call("cuGraphLaunch", executable, stream);
    // A launch may block launches by other threads of the process.
    if (isThread())
      barrier();
  }
  step(name + ", graph: synchronize");
  checkDist(tile_dist_synchronize(comm, stream));
  barrier();
  call("cuGraphExecDestroy", executable);
  call("cuGraphDestroy", graph);
}

bool Rank::loseRank() {
  const Case work = {TILE_DIST_ALL_GATHER_GEMM, 256 * info.size, 256, 256};
  tile_dist_plan *plan = makePlan(work, TILE_DIST_CHUNKED);
  Buffers buffers = makeBuffers(work, /*hasRoom=*/false);
  barrier();
  if (info.rank == info.size - 1)
    return true; // this rank does not take part
  const auto start = Clock::now();
  step("run without the last rank");
  tile_status status = tile_dist_run(plan, stream, buffers.a->pointer(), buffers.b->pointer(), buffers.c->pointer());
  if (status == TILE_OK)
    status = tile_dist_synchronize(comm, stream);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("rank %d: status %d after %.1f s: %s\n", info.rank, status, seconds, tile_dist_last_error());
  // In the simulator, which executes work immediately, tile_dist_run itself fails.
  return status == TILE_ERROR_TIMEOUT || status == TILE_ERROR_DRIVER;
}

bool Rank::soak() {
  std::mt19937 random(options.seed);
  const auto start = Clock::now();
  int count = 0;
  for (bool goesOn = true; goesOn; ++count) {
    const auto below = [&](int limit) { return int64_t(random() % unsigned(limit)); };
    Case work = {tile_dist_operation(below(4)), 0, 8 * (1 + below(256)), 8 * (1 + below(256))};
    work.m = info.size * (1 + below(1024));
    const auto form = tile_dist_form(below(4));
    if (!check(work, form, {/*samples=*/64, /*replays=*/0}))
      return false;
    // All ranks must agree on when to end.
    const bool isOver = Clock::now() - start > std::chrono::duration<double>(options.seconds);
    goesOn = largest(isOver) == 0;
  }
  if (isFirst())
    std::printf("soak: %d plans of random shapes right in %.0f s\n", count, options.seconds);
  return true;
}

void Rank::endure() {
  Moe moe(*this);
  const MoeCase experts = {"endured", 512, 1024, 512, 8 * info.size, 4};
  const tile_dist_operation operations[] = {TILE_DIST_ALL_GATHER_GEMM, TILE_DIST_GEMM_REDUCE_SCATTER,
                                            TILE_DIST_GEMM_ALL_REDUCE};
  for (unsigned turn = options.seed;; ++turn) {
    if (turn % 4 == 3) {
      moe.endure(experts, 200);
      continue;
    }
    const Case work = {operations[turn % 4], 512 * info.size, 2048, 1024};
    step(work, "auto", "plan");
    tile_dist_plan *plan = makePlan(work, TILE_DIST_AUTO);
    Buffers buffers = makeBuffers(work, /*hasRoom=*/false);
    step(work, "auto", "barrier");
    barrier();
    for (int run = 0; run < 200; ++run) {
      if (run % 10 == 0)
        step(work, "auto", "runs");
      checkDist(tile_dist_run(plan, stream, buffers.a->pointer(), buffers.b->pointer(), buffers.c->pointer()));
      if (run % 10 != 9)
        continue;
      step(work, "auto", "synchronize");
      checkDist(tile_dist_synchronize(comm, stream));
    }
    step(work, "auto", "destroy");
    checkDist(tile_dist_plan_destroy(plan));
  }
}

} // namespace across
