// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A multilayer perceptron, y = relu(x @ w1) @ w2, forward and backward, whose weights are distributed over GPUs as in
// Megatron-LM with sequence parallelism. Each rank has some of the rows of x, some of the columns of w1 and some of the
// rows of w2:
//
//   x of the rank ──all-gather──▶ GEMM with its columns of w1, ReLU ──▶ h
//   h ──▶ GEMM with its rows of w2 ──reduce-scatter──▶ y of the rank
//
//   dy of the rank ──all-gather──▶ GEMM with its w2, where h > 0 ──▶ dh          dw2 = h^T @ gathered dy
//   dh ──▶ GEMM with its w1 ──reduce-scatter──▶ dx of the rank                   dw1 = gathered x^T @ dh
//
//   tensor-parallel-mlp [RANKS]     ranks are threads, one for each GPU (default: as many as fit, in the simulator 2)
//   torchrun --no-python --nproc-per-node=2 tensor-parallel-mlp      or mpirun -n 2, srun -n 2: ranks are processes
//
// Every rank compares its rows of y and dx, and the gradients of its weights, with an fp64 reference.
#include "../driver/ranks.h"
#include "hidden.h"
#include "hidden_wait.h"
#include "mask.h"
#include "output.h"
#include "reference.h"
#include "slope.h"
#include "slope_wait.h"
#include "sum.h"
#include "weight_gradient.h"

namespace {

const ranks::Matrix x(1, tokens, features, 1), w1(2, features, hidden, 0.25), w2(3, hidden, features, 0.125),
    dy(4, tokens, features, 1);

class Perceptron {
public:
  explicit Perceptron(ranks::Rank &rank)
      : rank(rank), part(hidden / rank.info.size), rows(tokens / rank.info.size), slope(rank.load(slope_load)),
        sum(rank.load(sum_load)) {
    const tile_dist_shape wide = {tokens, part, features, TILE_DIST_BF16},
                          narrow = {tokens, features, part, TILE_DIST_BF16};
    firstLayer = plan(TILE_DIST_ALL_GATHER_GEMM, wide, rank.load(hidden_load), rank.load(hidden_wait_load));
    secondLayer = plan(TILE_DIST_GEMM_REDUCE_SCATTER, narrow, rank.load(output_load), nullptr);
    secondBackward = plan(TILE_DIST_ALL_GATHER_GEMM, wide, slope, rank.load(slope_wait_load));
    firstBackward = plan(TILE_DIST_GEMM_REDUCE_SCATTER, narrow, slope, nullptr);
    const int64_t firstRow = rank.info.rank * rows, firstUnit = rank.info.rank * part;
    ownX = x.upload(firstRow, rows, 0, features, /*isTransposed=*/false);
    ownDy = dy.upload(firstRow, rows, 0, features, /*isTransposed=*/false);
    ownW1 = w1.upload(0, features, firstUnit, part, /*isTransposed=*/true);
    ownW2 = w2.upload(firstUnit, part, 0, features, /*isTransposed=*/true);
    h = driver::allocate<uint16_t>(size_t(tokens * part));
    dh = driver::allocate<uint16_t>(size_t(tokens * part));
    y = driver::allocate<uint16_t>(size_t(rows * features));
    dx = driver::allocate<uint16_t>(size_t(rows * features));
    dw1 = driver::allocate<float>(size_t(part * features));
    dw2 = driver::allocate<float>(size_t(part * features));
    rank.finishSetUp();
  }
  ~Perceptron() {
    for (tile_dist_plan *plan : {firstBackward, secondBackward, secondLayer, firstLayer})
      tile_dist_plan_destroy(plan);
  }

  void forward() {
    ranks::check(tile_dist_run(firstLayer, rank.stream, ownX, ownW1, h));
    ranks::check(tile_dist_run(secondLayer, rank.stream, h, ownW2, y));
  }

  /// Must follow a forward pass, because it uses the gathered rows of x.
  void backward() {
    ranks::check(tile_dist_run(secondBackward, rank.stream, ownDy, ownW2, dh));
    driver::check(mask_launch(mask, rank.stream, h, dh, int32_t(tokens * part)));
    ranks::check(tile_dist_run(firstBackward, rank.stream, dh, ownW1, dx));
    // Both gradients are transposed, as the weights are.
    driver::check(weight_gradient_launch(weightGradient, rank.stream, dh, gathered(firstLayer, ownX), dw1,
                                         int32_t(part), features, tokens));
    driver::check(weight_gradient_launch(weightGradient, rank.stream, gathered(secondBackward, ownDy), h, dw2, features,
                                         int32_t(part), tokens));
    rank.synchronize();
  }

  /// Returns the largest relative error of all results.
  double error(const Reference &reference) const {
    const int64_t firstRow = rank.info.rank * rows, firstUnit = rank.info.rank * part;
    const auto rounded = [](const uint16_t *from, int64_t count) {
      std::vector<double> values;
      for (uint16_t bits : driver::download(from, size_t(count)))
        values.push_back(ranks::fromBf16(bits));
      return values;
    };
    const auto precise = [](const float *from, int64_t count) {
      const std::vector<float> values = driver::download(from, size_t(count));
      return std::vector<double>(values.begin(), values.end());
    };
    return std::max(
        {relativeError(rounded(y, rows * features), reference.y, firstRow * features),
         relativeError(rounded(dx, rows * features), reference.dx, firstRow * features),
         relativeError(precise(dw1, part * features), reference.dw1, firstUnit * features),
         relativeError(transposed(precise(dw2, part * features), features), reference.dw2, firstUnit * features)});
  }

private:
  tile_dist_plan *plan(tile_dist_operation operation, const tile_dist_shape &shape, tile_kernel *gemm,
                       tile_kernel *waiting) const {
    tile_dist_kernels kernels = {};
    kernels.gemm = gemm, kernels.gemm_wait = waiting, kernels.sum = sum;
    tile_dist_plan *made = nullptr;
    ranks::check(tile_dist_plan_create(rank.comm, operation, &shape, &kernels, TILE_DIST_AUTO, &made));
    return made;
  }

  /// Returns the rows of all ranks that the plan has gathered; `own` are the rows of this rank.
  static uint16_t *gathered(tile_dist_plan *plan, uint16_t *own) {
    tile_dist_plan_info info;
    ranks::check(tile_dist_plan_describe(plan, &info));
    return info.gathered ? static_cast<uint16_t *>(const_cast<void *>(info.gathered)) : own;
  }

  ranks::Rank &rank;
  const int64_t part, rows; ///< hidden units and tokens of the rank
  tile_kernel *slope, *sum, *mask = rank.load(mask_load), *weightGradient = rank.load(weight_gradient_load);
  tile_dist_plan *firstLayer = nullptr, *secondLayer = nullptr, *secondBackward = nullptr, *firstBackward = nullptr;
  uint16_t *ownX = nullptr, *ownDy = nullptr, *ownW1 = nullptr, *ownW2 = nullptr;
  uint16_t *h = nullptr, *dh = nullptr, *y = nullptr, *dx = nullptr;
  float *dw1 = nullptr, *dw2 = nullptr;
};

bool runRank(tile_dist_group *group, int number) {
  ranks::Rank rank(group, number);
  Perceptron perceptron(rank);
  for (int run = 0; run < 2; ++run) {
    perceptron.forward();
    perceptron.backward();
  }
  static const Reference reference(x, w1, w2, dy); // the first rank computes it
  return rank.report(perceptron.error(reference));
}

} // namespace

int main(int count, char **words) {
  const auto fits = [](int ranks) { return tokens % ranks == 0 && hidden % (8 * ranks) == 0; };
  return ranks::run({"tensor-parallel-mlp", "240 and 120", fits, runRank}, count, words);
}
