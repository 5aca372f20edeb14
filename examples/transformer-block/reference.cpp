// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference.h"

#include <algorithm>
#include <cmath>

namespace {

/// Returns a[m, k] @ b[k, n].
Matrix multiply(const Matrix &a, const Matrix &b, size_t m, size_t n, size_t k) {
  Matrix c(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t p = 0; p < k; ++p)
      for (size_t j = 0; j < n; ++j)
        c[i * n + j] += a[i * k + p] * b[p * n + j];
  return c;
}

Matrix transpose(const Matrix &a, size_t rows, size_t columns) {
  Matrix result(a.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      result[j * rows + i] = a[i * columns + j];
  return result;
}

void add(Matrix &to, const Matrix &from) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] += from[i];
}

double scaleOf(const double *row, size_t n) {
  double squares = 0;
  for (size_t j = 0; j < n; ++j)
    squares += row[j] * row[j];
  return 1 / std::sqrt(squares / double(n) + normEpsilon);
}

Matrix normalize(const Matrix &x, const Matrix &weight, size_t m) {
  const size_t n = weight.size();
  Matrix y(x.size());
  for (size_t i = 0; i < m; ++i) {
    const double s = scaleOf(&x[i * n], n);
    for (size_t j = 0; j < n; ++j)
      y[i * n + j] = x[i * n + j] * s * weight[j];
  }
  return y;
}

/// Adds the gradients of a normalization to dx and dweight.
void normalizeBackward(const Matrix &x, const Matrix &weight, const Matrix &dy, size_t m, Matrix &dx, Matrix &dweight) {
  const size_t n = weight.size();
  dweight.resize(n);
  for (size_t i = 0; i < m; ++i) {
    const double *row = &x[i * n], *grad = &dy[i * n];
    const double s = scaleOf(row, n);
    double mean = 0;
    for (size_t j = 0; j < n; ++j)
      mean += grad[j] * weight[j] * row[j] / double(n);
    for (size_t j = 0; j < n; ++j) {
      dx[i * n + j] += s * (grad[j] * weight[j] - row[j] * s * s * mean);
      dweight[j] += grad[j] * row[j] * s;
    }
  }
}

/// Rotates q and k in place; with `sign` -1, applies the inverse rotation.
void rotate(const Shape &shape, Matrix &qkv, double sign) {
  constexpr size_t half = Shape::head / 2;
  for (size_t token = 0; token < shape.tokens(); ++token)
    for (size_t head = 0; head < 2 * shape.heads; ++head)
      for (size_t i = 0; i < half; ++i) {
        const double angle = sign * rotaryAngle(token % shape.length, i);
        double &low = qkv[token * 3 * shape.width() + head * Shape::head + i], &high = *(&low + half);
        const double turned = low * std::cos(angle) - high * std::sin(angle);
        high = high * std::cos(angle) + low * std::sin(angle);
        low = turned;
      }
}

/// Causal attention of one head of one sequence. The columns of q, k and v start at `first` in each third of a row of
/// qkv.
class Head {
public:
  Head(const Shape &shape, const Matrix &qkv, size_t sequence, size_t head)
      : shape(shape), qkv(qkv), token(sequence * shape.length), first(head * Shape::head) {
    for (size_t i = 0; i < shape.length; ++i) {
      std::vector<double> row(i + 1);
      double sum = 0;
      for (size_t j = 0; j <= i; ++j)
        sum += row[j] = std::exp(scale * dot(qkv, 0, i, qkv, 1, j));
      for (double &weight : row)
        weight /= sum;
      weights.push_back(row);
    }
  }

  void forward(Matrix &o) const {
    for (size_t i = 0; i < shape.length; ++i)
      for (size_t j = 0; j <= i; ++j)
        for (size_t d = 0; d < Shape::head; ++d)
          o[(token + i) * shape.width() + first + d] += weights[i][j] * qkv[place(2, j) + d];
  }

  void backward(const Matrix &grad, Matrix &dqkv) const {
    for (size_t i = 0; i < shape.length; ++i) {
      const double *row = &grad[(token + i) * shape.width() + first];
      std::vector<double> dweights(i + 1);
      double mean = 0;
      for (size_t j = 0; j <= i; ++j) {
        for (size_t d = 0; d < Shape::head; ++d) {
          dweights[j] += row[d] * qkv[place(2, j) + d];
          dqkv[place(2, j) + d] += weights[i][j] * row[d];
        }
        mean += weights[i][j] * dweights[j];
      }
      for (size_t j = 0; j <= i; ++j) {
        const double dscore = scale * weights[i][j] * (dweights[j] - mean);
        for (size_t d = 0; d < Shape::head; ++d) {
          dqkv[place(0, i) + d] += dscore * qkv[place(1, j) + d];
          dqkv[place(1, j) + d] += dscore * qkv[place(0, i) + d];
        }
      }
    }
  }

private:
  size_t place(size_t third, size_t row) const { return ((token + row) * 3 + third) * shape.width() + first; }
  double dot(const Matrix &a, size_t thirdA, size_t i, const Matrix &b, size_t thirdB, size_t j) const {
    double sum = 0;
    for (size_t d = 0; d < Shape::head; ++d)
      sum += a[place(thirdA, i) + d] * b[place(thirdB, j) + d];
    return sum;
  }

  const Shape &shape;
  const Matrix &qkv;
  const size_t token, first;
  const double scale = 1 / std::sqrt(double(Shape::head));
  std::vector<std::vector<double>> weights; ///< attention weights of row i
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

} // namespace

double rotaryAngle(size_t place, size_t column) {
  return double(place) * std::pow(10000.0, -2.0 * double(column) / double(Shape::head));
}

Result computeReference(const Shape &shape, const Weights &weights, const Matrix &x, const Matrix &dy) {
  const size_t m = shape.tokens(), n = shape.width(), f = shape.hidden;
  Result result;
  Weights &gradients = result.gradients;

  const Matrix n1 = normalize(x, weights.norm1, m);
  Matrix qkv = multiply(n1, weights.qkv, m, 3 * n, n);
  rotate(shape, qkv, 1);
  std::vector<Head> heads;
  for (size_t i = 0; i < shape.batch * shape.heads; ++i)
    heads.emplace_back(shape, qkv, i / shape.heads, i % shape.heads);
  Matrix o(m * n);
  for (const Head &head : heads)
    head.forward(o);
  Matrix h = multiply(o, weights.out, m, n, n);
  add(h, x);
  const Matrix n2 = normalize(h, weights.norm2, m);
  const Matrix both = multiply(n2, weights.both, m, 2 * f, n);
  Matrix a(m * f);
  for (size_t i = 0; i < m * f; ++i) {
    const double gate = both[i / f * 2 * f + i % f];
    a[i] = gate * sigmoid(gate) * both[i / f * 2 * f + f + i % f];
  }
  result.y = multiply(a, weights.down, m, n, f);
  add(result.y, h);

  const Matrix da = multiply(dy, transpose(weights.down, f, n), m, f, n);
  gradients.down = multiply(transpose(a, m, f), dy, f, n, m);
  Matrix dboth(m * 2 * f);
  for (size_t i = 0; i < m * f; ++i) {
    const size_t place = i / f * 2 * f + i % f;
    const double gate = both[place], opened = sigmoid(gate);
    dboth[place] = da[i] * both[place + f] * opened * (1 + gate * (1 - opened));
    dboth[place + f] = da[i] * gate * opened;
  }
  const Matrix dn2 = multiply(dboth, transpose(weights.both, n, 2 * f), m, n, 2 * f);
  gradients.both = multiply(transpose(n2, m, n), dboth, n, 2 * f, m);
  Matrix dh = dy;
  normalizeBackward(h, weights.norm2, dn2, m, dh, gradients.norm2);
  const Matrix grad = multiply(dh, transpose(weights.out, n, n), m, n, n);
  gradients.out = multiply(transpose(o, m, n), dh, n, n, m);
  Matrix dqkv(m * 3 * n);
  for (const Head &head : heads)
    head.backward(grad, dqkv);
  rotate(shape, dqkv, -1);
  const Matrix dn1 = multiply(dqkv, transpose(weights.qkv, n, 3 * n), m, n, 3 * n);
  gradients.qkv = multiply(transpose(n1, m, n), dqkv, n, 3 * n, m);
  result.dx = dh;
  normalizeBackward(x, weights.norm1, dn1, m, result.dx, gradients.norm1);
  return result;
}
