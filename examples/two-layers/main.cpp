// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two consecutive GEMMs, y[M, N] = act(x[M, K] @ w1[K, H]) @ w2[H, N], in two forms:
//
//   two launches   the first writes h, with the activation in its epilogue; the second starts before the first ends
//   fused          h stays in registers; for narrow layers, whose h takes longer to store and load than the MMAs take
//
//   two-layers         compares both forms with fp64 at small sizes; without a GPU, in the simulator
//   two-layers time    also times large sizes, with and without overlapping launches; needs a GPU
#include "../driver/device.h"
#include "fused.h"
#include "hidden_few.h"
#include "hidden_many.h"
#include "hidden_middle.h"
#include "hidden_narrow.h"
#include "output_few.h"
#include "output_many.h"
#include "output_middle.h"
#include "output_narrow.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

namespace {

using Half = _Float16;

struct Shape {
  size_t m, k, h, n;
};

/// The kernels of both launches, tuned for sizes like those of `large`.
struct Layers {
  const char *name;
  Shape large;
  tile_kernel *hidden = nullptr, *output = nullptr;
};

double activate(double value) {
  if (ACTIVATION == 1)
    return std::max(value, 0.0);
  if (ACTIVATION == 2)
    return 0.5 * value * (1 + std::erf(value / std::sqrt(2.0)));
  return value / (1 + std::exp(-value));
}

/// Returns left[m, k] @ right[k, n].
std::vector<double> multiply(const std::vector<double> &left, const std::vector<double> &right, size_t m, size_t k,
                             size_t n) {
  std::vector<double> result(m * n);
  for (size_t row = 0; row < m; ++row)
    for (size_t i = 0; i < k; ++i)
      for (size_t column = 0; column < n; ++column)
        result[row * n + column] += left[row * k + i] * right[i * n + column];
  return result;
}

/// Returns normally distributed values, which repeat only after 65537 values.
std::vector<Half> draw(size_t count, double deviation) {
  constexpr size_t maxDifferent = 65537; // prime, so that rows differ
  static std::mt19937_64 generator(1);
  std::normal_distribution<double> normal(0, deviation);
  std::vector<Half> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = i < maxDifferent ? Half(normal(generator)) : values[i - maxDifferent];
  return values;
}

/// The device memory of one pair of layers, and its launches.
class Perceptron {
public:
  Perceptron(Device &device, const Shape &shape)
      : x(draw(shape.m * shape.k, 1)), w1(draw(shape.k * shape.h, 1 / std::sqrt(shape.k))),
        w2(draw(shape.h * shape.n, 1 / std::sqrt(shape.h))), device(device), shape(shape),
        onDevice{device.upload(x), device.upload(w1), device.upload(w2)}, h(device.allocate<Half>(shape.m * shape.h)),
        y(device.allocate<Half>(shape.m * shape.n)) {}

  void inTwoLaunches(const Layers &layers) {
    const int m = int(shape.m), k = int(shape.k), hidden = int(shape.h), n = int(shape.n), seed = 0;
    float *noFactors = nullptr;
    Half *none = nullptr;
    const float one = 1, never = 0;
    device.launch(layers.hidden, onDevice.x, onDevice.w1, noFactors, none, none, none, noFactors, h, m, hidden, k, k,
                  hidden, hidden, one, never, seed);
    device.launch(layers.output, h, onDevice.w2, y, m, n, hidden, hidden, n, n);
  }

  void inOne(tile_kernel *fused) {
    device.launch(fused, onDevice.x, onDevice.w1, onDevice.w2, y, int(shape.m), int(shape.k), int(shape.h),
                  int(shape.n));
  }

  /// Prints the error of y and returns whether rounding h and y to 16 bits explains it. Clears y.
  bool isRight(const char *name) {
    std::vector<double> hidden = multiply(decode(x), decode(w1), shape.m, shape.k, shape.h);
    std::transform(hidden.begin(), hidden.end(), hidden.begin(), activate);
    const std::vector<double> expected = multiply(hidden, decode(w2), shape.m, shape.h, shape.n);
    const std::vector<double> actual = decode(device.download(y, expected.size()));
    device.clear(y, expected.size() * sizeof(Half));
    constexpr double bound = 2e-3;
    double difference = 0, norm = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
    const double error = std::sqrt(difference / norm);
    std::printf("%-16s %s, relative error %.1e (bound %.0e)\n", name, error <= bound ? "ok" : "WRONG", error, bound);
    return error <= bound; // false for NaN
  }

private:
  const std::vector<Half> x, w1, w2;
  Device &device;
  const Shape shape;
  struct {
    Half *x, *w1, *w2;
  } onDevice;
  Half *h, *y;
};

bool checkSmall(Device &device, const std::vector<Layers> &all, tile_kernel *fused) {
  bool isRight = true;
  Perceptron small(device, {72, 56, 136, 40});
  for (const Layers &layers : all) {
    small.inTwoLaunches(layers);
    isRight &= small.isRight((std::string("launches, ") + layers.name).c_str());
  }
  small.inOne(fused);
  return isRight & small.isRight("fused");
}

void timeLarge(Device &device, const std::vector<Layers> &all, tile_kernel *fused) {
  constexpr int rounds = 21, repetitions = 10;
  for (const Layers &layers : all) {
    const Shape &shape = layers.large;
    Perceptron large(device, shape);
    struct Form {
      const char *name;
      bool overlaps, isFused;
      std::vector<float> times = {};
    };
    std::vector<Form> forms = {{"in turn", false, false}, {"overlapping", true, false}};
    if (shape.k <= 64 && shape.n <= 64) // the widths that `fused` supports
      forms.push_back({"fused", true, true});
    for (int round = -1; round < rounds; ++round) // the first round loads modules
      for (Form &form : forms) {
        device.overlaps = form.overlaps;
        const float time =
            device.time([&] { form.isFused ? large.inOne(fused) : large.inTwoLaunches(layers); }, repetitions);
        if (round >= 0)
          form.times.push_back(time);
      }
    std::printf("%-6s x[%zu, %zu], h[%zu], y[%zu]:", layers.name, shape.m, shape.k, shape.h, shape.n);
    for (Form &form : forms) {
      std::nth_element(form.times.begin(), form.times.begin() + rounds / 2, form.times.end());
      const float time = form.times[rounds / 2];
      const double operations = 2.0 * double(shape.m) * double(shape.h) * double(shape.k + shape.n);
      std::printf(" %s %.1f us (%.0f TFLOP/s)", form.name, 1e3 * time, operations / (time * 1e9));
    }
    std::printf("; medians of %d\n", rounds);
  }
}

} // namespace

int main(int count, char **words) try {
  const bool wantsTime = count == 2 && std::strcmp(words[1], "time") == 0;
  if (count > 1 && !wantsTime) {
    std::fprintf(stderr, "usage: two-layers [time]\n");
    return 2;
  }
  Device device;
  if (device.isSimulated())
    std::printf("There is no GPU here: ");
  std::printf("running on %s\n", device.name().c_str());
  std::vector<Layers> layers = {{"few", {16, 4096, 14336, 4096}},
                                {"middle", {512, 1024, 4096, 1024}},
                                {"many", {4096, 4096, 14336, 4096}},
                                {"narrow", {65536, 64, 256, 64}}};
  tile_kernel *fused = nullptr;
#define LOAD(name, kernel) Device::check(name##_load(device.runtime(), &kernel), #name)
  LOAD(hidden_few, layers[0].hidden), LOAD(output_few, layers[0].output);
  LOAD(hidden_middle, layers[1].hidden), LOAD(output_middle, layers[1].output);
  LOAD(hidden_many, layers[2].hidden), LOAD(output_many, layers[2].output);
  LOAD(hidden_narrow, layers[3].hidden), LOAD(output_narrow, layers[3].output);
  LOAD(fused, fused);
#undef LOAD
  if (!checkSmall(device, layers, fused))
    return 1;
  if (wantsTime && device.isSimulated())
    std::printf("There is nothing to measure without a GPU.\n");
  else if (wantsTime)
    timeLarge(device, layers, fused);
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
