// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mixture-of-experts layer whose experts are distributed over GPUs, forward and backward. A router gives each token
// its `topK` best experts and their weights; an expert is a gated perceptron, (silu(x @ gate) * (x @ up)) @ down:
//
//   x of the rank ──router──▶ experts and weights ──▶ rows go to the ranks of their experts ──▶ experts
//   ──▶ results return to the ranks of their tokens ──▶ y[t] = sum of weights[t, k] * expert ids[t, k] (x[t])
//
//   dy of the rank ──▶ rows go to the ranks of the experts ──▶ gradients of the experts' weights, which stay there
//   ──▶ gradients of rows return ──▶ dx, and the gradients of the weights[t, k] for the router
//
//   expert-parallel-moe [RANKS]     ranks are threads, one for each GPU (default: as many as fit, in the simulator 2)
//   torchrun --no-python --nproc-per-node=2 expert-parallel-moe      or mpirun -n 2, srun -n 2: ranks are processes
//
// Each pass runs twice: in one call, and in three steps, between which other work could be done. Every rank compares
// the results and gradients of its tokens, and the gradients of its experts, with an fp64 reference.
#include "../driver/ranks.h"
#include "back.h"
#include "combine.h"
#include "count.h"
#include "down.h"
#include "expand.h"
#include "expand_gradient.h"
#include "gate_up.h"
#include "gated_gradient.h"
#include "gather_weights.h"
#include "place.h"
#include "push.h"
#include "reduce.h"
#include "reference.h"
#include "route.h"
#include "weight_gradient.h"

namespace {

class Layer {
public:
  Layer(ranks::Rank &rank, const Tokens &own)
      : rank(rank), local(experts / rank.info.size), first(rank.info.rank * local) {
    const tile_dist_moe_shape shape = {tokens, hidden, width, experts, topK, /*capacity=*/0, TILE_DIST_BF16};
    const tile_dist_moe_kernels kernels = loadKernels();
    ranks::check(tile_dist_moe_plan_create(rank.comm, &shape, &kernels, TILE_DIST_AUTO, &plan));
    operands.tokens = tokens;
    operands.x = own.x.upload(0, tokens, 0, hidden, /*isTransposed=*/false);
    operands.ids = driver::upload(own.ids);
    operands.weights = driver::upload(own.weights);
    operands.gate_up = gateUp.upload(first * 2 * width, local * 2 * width, 0, hidden, /*isTransposed=*/false);
    operands.down = down.upload(first * hidden, local * hidden, 0, width, /*isTransposed=*/false);
    operands.y = y = driver::allocate<uint16_t>(size_t(tokens * hidden));
    gradients.tokens = tokens;
    gradients.dy = own.dy.upload(0, tokens, 0, hidden, /*isTransposed=*/false);
    gradients.gate_up = operands.gate_up, gradients.down = operands.down;
    gradients.dx = dx = driver::allocate<uint16_t>(size_t(tokens * hidden));
    gradients.dweights = driver::allocate<float>(size_t(tokens * topK));
    gradients.dgate_up = driver::allocate<float>(size_t(local * 2 * width * hidden));
    gradients.ddown = driver::allocate<float>(size_t(local * hidden * width));
    rank.finishSetUp();
  }
  ~Layer() { tile_dist_plan_destroy(plan); }

  void train() {
    ranks::check(tile_dist_moe_run(plan, rank.stream, &operands));
    ranks::check(tile_dist_moe_backward(plan, rank.stream, &gradients));
    rank.synchronize();
  }

  void trainInSteps() {
    ranks::check(tile_dist_moe_dispatch(plan, rank.stream, &operands));
    // A model would enqueue its shared expert here, and the gradients of the shared expert below.
    ranks::check(tile_dist_moe_experts(plan, rank.stream, &operands));
    ranks::check(tile_dist_moe_combine(plan, rank.stream, &operands));
    ranks::check(tile_dist_moe_backward_dispatch(plan, rank.stream, &gradients));
    ranks::check(tile_dist_moe_backward_experts(plan, rank.stream, &gradients));
    ranks::check(tile_dist_moe_backward_combine(plan, rank.stream, &gradients));
    rank.synchronize();
  }

  /// Returns the largest relative error of all results.
  double error(const Reference &reference) const {
    const auto rounded = [](const uint16_t *from, int64_t count) {
      std::vector<double> values;
      for (uint16_t bits : driver::download(from, size_t(count)))
        values.push_back(ranks::fromBf16(bits));
      return values;
    };
    const auto precise = [](const float *from, int64_t begin, int64_t count) {
      const std::vector<float> values = driver::download(from + begin, size_t(count));
      return std::vector<double>(values.begin(), values.end());
    };
    const size_t ownTokens = size_t(rank.info.rank * tokens);
    double worst =
        std::max({relativeError(rounded(y, tokens * hidden), reference.y, ownTokens * hidden),
                  relativeError(rounded(dx, tokens * hidden), reference.dx, ownTokens * hidden),
                  relativeError(precise(gradients.dweights, 0, tokens * topK), reference.dweights, ownTokens * topK)});
    for (int64_t expert = 0; expert < local; ++expert)
      for (const auto &[found, expected, size] :
           {std::tuple(gradients.dgate_up, &reference.dgateUp, 2 * width * hidden),
            std::tuple(gradients.ddown, &reference.ddown, hidden * width)})
        worst = std::max(
            worst, relativeError(precise(found, expert * size, size), *expected, size_t((first + expert) * size)));
    return worst;
  }

private:
  tile_dist_moe_kernels loadKernels() const {
    tile_dist_moe_kernels kernels = {};
    kernels.route = rank.load(route_load), kernels.push = rank.load(push_load);
    kernels.count = rank.load(count_load), kernels.place = rank.load(place_load);
    kernels.expand = rank.load(expand_load), kernels.reduce = rank.load(reduce_load);
    kernels.combine = rank.load(combine_load);
    kernels.gate_up = rank.load(gate_up_load), kernels.down = rank.load(down_load);
    // For the backward pass.
    kernels.expand_gradient = rank.load(expand_gradient_load), kernels.back = rank.load(back_load);
    kernels.gated_gradient = rank.load(gated_gradient_load), kernels.gather_weights = rank.load(gather_weights_load);
    kernels.weight_gradient = rank.load(weight_gradient_load);
    return kernels;
  }

  ranks::Rank &rank;
  const int64_t local, first; ///< number of the rank's experts, and its first expert
  tile_dist_plan *plan = nullptr;
  tile_dist_moe_operands operands = {};
  tile_dist_moe_gradients gradients = {};
  uint16_t *y = nullptr, *dx = nullptr;
};

bool runRank(tile_dist_group *group, int number) {
  ranks::Rank rank(group, number);
  static const std::vector<Tokens> all = [&] { // tokens of all ranks, since an expert's gradients are sums over them
    std::vector<Tokens> made;
    for (int other = 0; other < rank.info.size; ++other)
      made.emplace_back(other);
    return made;
  }();
  static const Reference reference(all); // the first rank computes it
  Layer layer(rank, all[size_t(rank.info.rank)]);
  layer.train();
  const double error = layer.error(reference);
  layer.trainInSteps();
  return rank.report(std::max(error, layer.error(reference)));
}

} // namespace

int main(int count, char **words) {
  const auto fits = [](int ranks) { return experts % ranks == 0; };
  return ranks::run({"expert-parallel-moe", "16", fits, runRank}, count, words);
}
