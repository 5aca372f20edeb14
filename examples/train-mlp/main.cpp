// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a two-layer perceptron on images of digits and prints its accuracy on the test set:
//
//   x[64] ─ w1, b1 ─► ReLU, h[48] ─ w2, b2 ─► y[10] ─► cross entropy
//
//   train-mlp digits.csv [EPOCHS]      default: 20
//
// It fails if the accuracy is below 85 %. Everything except reading the file and counting correct results runs on the
// GPU, or in the simulator.
#include "../driver/driver.h"
#include "backward.h"
#include "digits.h"
#include "hidden_forward.h"
#include "loss.h"
#include "output_forward.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace {

constexpr int hidden = 48, batch = 64;
constexpr float momentum = 0.9f, maxWrong = 0.15f;

/// The weights and the bias of a layer, and their momentum.
struct Layer {
  float *w, *v, *bias, *biasV;

  Layer(int inputs, int outputs, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, std::sqrt(2 / float(inputs))); // He et al., 2015
    std::vector<float> weights(size_t(inputs) * outputs);
    for (float &weight : weights)
      weight = normal(random);
    w = driver::upload(weights);
    v = driver::upload(std::vector<float>(weights.size()));
    bias = driver::upload(std::vector<float>(outputs));
    biasV = driver::upload(std::vector<float>(outputs));
  }
};

class Network {
public:
  Network(tile_runtime *runtime, int maxRows) {
    driver::check(hidden_forward_load(runtime, &hiddenForward));
    driver::check(output_forward_load(runtime, &outputForward));
    driver::check(loss_load(runtime, &loss));
    driver::check(backward_load(runtime, &backward));
    driver::check(update_load(runtime, &update));
    h = driver::allocate<float>(size_t(maxRows) * hidden);
    y = driver::allocate<float>(size_t(maxRows) * digits);
    dh = driver::allocate<float>(size_t(batch) * hidden);
    dy = driver::allocate<float>(size_t(batch) * digits);
    losses = driver::allocate<float>(batch);
  }

  float *evaluate(float *x, int rows) {
    driver::check(hidden_forward_launch(hiddenForward, nullptr, x, first.w, first.bias, h, rows, hidden, pixels));
    driver::check(output_forward_launch(outputForward, nullptr, h, second.w, second.bias, y, rows, digits, hidden));
    return y;
  }

  /// Runs one training step on the images and labels of a batch.
  void train(float *x, int32_t *labels, float rate) {
    evaluate(x, batch);
    driver::check(loss_launch(loss, nullptr, y, labels, losses, dy, batch, digits));
    driver::check(backward_launch(backward, nullptr, dy, second.w, h, dh, batch, digits, hidden));
    step(second, h, dy, digits, hidden, rate);
    step(first, x, dh, hidden, pixels, rate);
  }

  /// Returns the mean loss of the last batch.
  float meanLoss() const {
    float sum = 0;
    for (float bits : driver::download(losses, batch))
      sum += bits;
    return sum / batch;
  }

private:
  void step(const Layer &layer, float *x, float *gradient, int outputs, int inputs, float rate) {
    driver::check(update_launch(update, nullptr, x, gradient, layer.w, layer.v, layer.bias, layer.biasV, batch, outputs,
                                inputs, rate / batch, momentum));
  }

  tile_kernel *hiddenForward, *outputForward, *loss, *backward, *update;
  Layer first{pixels, hidden, 1}, second{hidden, digits, 2};
  float *h, *y, *dh, *dy, *losses;
};

} // namespace

int main(int count, char **words) try {
  const int epochs = count == 3 ? std::atoi(words[2]) : 20;
  if (count < 2 || count > 3 || epochs < 1) {
    std::fprintf(stderr, "usage: train-mlp digits.csv [EPOCHS]\n");
    return 2;
  }
  const Data data = readDigits(words[1], batch);
  const int tested = data.tested.count();
  tile_runtime *runtime = driver::open();
  std::printf("running on %s\n", driver::deviceName().c_str());

  float *images = driver::upload(data.learned.pixels), *others = driver::upload(data.tested.pixels);
  int32_t *labels = driver::upload(data.learned.labels);
  Network network(runtime, std::max(batch, tested));
  int right = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (int begin = 0; begin + batch <= data.learned.count(); begin += batch)
      network.train(images + begin * pixels, labels + begin, 0.1f);
    const float *y = network.evaluate(others, tested);
    right = countRight(driver::download(y, size_t(tested) * digits), data.tested.labels);
    std::printf("epoch %d: loss %.3f bits, %d of %d right\n", epoch, network.meanLoss(), right, tested);
  }
  const bool isGood = right >= (1 - maxWrong) * tested;
  std::printf("%s\n", isGood ? "trained" : "NOT TRAINED");
  return isGood ? 0 : 1;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
