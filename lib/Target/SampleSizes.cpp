// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of GEMMs for which kernels are chosen.
#include "Target/KernelSet.h"

#include <algorithm>
#include <cmath>

namespace tile::target {
namespace {

/// Returns element `index` of the Halton sequence, which is between 0 and 1. Each element lies in the largest gap
/// between the previous elements.
double halton(unsigned index, unsigned base) {
  double result = 0, part = 1;
  for (; index > 0; index /= base) {
    part /= base;
    result += part * (index % base);
  }
  return result;
}

/// Returns the size at the position `place`, between 0 and 1, on the logarithmic scale of `range`.
int64_t between(std::pair<int, int> range, double place) {
  return std::llround(range.first * std::pow(double(range.second) / range.first, place));
}

class Sample {
public:
  explicit Sample(const KnownSizes &known) : known(known) {}

  void add(int64_t m, int64_t n, int64_t k, double weight) {
    if (weight == 0)
      return;
    GemmSize size{known.m.value_or(m), known.n.value_or(n), known.k.value_or(k)};
    auto isSame = [&](const SampledSize &other) { return other.size == size; };
    if (std::none_of(sizes.begin(), sizes.end(), isSame))
      sizes.push_back({size, weight});
  }

  std::vector<SampledSize> take() { return std::move(sizes); }

private:
  KnownSizes known;
  std::vector<SampledSize> sizes;
};

} // namespace

std::vector<SampledSize> sampleSizes(const KnownSizes &known, SampleKind kind) {
  constexpr double anywhere = 1;
  const double usual = kind == SampleKind::OfNetworks ? 6 : 0;
  Sample sample(known);
  auto spread = [&](unsigned number, std::pair<int, int> m, std::pair<int, int> n, std::pair<int, int> k) {
    for (unsigned i = 1; i <= number; ++i)
      sample.add(between(m, halton(i, 2)), between(n, halton(i, 3)), between(k, halton(i, 5)), anywhere);
  };
  constexpr int most = 16384;
  for (int64_t size : {512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 12288, 16384})
    sample.add(size, size, size, 2 * usual);
  // Layers of neural networks: rows are tokens, columns and depth the layer's outputs and inputs.
  for (int64_t rows : {1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192})
    for (auto [columns, depth] : {std::pair(4096, 4096), {4096, 14336}, {14336, 4096}, {8192, 8192}})
      sample.add(rows, columns, depth, usual);
  // Few tiles with many steps.
  for (int64_t rows : {16, 64, 128, 256, 512, 1024})
    for (int64_t columns : {256, 512, 1024, 2048})
      sample.add(rows, columns, 8192, anywhere);
  spread(120, {16, most}, {16, most}, {16, most});
  spread(60, {256, most}, {256, most}, {256, most});
  spread(40, {1, 64}, {512, 2 * most}, {256, most});
  spread(20, {512, most}, {8, 128}, {256, most});
  // Small GEMMs, whose kernels must start and end quickly.
  spread(15, {1, 16}, {16, most}, {16, most});
  spread(15, {16, most}, {1, 16}, {16, most});
  spread(15, {16, most}, {16, most}, {1, 16});
  spread(40, {16, 1024}, {16, 1024}, {16, most});
  return sample.take();
}

} // namespace tile::target
