// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reference implementation of the perceptron and its gradients on the host, in fp64.
#pragma once

#include "../driver/ranks.h"

#include <cmath>
#include <vector>

constexpr int32_t tokens = 240, features = 64, hidden = 960; // divisible by 1 to 6 and by 8

/// The results in row-major order. Gradients of weights have a row for each hidden unit.
struct Reference {
  Reference(const ranks::Matrix &x, const ranks::Matrix &w1, const ranks::Matrix &w2, const ranks::Matrix &dy)
      : y(tokens * features), dx(tokens * features), dw1(hidden * features), dw2(hidden * features) {
    const std::vector<double> xs = valuesOf(x), w1s = valuesOf(w1), w2s = valuesOf(w2), dys = valuesOf(dy);
    for (int token = 0; token < tokens; ++token)
      for (int unit = 0; unit < hidden; ++unit) {
        double h = 0, dh = 0;
        for (int i = 0; i < features; ++i) {
          h += xs[token * features + i] * w1s[i * hidden + unit];
          dh += dys[token * features + i] * w2s[unit * features + i];
        }
        if (h <= 0)
          continue; // the ReLU is inactive
        for (int i = 0; i < features; ++i) {
          y[token * features + i] += h * w2s[unit * features + i];
          dx[token * features + i] += dh * w1s[i * hidden + unit];
          dw1[unit * features + i] += dh * xs[token * features + i];
          dw2[unit * features + i] += h * dys[token * features + i];
        }
      }
  }

  std::vector<double> y, dx, dw1, dw2;

private:
  static std::vector<double> valuesOf(const ranks::Matrix &matrix) {
    std::vector<double> values;
    for (int64_t row = 0; row < matrix.rows; ++row)
      for (int64_t column = 0; column < matrix.columns; ++column)
        values.push_back(matrix.value(row, column));
    return values;
  }
};

/// Returns the relative error of `found` against the elements of `expected` from `first` on.
inline double relativeError(const std::vector<double> &found, const std::vector<double> &expected, int64_t first) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double wanted = expected[size_t(first) + i];
    difference += (found[i] - wanted) * (found[i] - wanted);
    norm += wanted * wanted;
  }
  const double error = std::sqrt(difference / norm);
  return error >= 0 ? error : INFINITY; // a NaN would vanish in a maximum
}

/// Returns the transpose of a matrix with `rows` rows.
inline std::vector<double> transposed(const std::vector<double> &values, int64_t rows) {
  const int64_t columns = int64_t(values.size()) / rows;
  std::vector<double> result(values.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      result[size_t(column * rows + row)] = values[size_t(row * columns + column)];
  return result;
}
