// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the backward pass of mixtures of experts against double precision: all elements of all gradients.
#include "Moe.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace across {

namespace {

uint64_t startOfSlopes(int rank) {
  return startOfA(rank) + 77773;
}

std::vector<double> valuesAt(uint64_t start, int64_t row, int64_t length) {
  std::vector<double> values;
  for (uint16_t bits : Sequence::get().slice(start + uint64_t(row * length), size_t(length)))
    values.push_back(fromBf16(bits));
  return values;
}

/// The two layers of an expert, for one row.
struct ExpertPass {
  std::vector<double> between, dgate, dup; ///< gradients before they are multiplied by the pair's weight
  double dweight = 0;                      ///< dy . expert(x)
};

ExpertPass passThrough(const std::vector<double> &x, const std::vector<double> &dy, int owner, int64_t expert,
                       const MoeCase &work) {
  ExpertPass pass;
  std::vector<double> dbetween(size_t(work.width));
  std::vector<std::vector<double>> down;
  for (int64_t column = 0; column < work.hidden; ++column) {
    down.push_back(valuesAt(startOfDown(owner), expert * work.hidden + column, work.width));
    for (size_t unit = 0; unit < dbetween.size(); ++unit)
      dbetween[unit] += dy[size_t(column)] * down.back()[unit];
  }
  for (int64_t unit = 0; unit < work.width; ++unit) {
    const int64_t row = expert * 2 * work.width + unit;
    const std::vector<double> ofGate = valuesAt(startOfGateUp(owner), row, work.hidden),
                              ofUp = valuesAt(startOfGateUp(owner), row + work.width, work.hidden);
    double gate = 0, up = 0;
    for (size_t i = 0; i < x.size(); ++i)
      gate += x[i] * ofGate[i], up += x[i] * ofUp[i];
    gate = roundToBf16(gate), up = roundToBf16(up); // otherwise the slopes of gates near SiLU's minimum differ too much
    const double opened = 1 / (1 + std::exp(-gate)), active = gate * opened;
    pass.between.push_back(active * up);
    pass.dgate.push_back(dbetween[size_t(unit)] * up * opened * (1 + gate * (1 - opened)));
    pass.dup.push_back(dbetween[size_t(unit)] * active);
    pass.dweight += dbetween[size_t(unit)] * active * up;
  }
  return pass;
}

} // namespace

Moe::Gradients Moe::makeGradients(const MoeCase &work, const Buffers &buffers) const {
  const int64_t local = work.experts / rank.info.size;
  const size_t rowElements = size_t(work.tokens * work.hidden);
  Gradients made;
  made.dy = std::make_unique<Memory>(rowElements * 2);
  made.dy->write(Sequence::get().slice(startOfSlopes(rank.info.rank), rowElements).data(), rowElements * 2);
  made.dx = std::make_unique<Memory>(rowElements * 2);
  made.dweights = std::make_unique<Memory>(size_t(work.tokens * work.topK) * sizeof(float));
  made.dgateUp = std::make_unique<Memory>(size_t(local * 2 * work.width * work.hidden) * sizeof(float));
  made.ddown = std::make_unique<Memory>(size_t(local * work.hidden * work.width) * sizeof(float));
  made.operands = {work.tokens,
                   made.dy->pointer(),
                   buffers.operands.gate_up,
                   buffers.operands.down,
                   made.dx->pointer(),
                   static_cast<float *>(made.dweights->pointer()),
                   static_cast<float *>(made.dgateUp->pointer()),
                   static_cast<float *>(made.ddown->pointer())};
  return made;
}

std::vector<Moe::Known> Moe::expectGradients(const MoeCase &work, const Routed &routed) const {
  const int64_t local = work.experts / rank.info.size;
  const size_t hidden = size_t(work.hidden), width = size_t(work.width);
  std::vector<double> dx(size_t(routed.tokens) * hidden), dweights(size_t(routed.tokens * work.topK));
  std::vector<double> dgateUp(size_t(local) * 2 * width * hidden), ddown(size_t(local) * hidden * width);
  for (int source = 0; source < rank.info.size; ++source)
    for (int64_t pair = 0; pair < routed.tokens * work.topK; ++pair) {
      const size_t index = size_t(source * work.tokens * work.topK + pair);
      const int64_t token = pair / work.topK, expert = routed.ids[index] % local;
      const int owner = int(routed.ids[index] / local);
      const bool isOwnToken = source == rank.info.rank, isOwnExpert = owner == rank.info.rank;
      if (routed.ids[index] < 0 || (!isOwnToken && !isOwnExpert))
        continue;
      const std::vector<double> x = valuesAt(startOfA(source), token, work.hidden),
                                dy = valuesAt(startOfSlopes(source), token, work.hidden);
      const ExpertPass pass = passThrough(x, dy, owner, expert, work);
      const double weight = double(routed.weights[index]);
      if (isOwnToken)
        dweights[size_t(pair)] = pass.dweight;
      for (size_t unit = 0; unit < width; ++unit) {
        const size_t gateRow = (size_t(expert) * 2 * width + unit) * hidden, upRow = gateRow + width * hidden;
        const uint64_t start = startOfGateUp(owner);
        for (size_t i = 0; i < hidden; ++i) {
          const double dgate = weight * pass.dgate[unit], dup = weight * pass.dup[unit];
          if (isOwnToken)
            dx[size_t(token) * hidden + i] += dgate * double(Sequence::get().value(start + gateRow + i)) +
                                              dup * double(Sequence::get().value(start + upRow + i));
          if (isOwnExpert) {
            dgateUp[gateRow + i] += dgate * x[i];
            dgateUp[upRow + i] += dup * x[i];
            ddown[(size_t(expert) * hidden + i) * width + unit] += weight * dy[i] * pass.between[unit];
          }
        }
      }
    }
  return {{"dx", hidden, std::move(dx)},
          {"dweights", 1, std::move(dweights)},
          {"dgate_up", 2 * width * hidden, std::move(dgateUp)},
          {"ddown", hidden * width, std::move(ddown)}};
}

bool Moe::areRight(const Gradients &gradients, const std::vector<Known> &expected, const std::string &name) const {
  const Memory *const memories[] = {gradients.dx.get(), gradients.dweights.get(), gradients.dgateUp.get(),
                                    gradients.ddown.get()};
  for (size_t which = 0; which < expected.size(); ++which) {
    const Known &known = expected[which];
    std::vector<double> found;
    if (which == 0) {
      std::vector<uint16_t> bits(known.values.size());
      memories[which]->read(bits.data(), 0, bits.size() * sizeof(uint16_t));
      for (uint16_t value : bits)
        found.push_back(fromBf16(value));
    } else {
      std::vector<float> values(known.values.size());
      memories[which]->read(values.data(), 0, values.size() * sizeof(float));
      found.assign(values.begin(), values.end());
    }
    double total = 0;
    for (double value : known.values)
      total += value * value;
    for (size_t first = 0; first < found.size(); first += known.block) {
      double norm = 0;
      for (size_t i = first; i < first + known.block; ++i)
        norm += known.values[i] * known.values[i];
      // Gradients to which nothing contributes, such as those of experts without tokens, must be exactly 0. The other
      // gradients contain errors from rounding the values between the layers, and gradients, to bf16.
      constexpr double bound = 0.06; // large because sums of few terms may cancel
      const double tolerance =
          norm == 0 ? 0 : bound * std::sqrt(std::max(norm / double(known.block), total / double(found.size())));
      for (size_t i = first; i < first + known.block; ++i) {
        if (std::abs(found[i] - known.values[i]) <= tolerance + bound / 2 * std::abs(known.values[i]))
          continue;
        std::printf("WRONG: rank %d, %s: element %zu of %s is %g, expected %g\n", rank.info.rank, name.c_str(), i,
                    known.name, found[i], known.values[i]);
        return false;
      }
    }
  }
  return true;
}

/// Returns true if invalid calls, in which the other ranks do not take part, fail immediately and disturb nothing.
bool Moe::rejectsMisuse(tile_dist_plan *plan, const MoeCase &work, tile_dist_form form, const Buffers &buffers,
                        const Gradients &gradients) {
  const std::string name = std::string("experts ") + work.name + " " + nameOf(form) + ": misuse";
  rank.step(name);
  bool right = true;
  const auto expectError = [&](tile_status status, const std::string &text) {
    const std::string message = status == TILE_OK ? "" : tile_dist_last_error();
    if (status == TILE_ERROR_INVALID_ARGUMENT && message.find(text) != std::string::npos)
      return;
    std::printf("WRONG: rank %d, %s: status %d, '%s', expected '%s'\n", rank.info.rank, name.c_str(), int(status),
                message.c_str(), text.c_str());
    right = false;
  };
  const std::string prefix = "rank " + std::to_string(rank.info.rank) + ": moe_dispatch_gemm_combine: ";
  expectError(tile_dist_moe_backward(plan, rank.stream, &gradients.operands),
              prefix + "step 'backward dispatch' cannot follow now; expected 'dispatch'");
  expectError(tile_dist_moe_combine(plan, rank.stream, &buffers.operands),
              prefix + "step 'combine' cannot follow now; expected 'dispatch'");
  rank.barrier();
  checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands));
  tile_dist_moe_gradients wrong = gradients.operands;
  wrong.tokens = 1;
  expectError(tile_dist_moe_backward(plan, rank.stream, &wrong),
              prefix + "gradients.tokens is 1; the run had " + std::to_string(buffers.operands.tokens));
  for (const auto &[field, text] : {std::pair(offsetof(tile_dist_moe_gradients, dy), "dy"),
                                    std::pair(offsetof(tile_dist_moe_gradients, down), "down"),
                                    std::pair(offsetof(tile_dist_moe_gradients, ddown), "ddown"),
                                    std::pair(offsetof(tile_dist_moe_gradients, dweights), "dweights")}) {
    wrong = gradients.operands;
    std::memset(reinterpret_cast<char *>(&wrong) + field, 0, sizeof(void *));
    expectError(tile_dist_moe_backward(plan, rank.stream, &wrong), prefix + "gradients." + text + " is a null pointer");
  }
  // Kernels must reject the address before anything is enqueued; otherwise other ranks would wait for the remainder of
  // the pass.
  wrong = gradients.operands;
  wrong.dgate_up = reinterpret_cast<float *>(reinterpret_cast<char *>(wrong.dgate_up) + 1);
  expectError(tile_dist_moe_backward(plan, rank.stream, &wrong),
              prefix + "gradients.dgate_up: kernels.weight_gradient: kernel '");
  checkDist(tile_dist_moe_backward(plan, rank.stream, &gradients.operands));
  checkDist(tile_dist_synchronize(rank.comm, rank.stream));
  rank.barrier();
  tile_kernel *const kept = std::exchange(kernels.expand_gradient, nullptr);
  tile_dist_plan *other = makePlan(work, form, /*capacity=*/0);
  kernels.expand_gradient = kept;
  expectError(tile_dist_moe_backward(other, rank.stream, &gradients.operands),
              "tile_dist_moe_backward: the plan was created without kernels.expand_gradient");
  checkDist(tile_dist_plan_destroy(other));
  return right;
}

bool Moe::checkBackward(const MoeCase &work, tile_dist_form form) {
  const std::string name = std::string("experts ") + work.name + " " + nameOf(form) + " backward";
  rank.step(name + ": plan");
  tile_dist_plan *plan = makePlan(work, form, /*capacity=*/0);
  Buffers buffers = makeBuffers(work);
  Gradients gradients = makeGradients(work, buffers);
  // GEMMs take long in the simulator. The form without overlap uses the same kernels, so two routings are enough for
  // it.
  std::vector<Routing> kinds = {Routing::even, Routing::partial};
  if (form == TILE_DIST_CHUNKED)
    kinds.push_back(Routing::last);
  std::vector<Routed> routings;
  std::vector<std::vector<Known>> expected;
  for (Routing kind : kinds) {
    routings.push_back(route(work, kind));
    expected.push_back(expectGradients(work, routings.back()));
  }
  const auto use = [&](const Routed &routed) {
    this->use(work, routed, buffers);
    gradients.operands.tokens = routed.tokens;
    for (const Memory *memory :
         {gradients.dx.get(), gradients.dweights.get(), gradients.dgateUp.get(), gradients.ddown.get()})
      call("cuMemsetD8Async", memory->get(), static_cast<unsigned char>(0xff), memory->size(), rank.stream);
  };
  const auto run = [&] {
    checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands));
    checkDist(tile_dist_moe_backward(plan, rank.stream, &gradients.operands));
  };
  const auto runSteps = [&] { // after a run without a backward pass
    for (int repeat = 0; repeat < 2; ++repeat)
      checkDist(tile_dist_moe_run(plan, rank.stream, &buffers.operands));
    checkDist(tile_dist_moe_backward_dispatch(plan, rank.stream, &gradients.operands));
    checkDist(tile_dist_moe_backward_experts(plan, rank.stream, &gradients.operands));
    checkDist(tile_dist_moe_backward_combine(plan, rank.stream, &gradients.operands));
  };
  rank.barrier(); // no rank may allocate while the work of another rank waits
  bool right = true;
  for (size_t routing = 0; routing < kinds.size(); ++routing) {
    rank.step(name + ": run");
    use(routings[routing]);
    run();
    if (kinds[routing] == Routing::partial) // a pass must not disturb the previous one
      runSteps();
    checkDist(tile_dist_synchronize(rank.comm, rank.stream));
    right = areRight(gradients, expected[routing], name) && right;
    rank.barrier(); // the next iteration changes the routing of all ranks
  }
  if (rank.options.replays > 0 && form == TILE_DIST_CHUNKED) {
    // Both routings have all tokens, like the routing during capture.
    const size_t replayed[] = {0, 2};
    use(routings[0]);
    rank.replay(name, 2, run, [&](int replay) {
      if (replay > 0) {
        checkDist(tile_dist_synchronize(rank.comm, rank.stream));
        right = areRight(gradients, expected[replayed[0]], name + " graph") && right;
        rank.barrier();
      }
      use(routings[replayed[replay]]);
    });
    right = areRight(gradients, expected[replayed[1]], name + " graph") && right;
  }
  right = rejectsMisuse(plan, work, form, buffers, gradients) && right;
  rank.step(name + ": destroy");
  checkDist(tile_dist_plan_destroy(plan));
  return right;
}

} // namespace across
