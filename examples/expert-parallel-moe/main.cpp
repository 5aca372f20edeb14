// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mixture-of-experts layer whose experts are distributed over GPUs. A router gives each token its `topK` best experts
// and their weights; each expert is a gated perceptron, expert(x) = (silu(x @ gate) * (x @ up)) @ down:
//
//   x of the rank ──router──▶ experts and weights ──▶ rows go to the ranks of their experts ──▶ experts
//   ──▶ results return to the ranks of their tokens ──▶ y[t] = sum of weights[t, k] * expert ids[t, k] (x[t])
//
//   expert-parallel-moe [RANKS]     ranks are threads, one for each GPU (default: as many as fit, in the simulator 2)
//   torchrun --no-python --nproc-per-node=2 expert-parallel-moe      or mpirun -n 2, srun -n 2: ranks are processes
//
// The layer runs in one call, and in three steps, between which other work could be done; every rank compares the
// result for its tokens with fp64.
#include "../driver/ranks.h"
#include "combine.h"
#include "count.h"
#include "down.h"
#include "expand.h"
#include "gate_up.h"
#include "place.h"
#include "push.h"
#include "reduce.h"
#include "route.h"

#include <cmath>
#include <numeric>

namespace {

constexpr int64_t tokens = 24, hidden = 64, width = 40, experts = 16, topK = 4; // tokens of each rank

const ranks::Matrix router(1, hidden, experts, 1);
const ranks::Matrix gateUp(2, hidden, experts * 2 * width, 0.25); // expert by expert, gate before up
const ranks::Matrix down(3, experts *width, hidden, 0.25);

class Layer {
public:
  explicit Layer(ranks::Rank &rank) : rank(rank), x(uint64_t(4 + rank.info.rank), tokens, hidden, 1) {
    const int64_t local = experts / rank.info.size, first = rank.info.rank * local;
    const tile_dist_moe_shape shape = {tokens, hidden, width, experts, topK, /*capacity=*/0, TILE_DIST_BF16};
    tile_dist_moe_kernels kernels = {};
    kernels.route = rank.load(route_load), kernels.push = rank.load(push_load);
    kernels.count = rank.load(count_load), kernels.place = rank.load(place_load);
    kernels.expand = rank.load(expand_load), kernels.reduce = rank.load(reduce_load);
    kernels.combine = rank.load(combine_load);
    kernels.gate_up = rank.load(gate_up_load), kernels.down = rank.load(down_load);
    ranks::check(tile_dist_moe_plan_create(rank.comm, &shape, &kernels, TILE_DIST_AUTO, &plan));
    for (int64_t token = 0; token < tokens; ++token)
      route(token);
    operands.tokens = tokens;
    operands.x = x.upload(0, tokens, 0, hidden, /*isTransposed=*/false);
    operands.ids = driver::upload(ids);
    operands.weights = driver::upload(weights);
    operands.gate_up = gateUp.upload(0, hidden, first * 2 * width, local * 2 * width, /*isTransposed=*/true);
    operands.down = uploadDown(first, local);
    y = driver::allocate<uint16_t>(size_t(tokens * hidden));
    operands.y = y;
    rank.finishSetUp();
  }
  ~Layer() { tile_dist_plan_destroy(plan); }

  void forward() {
    ranks::check(tile_dist_moe_run(plan, rank.stream, &operands));
    rank.synchronize();
  }

  void forwardInSteps() {
    ranks::check(tile_dist_moe_dispatch(plan, rank.stream, &operands));
    // A model would enqueue its shared expert here.
    ranks::check(tile_dist_moe_experts(plan, rank.stream, &operands));
    ranks::check(tile_dist_moe_combine(plan, rank.stream, &operands));
    rank.synchronize();
  }

  double error() const {
    const std::vector<uint16_t> found = driver::download(y, size_t(tokens * hidden));
    double difference = 0, norm = 0;
    for (int64_t token = 0; token < tokens; ++token) {
      std::vector<double> expected(hidden);
      for (int64_t k = 0; k < topK; ++k)
        addExpert(token, ids[size_t(token * topK + k)], weights[size_t(token * topK + k)], expected);
      for (int64_t column = 0; column < hidden; ++column) {
        const double error = ranks::fromBf16(found[size_t(token * hidden + column)]) - expected[size_t(column)];
        difference += error * error;
        norm += expected[size_t(column)] * expected[size_t(column)];
      }
    }
    return std::sqrt(difference / norm);
  }

private:
  /// Gives a token its experts, with the softmax of their scores as weights. A model does this on the GPU.
  void route(int64_t token) {
    std::vector<double> scores(experts);
    for (int64_t expert = 0; expert < experts; ++expert)
      for (int64_t i = 0; i < hidden; ++i)
        scores[size_t(expert)] += x.value(token, i) * router.value(i, expert);
    std::vector<int32_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + topK, order.end(),
                      [&](int32_t a, int32_t b) { return scores[size_t(a)] > scores[size_t(b)]; });
    double total = 0;
    for (int64_t k = 0; k < topK; ++k)
      total += std::exp(scores[size_t(order[size_t(k)])]);
    for (int64_t k = 0; k < topK; ++k) {
      ids.push_back(order[size_t(k)]);
      weights.push_back(float(std::exp(scores[size_t(order[size_t(k)])]) / total));
    }
  }

  /// Uploads the second layers of experts, each transposed.
  static uint16_t *uploadDown(int64_t first, int64_t count) {
    std::vector<uint16_t> values;
    for (int64_t expert = first; expert < first + count; ++expert)
      for (int64_t column = 0; column < hidden; ++column)
        for (int64_t unit = 0; unit < width; ++unit)
          values.push_back(down.bits(expert * width + unit, column));
    return driver::upload(values);
  }

  void addExpert(int64_t token, int64_t expert, double weight, std::vector<double> &result) const {
    for (int64_t unit = 0; unit < width; ++unit) {
      double gate = 0, up = 0;
      for (int64_t i = 0; i < hidden; ++i) {
        gate += x.value(token, i) * gateUp.value(i, expert * 2 * width + unit);
        up += x.value(token, i) * gateUp.value(i, expert * 2 * width + width + unit);
      }
      const double between = gate / (1 + std::exp(-gate)) * up;
      for (int64_t column = 0; column < hidden; ++column)
        result[size_t(column)] += weight * between * down.value(expert * width + unit, column);
    }
  }

  ranks::Rank &rank;
  const ranks::Matrix x; ///< tokens of this rank
  tile_dist_plan *plan = nullptr;
  tile_dist_moe_operands operands = {};
  std::vector<int32_t> ids;
  std::vector<float> weights;
  uint16_t *y = nullptr;
};

bool runRank(tile_dist_group *group, int number) {
  ranks::Rank rank(group, number);
  Layer layer(rank);
  layer.forward();
  const double error = layer.error();
  layer.forwardInSteps();
  return rank.report(std::max(error, layer.error()));
}

} // namespace

int main(int count, char **words) {
  const auto fits = [](int ranks) { return experts % ranks == 0; };
  return ranks::run({"expert-parallel-moe", "16", fits, runRank}, count, words);
}
