// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains the perceptron of train-mlp on several GPUs, each of which has the whole model and a share of every batch:
//
//   images of the rank ──forward, loss, backward──▶ its gradients ──all-reduce──▶ gradients of the batch ──▶ step
//
//   data-parallel-mlp digits.csv [EPOCHS [RANKS]]     ranks are threads, one for each GPU (in the simulator 2)
//   torchrun --no-python --nproc-per-node=2 data-parallel-mlp digits.csv     or mpirun -n 2, srun -n 2: processes
//
// All ranks add the same gradients in the same order, so their models stay equal bit for bit. At the end every rank
// compares its model with the models of the other ranks, and fails if they differ or if fewer than 85 % of the test
// images are classified correctly.
#include "../driver/ranks.h"
#include "../train-mlp/digits.h"
#include "backward.h"
#include "gradient.h"
#include "hidden_forward.h"
#include "loss.h"
#include "output_forward.h"
#include "step.h"
#include "sum.h"

#include <array>
#include <cmath>
#include <random>

namespace {

constexpr int hidden = 48, batch = 64, maxRanks = 8;
constexpr float learningRate = 0.1f, momentum = 0.9f, maxWrong = 0.15f;

/// A few values that a rank sends to all other ranks.
using Note = std::array<float, 4>;

/// Offsets in the array of all parameters and in the array of their gradients, which one all-reduce sums over the
/// ranks. Layers begin at multiples of 16 bytes. After the gradients, the array has the losses of the batch and the
/// notes of all ranks: each rank writes its own losses and its own note, and zeros for the other ranks, so the sum
/// contains the losses and notes of all ranks.
constexpr int weights1 = 0, bias1 = weights1 + pixels * hidden, weights2 = bias1 + hidden,
              bias2 = weights2 + hidden * digits, parameters = bias2 + (digits + 3) / 4 * 4, losses = parameters,
              notes = losses + batch, elements = notes + maxRanks * int(Note().size());

class Training {
public:
  Training(ranks::Rank &rank, const Data &data)
      : rank(rank), share(batch / rank.info.size), batches(data.learned.count() / batch),
        labels(shareOf(data.tested.labels, 1)) {
    tile_dist_kernels kernels = {};
    kernels.sum = rank.load(sum_load);
    constexpr int64_t granule = 8; // a rank sums a multiple of this number of elements
    const int64_t size = rank.info.size, columns = (elements + size * granule - 1) / (size * granule) * granule;
    const tile_dist_shape shape = {size, columns, 0, TILE_DIST_F32};
    ranks::check(tile_dist_plan_create(rank.comm, TILE_DIST_ALL_REDUCE, &shape, &kernels, TILE_DIST_AUTO, &plan));
    own = driver::upload(std::vector<float>(size_t(size * columns)));
    total = driver::allocate<float>(size_t(size * columns));
    model = driver::upload(initialModel());
    velocity = driver::upload(std::vector<float>(parameters));
    std::vector<float> images;
    std::vector<int32_t> digitsOfImages;
    for (int first = rank.info.rank * share; first < batches * batch; first += batch) {
      const auto pixel = data.learned.pixels.begin() + first * pixels;
      images.insert(images.end(), pixel, pixel + share * pixels);
      const auto label = data.learned.labels.begin() + first;
      digitsOfImages.insert(digitsOfImages.end(), label, label + share);
    }
    x = driver::upload(images);
    xLabels = driver::upload(digitsOfImages);
    xTested = driver::upload(shareOf(data.tested.pixels, pixels));
    const size_t rows = std::max(size_t(share), labels.size());
    h = driver::allocate<float>(rows * hidden);
    y = driver::allocate<float>(rows * digits);
    dh = driver::allocate<float>(size_t(share) * hidden);
    dy = driver::allocate<float>(size_t(share) * digits);
    driver::call("cuCtxSynchronize"); // the non-blocking stream does not wait for the uploads
    rank.finishSetUp();
  }
  ~Training() { tile_dist_plan_destroy(plan); }

  void runEpoch() {
    for (int number = 0; number < batches; ++number) {
      float *images = x + size_t(number * share) * pixels;
      evaluate(images, share);
      check(loss_launch(loss, rank.stream, y, xLabels + number * share, own + losses + rank.info.rank * share, dy,
                        share, digits));
      check(backward_launch(backward, rank.stream, dy, model + weights2, h, dh, share, digits, hidden));
      check(gradient_launch(gradient, rank.stream, h, dy, own + weights2, own + bias2, share, digits, hidden));
      check(gradient_launch(gradient, rank.stream, images, dh, own + weights1, own + bias1, share, hidden, pixels));
      ranks::check(tile_dist_run(plan, rank.stream, own, nullptr, total));
      check(step_launch(step, rank.stream, total, model, velocity, parameters, learningRate / batch, momentum));
    }
    rank.synchronize();
  }

  /// Returns the mean loss of the last batch.
  float meanLoss() const {
    float sum = 0;
    for (float bits : driver::download(total + losses, batch))
      sum += bits;
    return sum / batch;
  }

  /// Returns how many test images all ranks together classify correctly.
  int countAllRight() {
    evaluate(xTested, int(labels.size()));
    rank.synchronize();
    const int right = countRight(driver::download(y, labels.size() * digits), labels);
    float sum = 0;
    for (const Note &note : exchange({float(right)}))
      sum += note[0];
    return int(sum);
  }

  /// Returns the FNV-1a hash of the bits of all weights.
  uint64_t fingerprint() const {
    uint64_t hash = 0xcbf29ce484222325;
    for (float value : driver::download(model, parameters)) {
      unsigned char bytes[sizeof(value)];
      std::memcpy(bytes, &value, sizeof(value));
      for (unsigned char byte : bytes)
        hash = (hash ^ byte) * 0x100000001b3;
    }
    return hash;
  }

  /// Returns true if the models of all ranks have the same bits.
  bool isEverywhereEqual() {
    const uint64_t hash = fingerprint();
    Note mine; // floats represent 16-bit integers exactly
    for (size_t i = 0; i < mine.size(); ++i)
      mine[i] = float(hash >> (16 * i) & 0xffff);
    const std::vector<Note> all = exchange(mine);
    return std::all_of(all.begin(), all.end(), [&](const Note &other) { return other == mine; });
  }

private:
  static void check(tile_status status) { driver::check(status); }

  /// Returns random initial parameters (He et al., 2015), which are the same on every rank.
  static std::vector<float> initialModel() {
    std::vector<float> values(parameters);
    std::mt19937 random(1);
    const auto fill = [&](int first, int inputs, int outputs) {
      std::normal_distribution<float> normal(0, std::sqrt(2 / float(inputs)));
      std::generate_n(values.begin() + first, inputs * outputs, [&] { return normal(random); });
    };
    fill(weights1, pixels, hidden);
    fill(weights2, hidden, digits);
    return values;
  }

  /// Returns the rank's part of a test set with `width` values for each image.
  template <typename T> std::vector<T> shareOf(const std::vector<T> &values, size_t width) const {
    const size_t count = values.size() / width, size = size_t(rank.info.size), number = size_t(rank.info.rank);
    return {values.begin() + ptrdiff_t(number * count / size * width),
            values.begin() + ptrdiff_t((number + 1) * count / size * width)};
  }

  void evaluate(float *images, int rows) {
    check(hidden_forward_launch(hiddenForward, rank.stream, images, model + weights1, model + bias1, h, rows, hidden,
                                pixels));
    check(
        output_forward_launch(outputForward, rank.stream, h, model + weights2, model + bias2, y, rows, digits, hidden));
  }

  /// Collective: returns the notes of all ranks, in order.
  std::vector<Note> exchange(const Note &mine) {
    driver::call("cuMemcpyHtoDAsync_v2", driver::Address(own + notes + rank.info.rank * int(mine.size())),
                 static_cast<const void *>(mine.data()), sizeof(mine), rank.stream);
    ranks::check(tile_dist_run(plan, rank.stream, own, nullptr, total));
    rank.synchronize();
    const std::vector<float> values = driver::download(total + notes, size_t(rank.info.size) * mine.size());
    std::vector<Note> all(size_t(rank.info.size));
    std::memcpy(all.data(), values.data(), values.size() * sizeof(float));
    return all;
  }

  ranks::Rank &rank;
  tile_kernel *hiddenForward = rank.load(hidden_forward_load), *outputForward = rank.load(output_forward_load),
              *loss = rank.load(loss_load), *backward = rank.load(backward_load), *gradient = rank.load(gradient_load),
              *step = rank.load(step_load);
  const int share, batches; ///< `share`: number of images of a batch that the rank processes
  const std::vector<int32_t> labels;
  tile_dist_plan *plan = nullptr;
  float *own = nullptr, *total = nullptr; ///< gradients, losses and notes: of this rank, and summed
  float *model = nullptr, *velocity = nullptr;
  float *x = nullptr, *xTested = nullptr;
  int32_t *xLabels = nullptr;
  float *h = nullptr, *y = nullptr, *dh = nullptr, *dy = nullptr;
};

bool runRank(tile_dist_group *group, int number, const Data &data, int epochs) {
  ranks::Rank rank(group, number);
  Training training(rank, data);
  const int tested = data.tested.count();
  int right = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    training.runEpoch();
    right = training.countAllRight();
    if (rank.info.rank == 0)
      std::printf("epoch %d: loss %.3f bits, %d of %d right\n", epoch, training.meanLoss(), right, tested);
  }
  const bool isEqual = training.isEverywhereEqual(), isGood = right >= (1 - maxWrong) * tested;
  std::printf("rank %d of %d: %s, model %016llx\n", rank.info.rank, rank.info.size,
              !isEqual ? "DIFFERS FROM OTHERS"
              : isGood ? "trained"
                       : "NOT TRAINED",
              static_cast<unsigned long long>(training.fingerprint()));
  return isEqual && isGood;
}

} // namespace

int main(int count, char **words) try {
  const int epochs = count >= 3 ? std::atoi(words[2]) : 20;
  if (count < 2 || count > 4 || epochs < 1) {
    std::fprintf(stderr, "usage: data-parallel-mlp digits.csv [EPOCHS [RANKS]]\n");
    return 2;
  }
  const Data data = readDigits(words[1], batch);
  const auto fits = [](int ranks) { return ranks <= maxRanks && batch % ranks == 0; };
  const auto body = [&](tile_dist_group *group, int number) { return runRank(group, number, data, epochs); };
  char *ofRanks[] = {words[0], words[3]}; // words[3] is used only if it is there
  return ranks::run({"data-parallel-mlp digits.csv EPOCHS", "64", fits, body}, count == 4 ? 2 : 1, ofRanks);
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
