// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Moe.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace across {

namespace {

/// Returns memory that is filled with the sequence from `first` on. Elements after the first period are copied on the
/// device.
std::unique_ptr<Memory> fill(uint64_t first, size_t elements) {
  auto memory = std::make_unique<Memory>(std::max<size_t>(elements, 1) * 2);
  size_t done = std::min(elements, Sequence::period);
  memory->write(Sequence::get().slice(first, done).data(), done * 2);
  for (; done < elements; done *= 2)
    call("cuMemcpyDtoD_v2", memory->get(done * 2), memory->get(), std::min(done, elements - done) * 2);
  return memory;
}

} // namespace

Moe::Moe(Rank &rank) : rank(rank) {
  rank.step("load kernels of experts");
  const auto load = [&](const char *name, tile_kernel *&kernel) {
    const std::string path = rank.options.kernels + "/moe_" + name + ".cubin";
    checkRuntime(tile_kernel_load_file(rank.runtime, path.c_str(), &kernel));
    checkRuntime(tile_kernel_prepare(kernel));
    loaded.push_back(kernel);
  };
  load("route", kernels.route), load("push", kernels.push), load("count", kernels.count);
  load("place", kernels.place), load("expand", kernels.expand), load("reduce", kernels.reduce);
  load("combine", kernels.combine), load("gate_up", kernels.gate_up), load("down", kernels.down);
  load("expand_gradient", kernels.expand_gradient), load("gather_weights", kernels.gather_weights);
  load("gated_gradient", kernels.gated_gradient), load("back", kernels.back);
  load("weight_gradient", kernels.weight_gradient);
}

Moe::~Moe() {
  if (std::uncaught_exceptions() == 0)
    for (tile_kernel *kernel : loaded)
      tile_kernel_destroy(kernel);
}

tile_dist_plan *Moe::makePlan(const MoeCase &work, tile_dist_form form, int64_t capacity) {
  const tile_dist_moe_shape shape = {work.tokens, work.hidden, work.width,    work.experts,
                                     work.topK,   capacity,    TILE_DIST_BF16};
  tile_dist_plan *plan = nullptr;
  checkDist(tile_dist_moe_plan_create(rank.comm, &shape, &kernels, form, &plan));
  return plan;
}

Moe::Routed Moe::route(const MoeCase &work, Routing routing) const {
  std::mt19937 random(rank.options.seed);
  const int64_t local = work.experts / rank.info.size;
  Routed routed;
  routed.tokens = routing == Routing::partial ? work.tokens / 2 : work.tokens;
  std::vector<int32_t> drawn(size_t(work.experts));
  for (size_t expert = 0; expert < drawn.size(); ++expert)
    drawn[expert] = int32_t(expert);
  for (int64_t token = 0; token < rank.info.size * work.tokens; ++token) {
    for (int64_t k = 0; k < work.topK; ++k) {
      std::swap(drawn[size_t(k)], drawn[size_t(k) + random() % (drawn.size() - size_t(k))]);
      int32_t id = drawn[size_t(k)];
      if (routing == Routing::one)
        id = 0;
      else if (routing == Routing::last)
        id = int32_t(work.experts - 1 - id % std::max<int64_t>(1, local / 2));
      else if (routing == Routing::partial && random() % 4 == 0)
        id = -1;
      routed.ids.push_back(id);
      routed.weights.push_back(float(1 + random() % 1000) / 1000 - 0.25f);
    }
  }
  return routed;
}

Moe::Buffers Moe::makeBuffers(const MoeCase &work) const {
  const int64_t local = work.experts / rank.info.size;
  const size_t rowElements = size_t(work.tokens * work.hidden), pairs = size_t(work.tokens * work.topK);
  Buffers buffers;
  buffers.x = fill(startOfA(rank.info.rank), rowElements);
  buffers.gateUp = fill(startOfGateUp(rank.info.rank), size_t(local * 2 * work.width * work.hidden));
  buffers.down = fill(startOfDown(rank.info.rank), size_t(local * work.hidden * work.width));
  buffers.ids = std::make_unique<Memory>(pairs * sizeof(int32_t));
  buffers.weights = std::make_unique<Memory>(pairs * sizeof(float));
  buffers.y = std::make_unique<Memory>(rowElements * 2);
  buffers.operands = {work.tokens,
                      buffers.x->pointer(),
                      static_cast<const int32_t *>(buffers.ids->pointer()),
                      static_cast<const float *>(buffers.weights->pointer()),
                      buffers.gateUp->pointer(),
                      buffers.down->pointer(),
                      buffers.y->pointer()};
  return buffers;
}

/// Uploads a routing to the buffers.
void Moe::use(const MoeCase &work, const Routed &routed, Buffers &buffers) const {
  const size_t pairs = size_t(work.tokens * work.topK), first = size_t(rank.info.rank) * pairs;
  buffers.ids->write(routed.ids.data() + first, pairs * sizeof(int32_t));
  buffers.weights->write(routed.weights.data() + first, pairs * sizeof(float));
  buffers.operands.tokens = routed.tokens;
}

std::vector<Moe::Expected> Moe::expect(const MoeCase &work, const Routed &routed, int64_t samples,
                                       int64_t columns) const {
  std::vector<Expected> all;
  const int64_t local = work.experts / rank.info.size, count = std::min(samples, routed.tokens);
  const auto rowOf = [](uint64_t start, int64_t row, int64_t length) {
    std::vector<float> values;
    for (uint16_t bits : Sequence::get().slice(start + uint64_t(row * length), size_t(length)))
      values.push_back(fromBf16(bits));
    return values;
  };
  const auto dotWith = [](const std::vector<float> &x, const std::vector<float> &y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += double(x[i]) * double(y[i]);
    return sum;
  };
  std::vector<float> between(size_t(work.width));
  for (int64_t i = 0; i < count; ++i) {
    Expected known = {i * routed.tokens / count, std::vector<double>(size_t(std::min(columns, work.hidden)))};
    const std::vector<float> x = rowOf(startOfA(rank.info.rank), known.token, work.hidden);
    const int64_t pair = (rank.info.rank * work.tokens + known.token) * work.topK;
    for (int64_t k = 0; k < work.topK; ++k) {
      const int32_t id = routed.ids[size_t(pair + k)];
      if (id < 0)
        continue;
      const int owner = int(id / local);
      const int64_t expert = id % local;
      for (int64_t unit = 0; unit < work.width; ++unit) {
        const int64_t gateRow = expert * 2 * work.width + unit;
        const double gate = dotWith(x, rowOf(startOfGateUp(owner), gateRow, work.hidden));
        const double up = dotWith(x, rowOf(startOfGateUp(owner), gateRow + work.width, work.hidden));
        between[size_t(unit)] = roundToBf16(gate / (1 + std::exp(-gate)) * up);
      }
      for (size_t column = 0; column < known.values.size(); ++column)
        known.values[column] +=
            double(routed.weights[size_t(pair + k)]) *
            dotWith(between, rowOf(startOfDown(owner), expert * work.hidden + int64_t(column), work.width));
    }
    all.push_back(std::move(known));
  }
  return all;
}

bool Moe::isRight(const MoeCase &work, const Memory &y, const std::vector<Expected> &expected,
                  const std::string &name) const {
  std::vector<uint16_t> found(size_t(work.hidden));
  for (const Expected &known : expected) {
    y.read(found.data(), size_t(known.token) * size_t(work.hidden) * 2, known.values.size() * 2);
    double norm = 0;
    for (double value : known.values)
      norm += value * value;
    // Allows for rounding to bf16: of the values between the layers, the results of experts, the ranks' partial sums,
    // and the final sum.
    constexpr double bound = 0.025;
    const double tolerance = bound * std::sqrt(norm / double(known.values.size()));
    for (size_t column = 0; column < known.values.size(); ++column) {
      const double wanted = known.values[column], value = fromBf16(found[column]);
      if (std::abs(value - wanted) <= tolerance + bound / 4 * std::abs(wanted))
        continue;
      std::printf("WRONG: rank %d, %s: element [%ld, %zu] is %g, expected %g\n", rank.info.rank, name.c_str(),
                  long(known.token), column, value, wanted);
      return false;
    }
  }
  return true;
}

bool Moe::check(const MoeCase &work, tile_dist_form form) {
  const std::string name = std::string("experts ") + work.name + " " + nameOf(form);
  rank.step(name + ": plan");
  tile_dist_plan *plan = makePlan(work, form, /*capacity=*/0);
  Buffers buffers = makeBuffers(work);
  const bool isLarge = work.hidden > 1024;
  const int64_t samples = isLarge ? 2 : work.tokens, columns = isLarge ? 64 : work.hidden;
  std::vector<Routed> routings;
  std::vector<std::vector<Expected>> expected;
  for (int routing = 0; routing < numRoutings; ++routing) {
    routings.push_back(route(work, Routing(routing)));
    expected.push_back(expect(work, routings.back(), samples, columns));
  }
  const auto run = [&] { checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands)); };
  const auto runSteps = [&] {
    checkDist(tile_dist_moe_dispatch(plan, rank.stream, &buffers.operands));
    checkDist(tile_dist_moe_experts(plan, rank.stream, &buffers.operands));
    checkDist(tile_dist_moe_combine(plan, rank.stream, &buffers.operands));
  };
  const auto finish = [&] { checkDist(tile_dist_synchronize(rank.comm, rank.stream)); };
  const auto clear = [&] {
    call("cuMemsetD8Async", buffers.y->get(), static_cast<unsigned char>(0xff), buffers.y->size(), rank.stream);
  };
  rank.barrier(); // no rank may allocate while the work of another rank waits
  bool right = true;
  for (int routing = 0; routing < numRoutings; ++routing) {
    const Routed &routed = routings[size_t(routing)];
    std::vector<uint16_t> values[2];
    use(work, routed, buffers);
    for (int turn = 0; turn < 2; ++turn) {
      rank.step(name + (turn == 0 ? ": run" : ": three runs"));
      clear();
      if (turn == 0)
        run();
      for (int repeat = 0; turn == 1 && repeat < 3; ++repeat) // a run must not disturb the previous one
        repeat == 1 ? runSteps() : run();
      finish();
      right = isRight(work, *buffers.y, expected[size_t(routing)], name) && right;
      values[turn].resize(size_t(routed.tokens * work.hidden));
      buffers.y->read(values[turn].data(), 0, values[turn].size() * 2);
    }
    if (values[0] != values[1]) {
      std::printf("WRONG: rank %d, %s: two runs differ\n", rank.info.rank, name.c_str());
      right = false;
    }
    rank.barrier(); // the next iteration changes the routing of all ranks
  }
  if (rank.options.replays > 0) {
    // The routing during capture must have as many tokens as the routings of the replays.
    use(work, routings[0], buffers);
    rank.replay(name, 3, run, [&](int replay) {
      if (replay > 0) {
        finish();
        right = isRight(work, *buffers.y, expected[size_t(replay - 1)], name + " graph") && right;
        rank.barrier();
      }
      use(work, routings[size_t(replay)], buffers);
      clear();
    });
    right = isRight(work, *buffers.y, expected[2], name + " graph") && right;
  }
  rank.step(name + ": destroy");
  checkDist(tile_dist_plan_destroy(plan));
  return (isLarge || checkErrors(work, form, buffers)) && right;
}

/// Checks that an exceeded capacity and ids of experts that do not exist are reported, and only once.
bool Moe::checkErrors(const MoeCase &work, tile_dist_form form, Buffers &buffers) {
  const std::string name = std::string("experts ") + work.name + " " + nameOf(form) + ": errors";
  rank.step(name);
  Routed routed = route(work, Routing::one);
  const int64_t pairs = work.tokens * work.topK * rank.info.size, capacity = std::max<int64_t>(1, pairs / 2);
  tile_dist_plan *plan = makePlan(work, form, capacity);
  rank.barrier();
  bool right = true;
  const auto runAndExpect = [&](tile_status status, const std::string &text) {
    use(work, routed, buffers);
    checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands));
    const tile_status found = tile_dist_synchronize(rank.comm, rank.stream);
    const std::string message = found == TILE_OK ? "" : tile_dist_last_error();
    if (found != status || message.find(text) == std::string::npos) {
      std::printf("WRONG: rank %d, %s: '%s', expected '%s'\n", rank.info.rank, name.c_str(), message.c_str(),
                  text.c_str());
      right = false;
    }
    rank.barrier();
  };
  if (pairs > capacity)
    runAndExpect(TILE_ERROR_INVALID_ARGUMENT, "the experts of rank 0 have " + std::to_string(pairs) +
                                                  " (token, expert) pairs; the plan's capacity is " +
                                                  std::to_string(capacity));
  std::fill(routed.ids.begin(), routed.ids.end(), -1);
  runAndExpect(TILE_OK, "");
  for (size_t pair = 0; pair < routed.ids.size(); pair += size_t(work.tokens * work.topK))
    routed.ids[pair] = pair == 0 ? -7 : int32_t(work.experts); // one invalid id on each rank
  runAndExpect(TILE_ERROR_INVALID_ARGUMENT, "1 ids of experts do not exist, such as " +
                                                std::to_string(rank.info.rank == 0 ? -7 : work.experts) +
                                                "; there are " + std::to_string(work.experts) + " experts");
  checkDist(tile_dist_plan_destroy(plan));
  return right;
}

void Moe::endure(const MoeCase &work, int runs) {
  rank.step("experts: plan");
  tile_dist_plan *plan = makePlan(work, TILE_DIST_AUTO, /*capacity=*/0);
  Buffers buffers = makeBuffers(work);
  use(work, route(work, Routing::even), buffers);
  rank.step("experts: barrier");
  rank.barrier();
  for (int run = 0; run < runs; ++run) {
    if (run % 10 == 0)
      rank.step("experts: runs");
    checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands));
    if (run % 10 != 9)
      continue;
    rank.step("experts: synchronize");
    checkDist(tile_dist_synchronize(rank.comm, rank.stream));
  }
  rank.step("experts: destroy");
  checkDist(tile_dist_plan_destroy(plan));
}

} // namespace across
