// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A transformer block, forward and backward, that consists of tile kernels: RMSNorm, attention with rotary position
// embeddings, and a gated MLP.
//
//   h = x + attention(norm(x) @ w_qkv) @ w_out
//   y = h + (silu(gate) * value) @ w_down        gate, value = norm(h) @ w_both
//
//   transformer-block         runs a small block and compares each result with fp64; without a GPU, in the simulator
//   transformer-block time    also times a large block, with and without overlapping launches; needs a GPU
//
// Tensors are 16-bit floats, with fp32 accumulation. The forward pass saves what the backward pass needs.
#include "../driver/device.h"
#include "attention_backward_keys.h"
#include "attention_backward_queries.h"
#include "attention_forward.h"
#include "gemm.h"
#include "gemm_residual.h"
#include "linear_backward_input.h"
#include "linear_backward_weight.h"
#include "merge_heads.h"
#include "norm_backward.h"
#include "norm_forward.h"
#include "reference.h"
#include "split_gradient.h"
#include "split_heads.h"
#include "swiglu_backward.h"
#include "swiglu_forward.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

namespace {

using Half = _Float16;

struct Kernels {
  explicit Kernels(tile_runtime *runtime) {
#define LOAD(kernel) Device::check(kernel##_load(runtime, &kernel), #kernel)
    LOAD(norm_forward), LOAD(norm_backward), LOAD(split_heads), LOAD(merge_heads), LOAD(attention_forward);
    LOAD(attention_backward_keys), LOAD(attention_backward_queries), LOAD(split_gradient), LOAD(swiglu_forward);
    LOAD(swiglu_backward), LOAD(gemm), LOAD(gemm_residual), LOAD(linear_backward_input);
    LOAD(linear_backward_weight);
#undef LOAD
  }
  tile_kernel *norm_forward, *norm_backward, *split_heads, *merge_heads, *attention_forward, *attention_backward_keys,
      *attention_backward_queries, *split_gradient, *swiglu_forward, *swiglu_backward, *gemm, *gemm_residual,
      *linear_backward_input, *linear_backward_weight;
};

/// The block's device memory and its launches. Shapes are as in reference.h; z is the total number of heads of all
/// sequences.
class Block {
public:
  Block(Device &device, const Kernels &kernels, const Shape &shape)
      : device(device), kernels(kernels), m(int(shape.tokens())), n(int(shape.width())), f(int(shape.hidden)),
        s(int(shape.length)), heads(int(shape.heads)), z(int(shape.batch * shape.heads)) {
    const size_t wide = shape.tokens() * shape.width(), hidden = shape.tokens() * shape.hidden;
    for (Half **small : {&n1, &o, &h, &n2, &y, &q, &k, &v, &dq, &dk, &dv, &dn, &dh, &dsplit, &dx})
      *small = device.allocate<Half>(wide);
    for (Half **large : {&qkv, &dqkv})
      *large = device.allocate<Half>(3 * wide);
    for (Half **large : {&a, &da})
      *large = device.allocate<Half>(hidden);
    for (Half **large : {&both, &dboth})
      *large = device.allocate<Half>(2 * hidden);
    for (float **rows : {&scale1, &scale2})
      *rows = device.allocate<float>(shape.tokens());
    for (float **rows : {&lse, &delta})
      *rows = device.allocate<float>(shape.tokens() * shape.heads);
    for (float **columns : {&dnorm1, &dnorm2})
      *columns = device.allocate<float>(shape.width());
    const size_t square = shape.width() * shape.width();
    dwQkv = device.allocate<Half>(3 * square);
    dwOut = device.allocate<Half>(square);
    dwBoth = device.allocate<Half>(2 * shape.width() * shape.hidden);
    dwDown = device.allocate<Half>(shape.width() * shape.hidden);
    std::vector<float> cosines, sines;
    for (size_t place = 0; place < shape.length; ++place)
      for (size_t i = 0; i < Shape::head / 2; ++i) {
        cosines.push_back(float(std::cos(rotaryAngle(place, i))));
        sines.push_back(float(std::sin(rotaryAngle(place, i))));
      }
    cosine = device.upload(cosines);
    sine = device.upload(sines);
  }

  void forward() {
    device.launch(kernels.norm_forward, x, wNorm1, n1, scale1, m, n, epsilon);
    multiply(n1, wQkv, nullptr, qkv, 3 * n, n);
    device.launch(kernels.split_heads, qkv, cosine, sine, q, k, v, z, heads, s);
    device.launch(kernels.attention_forward, q, k, v, o, lse, z, heads, s, scoreScale);
    multiply(o, wOut, x, h, n, n);
    device.launch(kernels.norm_forward, h, wNorm2, n2, scale2, m, n, epsilon);
    multiply(n2, wBoth, nullptr, both, 2 * f, n);
    device.launch(kernels.swiglu_forward, both, a, m, f);
    multiply(a, wDown, h, y, n, f);
  }

  void backward() {
    device.clear(dnorm1, sizeof(float) * size_t(n));
    device.clear(dnorm2, sizeof(float) * size_t(n));
    differentiate(a, wDown, dy, da, dwDown, f, n);
    device.launch(kernels.swiglu_backward, both, da, dboth, m, f);
    differentiate(n2, wBoth, dboth, dn, dwBoth, n, 2 * f);
    device.launch(kernels.norm_backward, h, dn, wNorm2, scale2, dy, dh, dnorm2, m, n, programs);
    differentiate(o, wOut, dh, dn, dwOut, n, n);
    device.launch(kernels.split_gradient, o, dn, dsplit, delta, z, heads, s);
    device.launch(kernels.attention_backward_keys, q, k, v, dsplit, lse, delta, dk, dv, z, s, scoreScale);
    device.launch(kernels.attention_backward_queries, q, k, v, dsplit, lse, delta, dq, z, s, scoreScale);
    device.launch(kernels.merge_heads, dq, dk, dv, cosine, sine, dqkv, z, heads, s);
    differentiate(n1, wQkv, dqkv, dn, dwQkv, n, 3 * n);
    device.launch(kernels.norm_backward, x, dn, wNorm1, scale1, dh, dx, dnorm1, m, n, programs);
  }

  // Inputs, allocated by the caller.
  Half *x = nullptr, *dy = nullptr, *wNorm1 = nullptr, *wQkv = nullptr, *wOut = nullptr, *wNorm2 = nullptr,
       *wBoth = nullptr, *wDown = nullptr;
  // Outputs.
  Half *y, *dx, *dwQkv, *dwOut, *dwBoth, *dwDown;
  float *dnorm1, *dnorm2;

private:
  /// Computes c[m, columns] = a[m, terms] @ b[terms, columns] + residual.
  void multiply(Half *left, Half *right, Half *residual, Half *result, int columns, int terms) {
    Half *none = nullptr;
    float *noFactors = nullptr;
    const float one = 1, never = 0;
    const int seed = 0;
    device.launch(residual ? kernels.gemm_residual : kernels.gemm, left, right, noFactors, none, residual, none,
                  noFactors, result, m, columns, terms, terms, columns, columns, one, never, seed);
  }

  /// Computes the gradients of result[m, columns] = left[m, terms] @ right[terms, columns].
  void differentiate(Half *left, Half *right, Half *dresult, Half *dleft, Half *dright, int terms, int columns) {
    float *noBias = nullptr;
    device.launch(kernels.linear_backward_input, dresult, right, dleft, m, columns, terms);
    device.launch(kernels.linear_backward_weight, left, dresult, dright, noBias, m, columns, terms);
  }

  Device &device;
  const Kernels &kernels;
  const int m, n, f, s, heads, z;
  const int programs = std::min(264, (m + 15) / 16); ///< programs that share the rows of a norm
  const float epsilon = float(normEpsilon), scoreScale = 1 / std::sqrt(float(Shape::head));
  Half *n1, *qkv, *q, *k, *v, *o, *h, *n2, *both, *a;
  Half *da, *dboth, *dn, *dh, *dsplit, *dq, *dk, *dv, *dqkv;
  float *scale1, *scale2, *lse, *delta, *cosine, *sine;
};

/// Returns random values that 16-bit floats represent exactly, so that device and reference compute with the same
/// inputs.
std::vector<Half> draw(size_t count, double deviation, double mean = 0) {
  static std::mt19937_64 generator(1);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<Half> values(count);
  for (Half &value : values)
    value = Half(normal(generator));
  return values;
}

struct Inputs {
  explicit Inputs(const Shape &shape) {
    const size_t m = shape.tokens(), n = shape.width(), f = shape.hidden;
    x = draw(m * n, 1);
    dy = draw(m * n, 1);
    norm1 = draw(n, 0.1, 1);
    norm2 = draw(n, 0.1, 1);
    qkv = draw(3 * n * n, 1 / std::sqrt(n));
    out = draw(n * n, 1 / std::sqrt(n));
    both = draw(2 * n * f, 1 / std::sqrt(n));
    down = draw(n * f, 1 / std::sqrt(f));
  }
  void upload(Device &device, Block &block) const {
    block.x = device.upload(x);
    block.dy = device.upload(dy);
    block.wNorm1 = device.upload(norm1);
    block.wNorm2 = device.upload(norm2);
    block.wQkv = device.upload(qkv);
    block.wOut = device.upload(out);
    block.wBoth = device.upload(both);
    block.wDown = device.upload(down);
  }
  std::vector<Half> x, dy, norm1, norm2, qkv, out, both, down;
};

/// Prints the relative error in norm and returns whether it is within 16-bit rounding; false for NaN.
bool isNear(const char *name, const Matrix &actual, const Matrix &expected) {
  constexpr double bound = 5e-3;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  const double error = std::sqrt(difference / norm);
  const bool isRight = error <= bound;
  std::printf("%-8s %s, relative error %.1e (bound %.0e)\n", name, isRight ? "ok" : "WRONG", error, bound);
  return isRight;
}

template <typename T> Matrix toHost(Device &device, const T *values, const Matrix &like) {
  const std::vector<T> numbers = device.download(values, like.size());
  return {numbers.begin(), numbers.end()};
}

bool checkSmall(Device &device, const Kernels &kernels) {
  const Shape shape = {2, 72, 2, 184};
  const Inputs inputs(shape);
  Block block(device, kernels, shape);
  inputs.upload(device, block);
  block.forward();
  block.backward();
  const Result expected = computeReference(shape,
                                           {decode(inputs.norm1), decode(inputs.qkv), decode(inputs.out),
                                            decode(inputs.norm2), decode(inputs.both), decode(inputs.down)},
                                           decode(inputs.x), decode(inputs.dy));
  bool isRight = true;
  auto check = [&](const char *name, const auto *actual, const Matrix &matrix) {
    isRight &= isNear(name, toHost(device, actual, matrix), matrix);
  };
  const Weights &gradients = expected.gradients;
  check("y", block.y, expected.y);
  check("dx", block.dx, expected.dx);
  check("dnorm1", block.dnorm1, gradients.norm1);
  check("dw_qkv", block.dwQkv, gradients.qkv);
  check("dw_out", block.dwOut, gradients.out);
  check("dnorm2", block.dnorm2, gradients.norm2);
  check("dw_both", block.dwBoth, gradients.both);
  check("dw_down", block.dwDown, gradients.down);
  return isRight;
}

void timeLarge(Device &device, const Kernels &kernels) {
  const Shape shape = {2, 2048, 32, 5632};
  const Inputs inputs(shape);
  Block block(device, kernels, shape);
  inputs.upload(device, block);
  // The number of multiply-adds of the GEMMs with weights and of attention's two GEMMs, of which only the unmasked half
  // counts.
  const double m = double(shape.tokens()), n = double(shape.width()), f = double(shape.hidden);
  const double gemms = m * n * (4 * n + 3 * f), attention = m * n * double(shape.length);
  auto measure = [&](const char *name, double operations, auto &&work) {
    constexpr int rounds = 21;
    work();
    std::vector<float> inTurn(rounds), overlapping(rounds);
    for (int round = 0; round < rounds; ++round) {
      device.overlaps = false;
      inTurn[round] = device.time(work);
      device.overlaps = true;
      overlapping[round] = device.time(work);
    }
    for (std::vector<float> *times : {&inTurn, &overlapping})
      std::nth_element(times->begin(), times->begin() + rounds / 2, times->end());
    const float alone = inTurn[rounds / 2], time = overlapping[rounds / 2];
    std::printf("%-8s %.3f ms, %.0f TFLOP/s; launches that do not overlap: %.3f ms (medians of %d)\n", name, time,
                operations / (time * 1e9), alone, rounds);
  };
  std::printf("%.0f tokens, %.0f columns, %.0f hidden:\n", m, n, f);
  measure("forward", 2 * (gemms + attention), [&] { block.forward(); });
  measure("backward", 2 * (2 * gemms + 2.5 * attention), [&] { block.backward(); });
}

} // namespace

int main(int count, char **words) try {
  const bool wantsTime = count == 2 && std::strcmp(words[1], "time") == 0;
  if (count > 1 && !wantsTime) {
    std::fprintf(stderr, "usage: transformer-block [time]\n");
    return 2;
  }
  Device device;
  if (device.isSimulated())
    std::printf("There is no GPU here: ");
  std::printf("running on %s\n", device.name().c_str());
  const Kernels kernels(device.runtime());
  if (!checkSmall(device, kernels))
    return 1;
  if (wantsTime && device.isSimulated())
    std::printf("There is nothing to measure without a GPU.\n");
  else if (wantsTime)
    timeLarge(device, kernels);
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
