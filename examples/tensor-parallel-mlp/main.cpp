// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A multilayer perceptron, y = relu(x @ w1) @ w2, whose weights are distributed over GPUs, as in Megatron-LM with
// sequence parallelism. Each rank has a part of the rows of x, of the columns of w1 and of the rows of w2:
//
//   x of the rank ──all-gather──▶ GEMM with its columns of w1, ReLU ──▶ h
//   h ──▶ GEMM with its rows of w2 ──reduce-scatter──▶ y of the rank
//
//   tensor-parallel-mlp [RANKS]     ranks are threads, one for each GPU (default: as many as fit, in the simulator 2)
//   torchrun --no-python --nproc-per-node=2 tensor-parallel-mlp      or mpirun -n 2, srun -n 2: ranks are processes
//
// Every rank compares its rows of y with fp64.
#include "../driver/ranks.h"
#include "hidden.h"
#include "hidden_wait.h"
#include "output.h"
#include "sum.h"

#include <cmath>

namespace {

constexpr int64_t tokens = 240, features = 64, hidden = 960; // for 1 to 6 and 8 ranks

const ranks::Matrix x(1, tokens, features, 1), w1(2, features, hidden, 0.25), w2(3, hidden, features, 0.125);

class Perceptron {
public:
  explicit Perceptron(ranks::Rank &rank) : rank(rank) {
    const int64_t part = hidden / rank.info.size, rows = tokens / rank.info.size;
    tile_dist_kernels gather = {}, scatter = {};
    gather.gemm = rank.load(hidden_load), gather.gemm_wait = rank.load(hidden_wait_load);
    scatter.gemm = rank.load(output_load), scatter.sum = rank.load(sum_load);
    const tile_dist_shape first = {tokens, part, features, TILE_DIST_BF16},
                          second = {tokens, features, part, TILE_DIST_BF16};
    ranks::check(
        tile_dist_plan_create(rank.comm, TILE_DIST_ALL_GATHER_GEMM, &first, &gather, TILE_DIST_AUTO, &firstLayer));
    ranks::check(tile_dist_plan_create(rank.comm, TILE_DIST_GEMM_REDUCE_SCATTER, &second, &scatter, TILE_DIST_AUTO,
                                       &secondLayer));
    own = x.upload(rank.info.rank * rows, rows, 0, features, /*isTransposed=*/false);
    ownW1 = w1.upload(0, features, rank.info.rank * part, part, /*isTransposed=*/true);
    ownW2 = w2.upload(rank.info.rank * part, part, 0, features, /*isTransposed=*/true);
    h = driver::allocate<uint16_t>(size_t(tokens * part));
    y = driver::allocate<uint16_t>(size_t(rows * features));
    ranks::check(tile_dist_barrier(rank.comm)); // no rank may allocate while the work of another one waits for it
  }
  ~Perceptron() {
    tile_dist_plan_destroy(secondLayer);
    tile_dist_plan_destroy(firstLayer);
  }

  void forward() {
    ranks::check(tile_dist_run(firstLayer, rank.stream, own, ownW1, h));
    ranks::check(tile_dist_run(secondLayer, rank.stream, h, ownW2, y));
    rank.synchronize();
  }

  double error() const {
    const int64_t rows = tokens / rank.info.size;
    const std::vector<uint16_t> found = driver::download(y, size_t(rows * features));
    double difference = 0, norm = 0;
    std::vector<double> between(hidden);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t unit = 0; unit < hidden; ++unit) {
        double sum = 0;
        for (int64_t i = 0; i < features; ++i)
          sum += x.value(rank.info.rank * rows + row, i) * w1.value(i, unit);
        between[size_t(unit)] = std::max(sum, 0.0);
      }
      for (int64_t column = 0; column < features; ++column) {
        double expected = 0;
        for (int64_t unit = 0; unit < hidden; ++unit)
          expected += between[size_t(unit)] * w2.value(unit, column);
        const double error = ranks::fromBf16(found[size_t(row * features + column)]) - expected;
        difference += error * error;
        norm += expected * expected;
      }
    }
    return std::sqrt(difference / norm);
  }

private:
  ranks::Rank &rank;
  tile_dist_plan *firstLayer = nullptr, *secondLayer = nullptr;
  uint16_t *own = nullptr, *ownW1 = nullptr, *ownW2 = nullptr, *h = nullptr, *y = nullptr;
};

bool runRank(tile_dist_group *group, int number) {
  ranks::Rank rank(group, number);
  Perceptron perceptron(rank);
  for (int run = 0; run < 3; ++run)
    perceptron.forward();
  return rank.report(perceptron.error());
}

} // namespace

int main(int count, char **words) {
  const auto fits = [](int ranks) { return tokens % ranks == 0 && hidden % (8 * ranks) == 0; };
  return ranks::run({"tensor-parallel-mlp", "240 and 120", fits, runRank}, count, words);
}
