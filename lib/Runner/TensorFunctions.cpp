// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes and values of the functions of TensorFunctions.h, each written as its definition says.
#include "Runner/TensorFunctions.h"

#include "Directives/Functions.h"
#include "Runner/Parallel.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <tuple>

namespace tile::runner {
namespace {

using Shape = std::vector<int64_t>;
using Arrays = std::span<const Tensor>;
using Shapes = std::span<const Shape>;
using Integers = std::span<const int64_t>;

constexpr int64_t grain = 1 << 12;
constexpr int64_t mostRepeats = 1 << 16;

Error wrong(std::string message) {
  return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", message);
}

std::string show(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// The axis counted from the front; negative ones count from the end.
Result<size_t> axisOf(int64_t axis, const Shape &shape) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront < 0 || fromFront >= rank)
    return wrong(fmt::format("axis {} does not exist in shape {}", axis, show(shape)));
  return static_cast<size_t>(fromFront);
}

/// Product of the sizes after an axis: the distance of neighbours along it.
int64_t innerSize(const Shape &shape, size_t axis) {
  int64_t inner = 1;
  for (size_t dim = axis + 1; dim < shape.size(); ++dim)
    inner *= shape[dim];
  return inner;
}

template <typename Body> void forEach(Tensor &result, Body body) {
  parallelFor(static_cast<int64_t>(result.values.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      result.values[static_cast<size_t>(i)] = body(i);
  });
}

Result<Shape> indexShape(Shapes arrays, Integers integers) {
  Result<size_t> axis = axisOf(integers[0], arrays[0]);
  return axis ? Result<Shape>(arrays[0]) : axis.error();
}

void evaluateIndex(Arrays, Integers integers, Tensor &result) {
  const size_t axis = *axisOf(integers[0], result.shape);
  const int64_t inner = innerSize(result.shape, axis), size = result.shape[axis];
  forEach(result, [&](int64_t i) { return static_cast<double>(i / inner % size); });
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

void evaluateTake(Arrays arrays, Integers integers, Tensor &result) {
  const Tensor &x = arrays[0];
  const size_t axis = *axisOf(integers[1], x.shape);
  const int64_t inner = innerSize(x.shape, axis), size = x.shape[axis];
  forEach(result, [&](int64_t i) {
    return x.values[static_cast<size_t>((i / inner * size + integers[0]) * inner + i % inner)];
  });
}

Result<Shape> repeatShape(Shapes arrays, Integers integers) {
  Shape shape = arrays[0];
  Result<size_t> axis = axisOf(integers[1], shape);
  if (!axis)
    return axis.error();
  if (integers[0] < 1 || integers[0] > mostRepeats)
    return wrong(fmt::format("{} repetitions; expected 1 to {}", integers[0], mostRepeats));
  shape[*axis] *= integers[0];
  return shape;
}

void evaluateRepeat(Arrays arrays, Integers integers, Tensor &result) {
  const Tensor &x = arrays[0];
  const size_t axis = *axisOf(integers[1], x.shape);
  const int64_t inner = innerSize(x.shape, axis);
  forEach(result,
          [&](int64_t i) { return x.values[static_cast<size_t>(i / inner / integers[0] * inner + i % inner)]; });
}

/// Places of a window of `window` elements, `stride` apart, in `size` elements with `padding` on both sides.
int64_t windows(int64_t size, int64_t window, int64_t stride, int64_t padding) {
  return size + 2 * padding < window ? 0 : (size + 2 * padding - window) / stride + 1;
}

Result<Shape> convolutionShape(Shapes arrays, Integers integers) {
  const Shape &x = arrays[0], &w = arrays[1];
  if (x.size() != 4 || w.size() != 4 || x[1] != w[1])
    return wrong(fmt::format("shapes {} and {} are not [N, C, H, W] and [K, C, R, S]", show(x), show(w)));
  if (integers[0] < 1 || integers[1] < 0 || integers[1] > mostRepeats)
    return wrong(fmt::format("stride {} and padding {} are not at least 1 and 0", integers[0], integers[1]));
  return Shape{x[0], w[0], windows(x[2], w[2], integers[0], integers[1]),
               windows(x[3], w[3], integers[0], integers[1])};
}

void evaluateConvolution(Arrays arrays, Integers integers, Tensor &result) {
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

void evaluatePool(Arrays arrays, Integers integers, Tensor &result) {
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

Result<Shape> gatherShape(Shapes arrays, Integers) {
  if (arrays[0].empty())
    return wrong("the array is a scalar");
  Shape shape = arrays[1];
  shape.insert(shape.end(), arrays[0].begin() + 1, arrays[0].end());
  return shape;
}

/// Numbers outside of x give NaN, which only a NaN is equal to.
void evaluateGather(Arrays arrays, Integers, Tensor &result) {
  const Tensor &x = arrays[0], &indices = arrays[1];
  const int64_t inner = innerSize(x.shape, 0), size = x.shape[0];
  forEach(result, [&](int64_t i) {
    const double index = indices.values[static_cast<size_t>(i / inner)];
    const bool isInside = index >= 0 && index < static_cast<double>(size);
    return isInside ? x.values[static_cast<size_t>(static_cast<int64_t>(index) * inner + i % inner)]
                    : std::numeric_limits<double>::quiet_NaN();
  });
}

/// The group that a position lies in; -1: none.
int64_t groupOf(const Tensor &offsets, int64_t position) {
  for (size_t group = 0; group + 1 < offsets.values.size(); ++group)
    if (offsets.values[group] <= static_cast<double>(position) &&
        static_cast<double>(position) < offsets.values[group + 1])
      return static_cast<int64_t>(group);
  return -1;
}

std::vector<int64_t> groupsOf(const Tensor &offsets, int64_t size) {
  std::vector<int64_t> groups(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i)
    groups[static_cast<size_t>(i)] = groupOf(offsets, i);
  return groups;
}

Result<Shape> segmentShape(Shapes arrays, Integers integers) {
  if (arrays[1].size() != 1)
    return wrong(fmt::format("offsets of shape {}; expected one dimension", show(arrays[1])));
  Result<size_t> axis = axisOf(integers[0], arrays[0]);
  return axis ? Result<Shape>(arrays[0]) : axis.error();
}

void evaluateSegment(Arrays arrays, Integers integers, Tensor &result) {
  const size_t axis = *axisOf(integers[0], result.shape);
  const int64_t inner = innerSize(result.shape, axis), size = result.shape[axis];
  const std::vector<int64_t> groups = groupsOf(arrays[1], size);
  forEach(result, [&](int64_t i) { return static_cast<double>(groups[static_cast<size_t>(i / inner % size)]); });
}

Result<Shape> groupMatmulShape(Shapes arrays, Integers) {
  const Shape &a = arrays[0], &b = arrays[1], &offsets = arrays[2];
  if (a.size() != 2 || b.size() != 3 || offsets.size() != 1 || a[1] != b[1] || offsets[0] != b[0] + 1)
    return wrong(
        fmt::format("shapes {}, {} and {} are not [M, K], [G, K, N] and [G + 1]", show(a), show(b), show(offsets)));
  return Shape{a[0], b[2]};
}

void evaluateGroupMatmul(Arrays arrays, Integers, Tensor &result) {
  const Tensor &a = arrays[0], &b = arrays[1];
  const int64_t depth = a.shape[1], columns = b.shape[2];
  const std::vector<int64_t> groups = groupsOf(arrays[2], a.shape[0]);
  std::fill(result.values.begin(), result.values.end(), 0.0);
  parallelFor(a.shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t group = groups[static_cast<size_t>(row)];
      for (int64_t k = 0; group >= 0 && k < depth; ++k) {
        const double factor = a.values[static_cast<size_t>(row * depth + k)];
        const double *from = b.values.data() + (group * depth + k) * columns;
        double *to = result.values.data() + row * columns;
        for (int64_t column = 0; column < columns; ++column)
          to[column] += factor * from[column];
      }
    }
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

void evaluatePart(Arrays arrays, Integers integers, Tensor &result) {
  forEach(result, [&](int64_t i) { return arrays[0].values[static_cast<size_t>(integers[0] + i)]; });
}

Result<Shape> concatShape(Shapes arrays, Integers) {
  return Shape{elementsOf(arrays[0]) + elementsOf(arrays[1])};
}

void evaluateConcat(Arrays arrays, Integers, Tensor &result) {
  const int64_t first = static_cast<int64_t>(arrays[0].values.size());
  forEach(result, [&](int64_t i) {
    return i < first ? arrays[0].values[static_cast<size_t>(i)] : arrays[1].values[static_cast<size_t>(i - first)];
  });
}

constexpr TensorFunction functions[] = {
    {"index", 1, 1, indexShape, evaluateIndex},       {"take", 1, 2, takeShape, evaluateTake},
    {"repeat", 1, 2, repeatShape, evaluateRepeat},    {"conv2d", 2, 2, convolutionShape, evaluateConvolution},
    {"max_pool2d", 1, 2, poolShape, evaluatePool},    {"gather", 2, 0, gatherShape, evaluateGather},
    {"segment", 2, 1, segmentShape, evaluateSegment}, {"group_matmul", 3, 0, groupMatmulShape, evaluateGroupMatmul},
    {"part", 1, 3, partShape, evaluatePart},          {"concat", 2, 0, concatShape, evaluateConcat}};
static_assert(directives::areListed(functions, directives::tensorFunctions));

} // namespace

const TensorFunction *findTensorFunction(std::string_view name) {
  const auto *found = std::find_if(std::begin(functions), std::end(functions),
                                   [&](const TensorFunction &function) { return function.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

} // namespace tile::runner
