// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tokens of all ranks with their routing, and a reference implementation of the layer and its gradients on the
// host, in fp64.
#pragma once

#include "../driver/ranks.h"

#include <cmath>
#include <numeric>
#include <vector>

constexpr int64_t tokens = 24, hidden = 64, width = 40, experts = 16, topK = 4; // tokens of each rank

inline const ranks::Matrix router(1, hidden, experts, 1);
inline const ranks::Matrix gateUp(2, experts * 2 * width, hidden, 0.25); // expert by expert, gate before up
inline const ranks::Matrix down(3, experts *hidden, width, 0.25);        // expert by expert

/// The tokens of a rank, the gradients of their results, and their experts.
struct Tokens {
  explicit Tokens(int rank) : x(uint64_t(4 + rank), tokens, hidden, 1), dy(uint64_t(104 + rank), tokens, hidden, 1) {
    for (int64_t token = 0; token < tokens; ++token)
      route(token);
  }

  const ranks::Matrix x, dy;
  std::vector<int32_t> ids;   ///< [tokens, topK]
  std::vector<float> weights; ///< weight of each id

private:
  /// Assigns its best experts to a token, with the softmax of their scores as weights. A model does this on the GPU.
  void route(int64_t token) {
    std::vector<double> scores(experts);
    for (int64_t expert = 0; expert < experts; ++expert)
      for (int64_t i = 0; i < hidden; ++i)
        scores[size_t(expert)] += x.value(token, i) * router.value(i, expert);
    scores[1] += 4;    // a popular expert
    scores[6] -= 1000; // an expert without tokens
    std::vector<int32_t> order(experts);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + topK, order.end(),
                      [&](int32_t a, int32_t b) { return scores[size_t(a)] > scores[size_t(b)]; });
    double total = 0;
    for (int64_t k = 0; k < topK; ++k)
      total += std::exp(scores[size_t(order[size_t(k)])] - scores[size_t(order[0])]);
    for (int64_t k = 0; k < topK; ++k) {
      ids.push_back(order[size_t(k)]);
      weights.push_back(float(std::exp(scores[size_t(order[size_t(k)])] - scores[size_t(order[0])]) / total));
    }
  }
};

/// Results and gradients of all ranks.
class Reference {
public:
  explicit Reference(const std::vector<Tokens> &all)
      : y(all.size() * tokens * hidden), dx(y.size()), dweights(all.size() * tokens * topK),
        dgateUp(experts * 2 * width * hidden), ddown(experts * hidden * width), gateUps(valuesOf(gateUp)),
        downs(valuesOf(down)) {
    for (size_t rank = 0; rank < all.size(); ++rank) {
      const std::vector<double> xs = valuesOf(all[rank].x), dys = valuesOf(all[rank].dy);
      for (size_t pair = 0; pair < tokens * topK; ++pair) {
        const size_t local = pair / topK, token = rank * tokens + local;
        dweights[rank * tokens * topK + pair] =
            addExpert(size_t(all[rank].ids[pair]), double(all[rank].weights[pair]), &xs[local * hidden],
                      &dys[local * hidden], &y[token * hidden], &dx[token * hidden]);
      }
    }
  }

  std::vector<double> y, dx, dweights, dgateUp, ddown;

private:
  static std::vector<double> valuesOf(const ranks::Matrix &matrix) {
    std::vector<double> values;
    for (int64_t row = 0; row < matrix.rows; ++row)
      for (int64_t column = 0; column < matrix.columns; ++column)
        values.push_back(matrix.value(row, column));
    return values;
  }

  /// Adds the contributions of an expert to the result of a token and to the gradients. Returns the gradient of the
  /// routing weight.
  double addExpert(size_t expert, double weight, const double *x, const double *dy, double *result, double *slope) {
    double ofWeight = 0;
    for (size_t unit = 0; unit < width; ++unit) {
      const size_t gateRow = (expert * 2 * width + unit) * hidden, upRow = gateRow + width * hidden;
      double gate = 0, up = 0, dbetween = 0;
      for (size_t i = 0; i < hidden; ++i) {
        gate += x[i] * gateUps[gateRow + i];
        up += x[i] * gateUps[upRow + i];
        dbetween += dy[i] * downs[(expert * hidden + i) * width + unit];
      }
      const double opened = 1 / (1 + std::exp(-gate)), between = gate * opened * up;
      ofWeight += dbetween * between;
      const double dup = weight * dbetween * gate * opened,
                   dgate = weight * dbetween * up * opened * (1 + gate * (1 - opened));
      for (size_t i = 0; i < hidden; ++i) {
        const size_t place = (expert * hidden + i) * width + unit;
        result[i] += weight * between * downs[place];
        slope[i] += dgate * gateUps[gateRow + i] + dup * gateUps[upRow + i];
        ddown[place] += weight * dy[i] * between;
        dgateUp[gateRow + i] += dgate * x[i];
        dgateUp[upRow + i] += dup * x[i];
      }
    }
    return ofWeight;
  }

  const std::vector<double> gateUps, downs;
};

/// Returns the relative error of `found` against the elements of `expected` from `first` on. If all of these elements
/// are 0, the result must be exactly 0.
inline double relativeError(const std::vector<double> &found, const std::vector<double> &expected, size_t first) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double wanted = expected[first + i];
    difference += (found[i] - wanted) * (found[i] - wanted);
    norm += wanted * wanted;
  }
  const double error = difference == 0 ? 0 : std::sqrt(difference / norm);
  return error >= 0 ? error : INFINITY; // a NaN would vanish in a maximum
}
