// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes and values of the functions of TensorFunctions.h. Each function follows its definition literally.
#include "Runner/Check/FunctionOperands.h"

#include "Directives/Functions.h"
#include "Runner/Parallel.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace tile::runner {
namespace {

constexpr int64_t maxRepeats = 1 << 16;

/// Returns `axis` counted from the front. Negative values count from the end.
Result<size_t> axisOf(int64_t axis, const Shape &shape) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront < 0 || fromFront >= rank)
    return wrong(fmt::format("axis {} does not exist in shape {}", axis, show(shape)));
  return static_cast<size_t>(fromFront);
}

/// Returns the product of the sizes after an axis, which is the distance between adjacent elements along the axis.
int64_t innerSize(const Shape &shape, size_t axis) {
  int64_t inner = 1;
  for (size_t dim = axis + 1; dim < shape.size(); ++dim)
    inner *= shape[dim];
  return inner;
}

template <typename Body> void forEach(Tensor &result, Body body) {
  parallelFor(static_cast<int64_t>(result.values.size()), functionGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      result.values[static_cast<size_t>(i)] = body(i);
  });
}

/// Returns the part of an operand at the same positions, for an operand that has the rank of the result.
OperandPart samePart(const ResultPart &part) {
  auto copy = [](const std::vector<int64_t> *indices) { return indices ? std::optional(*indices) : std::nullopt; };
  return {true, copy(part.selection.rows), copy(part.selection.columns)};
}

Result<Shape> indexShape(Shapes arrays, Integers integers) {
  Result<size_t> axis = axisOf(integers[0], arrays[0]);
  return axis ? Result<Shape>(arrays[0]) : axis.error();
}

void evaluateIndex(Arrays, Integers integers, const ResultPart &part, Tensor &result) {
  const size_t axis = *axisOf(integers[0], result.shape);
  const int64_t inner = innerSize(result.shape, axis), size = result.shape[axis];
  forEach(result, [&](int64_t i) { return static_cast<double>(part.position(axis, i / inner % size)); });
}

std::optional<OperandPart> indexPart(size_t, Integers, const ResultPart &) {
  return OperandPart{false, {}, {}};
}

Result<Shape> takeShape(Shapes arrays, Integers integers) {
  Shape shape = arrays[0];
  Result<size_t> axis = axisOf(integers[1], shape);
  if (!axis)
    return axis.error();
  if (integers[0] < 0 || integers[0] >= shape[*axis])
    return wrong(fmt::format("element {} does not exist along axis {} of shape {}", integers[0], *axis, show(shape)));
  shape[*axis] = 1;
  return shape;
}

/// Evaluates take. If the axis is one of the last two dimensions, the operand contains only the requested element along
/// that axis.
void evaluateTake(Arrays arrays, Integers integers, const ResultPart &, Tensor &result) {
  const Tensor &x = arrays[0];
  const size_t axis = *axisOf(integers[1], x.shape);
  const int64_t inner = innerSize(x.shape, axis), size = x.shape[axis];
  const int64_t taken = axis + 2 >= x.shape.size() ? 0 : integers[0];
  forEach(result,
          [&](int64_t i) { return x.values[static_cast<size_t>((i / inner * size + taken) * inner + i % inner)]; });
}

std::optional<OperandPart> takePart(size_t, Integers integers, const ResultPart &part) {
  const size_t rank = part.shape.size(), axis = *axisOf(integers[1], part.shape);
  OperandPart operand = samePart(part);
  if (axis + 1 == rank)
    operand.columns = {integers[0]};
  else if (axis + 2 == rank)
    operand.rows = {integers[0]};
  return operand;
}

Result<Shape> repeatShape(Shapes arrays, Integers integers) {
  Shape shape = arrays[0];
  Result<size_t> axis = axisOf(integers[1], shape);
  if (!axis)
    return axis.error();
  if (integers[0] < 1 || integers[0] > maxRepeats)
    return wrong(fmt::format("{} repetitions; expected 1 to {}", integers[0], maxRepeats));
  shape[*axis] *= integers[0];
  return shape;
}

/// Evaluates repeat. If the axis is one of the last two dimensions, the operand already contains each element as often
/// as the result requests it.
void evaluateRepeat(Arrays arrays, Integers integers, const ResultPart &part, Tensor &result) {
  const Tensor &x = arrays[0];
  const size_t axis = *axisOf(integers[1], x.shape);
  const int64_t inner = innerSize(x.shape, axis), size = x.shape[axis], outer = result.shape[axis];
  const bool isAsked = part.selected(axis) != nullptr;
  forEach(result, [&](int64_t i) {
    const int64_t place = i / inner % outer, source = size == 1 ? 0 : isAsked ? place : place / integers[0];
    return x.values[static_cast<size_t>((i / inner / outer * size + source) * inner + i % inner)];
  });
}

std::optional<OperandPart> repeatPart(size_t, Integers integers, const ResultPart &part) {
  const size_t rank = part.shape.size(), axis = *axisOf(integers[1], part.shape);
  OperandPart operand = samePart(part);
  std::optional<std::vector<int64_t>> &indices = axis + 1 == rank ? operand.columns : operand.rows;
  if (axis + 2 >= rank && indices)
    for (int64_t &place : *indices)
      place /= integers[0];
  return operand;
}

Result<Shape> e2m1Shape(Shapes arrays, Integers) {
  Shape shape = arrays[0];
  if (shape.empty())
    return wrong("a scalar; expected bytes along an axis");
  shape.back() *= 2;
  return shape;
}

/// Returns the value of a 4-bit code with a sign bit, two exponent bits and one mantissa bit.
double decodeE2M1(int64_t code) {
  constexpr double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const double magnitude = magnitudes[code & 7];
  return code & 8 ? -magnitude : magnitude;
}

void evaluateE2M1(Arrays arrays, Integers, const ResultPart &part, Tensor &result) {
  const Tensor &x = arrays[0];
  const size_t axis = result.shape.size() - 1;
  const int64_t width = result.shape[axis];
  const bool isAsked = part.selected(axis) != nullptr; // if so, the operand contains each byte as often as requested
  forEach(result, [&](int64_t i) {
    const int64_t column = part.position(axis, i % width);
    const auto byte = static_cast<int64_t>(x.values[static_cast<size_t>(isAsked ? i : i / 2)]);
    return decodeE2M1(column % 2 ? byte >> 4 : byte);
  });
}

std::optional<OperandPart> e2m1Part(size_t, Integers, const ResultPart &part) {
  OperandPart operand = samePart(part);
  if (operand.columns)
    for (int64_t &column : *operand.columns)
      column /= 2;
  return operand;
}

/// Returns the number of windows of `window` elements, `stride` apart, in `size` elements with `padding` on both sides.
int64_t windows(int64_t size, int64_t window, int64_t stride, int64_t padding) {
  return size + 2 * padding < window ? 0 : (size + 2 * padding - window) / stride + 1;
}

Result<Shape> convolutionShape(Shapes arrays, Integers integers) {
  const Shape &x = arrays[0], &w = arrays[1];
  if (x.size() != 4 || w.size() != 4 || x[1] != w[1])
    return wrong(fmt::format("shapes {} and {} are not [N, C, H, W] and [K, C, R, S]", show(x), show(w)));
  if (integers[0] < 1 || integers[1] < 0 || integers[1] > maxRepeats)
    return wrong(fmt::format("stride {} and padding {} are not at least 1 and 0", integers[0], integers[1]));
  return Shape{x[0], w[0], windows(x[2], w[2], integers[0], integers[1]),
               windows(x[3], w[3], integers[0], integers[1])};
}

void evaluateConvolution(Arrays arrays, Integers integers, const ResultPart &, Tensor &result) {
  const Tensor &x = arrays[0], &w = arrays[1];
  const int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3];
  const int64_t stride = integers[0], padding = integers[1];
  forEach(result, [&](int64_t i) {
    const int64_t column = i % result.shape[3] * stride - padding;
    const int64_t row = i / result.shape[3] % result.shape[2] * stride - padding;
    const int64_t out = i / result.shape[3] / result.shape[2] % result.shape[1];
    const int64_t image = i / result.shape[3] / result.shape[2] / result.shape[1];
    double sum = 0;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t r = 0; r < w.shape[2]; ++r)
        for (int64_t s = 0; s < w.shape[3]; ++s) {
          const bool isInside = row + r >= 0 && row + r < height && column + s >= 0 && column + s < width;
          if (isInside)
            sum += x.values[static_cast<size_t>(((image * channels + c) * height + row + r) * width + column + s)] *
                   w.values[static_cast<size_t>(((out * channels + c) * w.shape[2] + r) * w.shape[3] + s)];
        }
    return sum;
  });
}

Result<Shape> poolShape(Shapes arrays, Integers integers) {
  Shape shape = arrays[0];
  if (shape.size() < 2 || integers[0] < 1 || integers[1] < 1)
    return wrong(fmt::format("shape {}, size {} and stride {}; expected two dimensions and positive numbers",
                             show(shape), integers[0], integers[1]));
  for (size_t dim = shape.size() - 2; dim < shape.size(); ++dim)
    shape[dim] = windows(shape[dim], integers[0], integers[1], 0);
  return shape;
}

void evaluatePool(Arrays arrays, Integers integers, const ResultPart &, Tensor &result) {
  const Tensor &x = arrays[0];
  const size_t rank = x.shape.size();
  const int64_t height = x.shape[rank - 2], width = x.shape[rank - 1];
  const int64_t outHeight = result.shape[rank - 2], outWidth = result.shape[rank - 1];
  forEach(result, [&](int64_t i) {
    const int64_t column = i % outWidth * integers[1], row = i / outWidth % outHeight * integers[1];
    const double *plane = x.values.data() + i / outWidth / outHeight * height * width;
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t r = row; r < row + integers[0]; ++r)
      for (int64_t s = column; s < column + integers[0]; ++s)
        largest = std::max(largest, plane[r * width + s]);
    return largest;
  });
}

int64_t elementsOf(const Shape &shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

Result<Shape> partShape(Shapes arrays, Integers integers) {
  const auto [first, rows, columns] = std::tuple(integers[0], integers[1], integers[2]);
  if (first < 0 || rows < 0 || columns < 0 || first + rows * columns > elementsOf(arrays[0]))
    return wrong(fmt::format("{} times {} elements from element {} of shape {}, which has {}", rows, columns, first,
                             show(arrays[0]), elementsOf(arrays[0])));
  return Shape{rows, columns};
}

/// Returns true if the part consists of whole rows of a matrix, so only the selected rows are needed.
bool isOfRows(const Shape &x, Integers integers) {
  return x.size() == 2 && integers[2] == x[1] && x[1] > 0 && integers[0] % x[1] == 0;
}

void evaluatePart(Arrays arrays, Integers integers, const ResultPart &part, Tensor &result) {
  const std::vector<double> &values = arrays[0].values;
  const int64_t columns = result.shape[1];
  const bool isChosen = isOfRows(part.operands[0], integers); // if so, partPart() has selected exactly these elements
  forEach(result, [&](int64_t i) {
    const int64_t row = part.position(0, i / columns), column = part.position(1, i % columns);
    return values[static_cast<size_t>(isChosen ? i : integers[0] + row * integers[2] + column)];
  });
}

std::optional<OperandPart> partPart(size_t, Integers integers, const ResultPart &part) {
  if (!isOfRows(part.operands[0], integers))
    return OperandPart{};
  OperandPart operand = samePart(part);
  if (!operand.rows) {
    operand.rows.emplace(static_cast<size_t>(integers[1]));
    std::iota(operand.rows->begin(), operand.rows->end(), 0);
  }
  for (int64_t &row : *operand.rows)
    row += integers[0] / integers[2];
  return operand;
}

Result<Shape> concatShape(Shapes arrays, Integers) {
  return Shape{elementsOf(arrays[0]) + elementsOf(arrays[1])};
}

void evaluateConcat(Arrays arrays, Integers, const ResultPart &, Tensor &result) {
  const int64_t first = static_cast<int64_t>(arrays[0].values.size());
  forEach(result, [&](int64_t i) {
    return i < first ? arrays[0].values[static_cast<size_t>(i)] : arrays[1].values[static_cast<size_t>(i - first)];
  });
}

constexpr TensorFunction positionFunctions[] = {
    {"index", 1, 1, indexShape, evaluateIndex, indexPart},     {"take", 1, 2, takeShape, evaluateTake, takePart},
    {"repeat", 1, 2, repeatShape, evaluateRepeat, repeatPart}, {"e2m1", 1, 0, e2m1Shape, evaluateE2M1, e2m1Part},
    {"conv2d", 2, 2, convolutionShape, evaluateConvolution},   {"max_pool2d", 1, 2, poolShape, evaluatePool},
    {"part", 1, 3, partShape, evaluatePart, partPart},         {"concat", 2, 0, concatShape, evaluateConcat}};
static_assert(directives::areListed(positionFunctions, directives::tensorFunctions,
                                    [](const TensorFunction &row) { return row.arrays + row.integers; }));

} // namespace

const std::vector<int64_t> *ResultPart::selected(size_t axis) const {
  const auto *chosen = axis + 1 == shape.size()   ? selection.columns
                       : axis + 2 == shape.size() ? selection.rows
                                                  : nullptr;
  return shape[axis] == 1 ? nullptr : chosen;
}

int64_t ResultPart::position(size_t axis, int64_t index) const {
  const std::vector<int64_t> *chosen = selected(axis);
  return chosen ? (*chosen)[static_cast<size_t>(index)] : index;
}

const TensorFunction *findTensorFunction(std::string_view name) {
  for (std::span<const TensorFunction> table : {std::span<const TensorFunction>(positionFunctions), groupFunctions()})
    for (const TensorFunction &function : table)
      if (function.name == name)
        return &function;
  return nullptr;
}

} // namespace tile::runner
