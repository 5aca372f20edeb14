// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reference implementation of the block on the host in double precision: the forward pass, and the backward pass by
// the chain rule, step by step.
#pragma once

#include <cstddef>
#include <vector>

using Matrix = std::vector<double>;

struct Shape {
  size_t batch, length, heads, hidden;
  static constexpr size_t head = 64; ///< head size
  size_t tokens() const { return batch * length; }
  size_t width() const { return heads * head; }
};

/// The trainable weights of the block, or their gradients.
struct Weights {
  Matrix norm1; ///< [width]
  Matrix qkv;   ///< [width, 3 * width]
  Matrix out;   ///< [width, width]
  Matrix norm2; ///< [width]
  Matrix both;  ///< [width, 2 * hidden]: gate and value
  Matrix down;  ///< [hidden, width]
};

struct Result {
  Matrix y;  ///< [tokens, width]
  Matrix dx; ///< gradient of x
  Weights gradients;
};

constexpr double normEpsilon = 1e-6;

/// Returns the angle by which columns i and i + head / 2 of a head are rotated at a position in the sequence.
double rotaryAngle(size_t place, size_t column);

Result computeReference(const Shape &shape, const Weights &weights, const Matrix &x, const Matrix &dy);
