// Shapes and values of the functions of TensorFunctions.h, each written as its definition says.
#include "Runner/TensorFunctions.h"

#include "Runner/Parallel.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <limits>

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

/// Product of the sizes behind an axis: the distance of neighbours along it.
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

constexpr TensorFunction functions[] = {{"index", 1, 1, indexShape, evaluateIndex},
                                        {"take", 1, 2, takeShape, evaluateTake},
                                        {"repeat", 1, 2, repeatShape, evaluateRepeat},
                                        {"conv2d", 2, 2, convolutionShape, evaluateConvolution},
                                        {"max_pool2d", 1, 2, poolShape, evaluatePool}};

} // namespace

const TensorFunction *findTensorFunction(std::string_view name) {
  const auto *found = std::find_if(std::begin(functions), std::end(functions),
                                   [&](const TensorFunction &function) { return function.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

} // namespace tile::runner
