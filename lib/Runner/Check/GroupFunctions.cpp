// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of TensorFunctions.h for groups of rows, such as the tokens of each expert in a mixture of experts.
// Each follows its definition literally.
#include "Directives/Functions.h"
#include "Runner/Check/FunctionOperands.h"
#include "Runner/Parallel.h"

#include <algorithm>
#include <limits>

namespace tile::runner {
namespace {

using ValuesOf = std::function<Tensor(size_t)>;

std::optional<Shape> copyOf(const Shape *indices) {
  return indices ? std::optional(*indices) : std::nullopt;
}

/// The first row of each group and the row after its last one.
struct Groups {
  std::span<const double> starts, ends;

  /// Returns the groups given by offsets[G + 1], or by starts[G] and ends[G].
  static Groups of(Arrays bounds) {
    if (bounds.size() == 2)
      return {bounds[0].values, bounds[1].values};
    const std::span<const double> offsets = bounds[0].values;
    return {offsets.first(offsets.size() - 1), offsets.subspan(1)};
  }

  /// Returns the group that contains a position, or -1 if there is none.
  int64_t find(int64_t position) const {
    const auto place = static_cast<double>(position);
    for (size_t group = 0; group < starts.size(); ++group)
      if (starts[group] <= place && place < ends[group])
        return static_cast<int64_t>(group);
    return -1;
  }
};

Result<Shape> gatherShape(Shapes arrays, Integers) {
  if (arrays[0].empty())
    return wrong("the array is a scalar");
  Shape shape = arrays[1];
  shape.insert(shape.end(), arrays[0].begin() + 1, arrays[0].end());
  return shape;
}

/// Evaluates gather. Elements whose index is outside of x are NaN; a comparison accepts them only if the output is NaN,
/// too.
void evaluateGather(Arrays arrays, Integers, const ResultPart &, Tensor &result) {
  const Tensor &x = arrays[0], &indices = arrays[1];
  const int64_t size = x.shape[0];
  int64_t inner = 1;
  for (size_t dim = 1; dim < x.shape.size(); ++dim)
    inner *= x.shape[dim];
  parallelFor(static_cast<int64_t>(result.values.size()), functionGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double index = indices.values[static_cast<size_t>(i / inner)];
      const bool isInside = index >= 0 && index < static_cast<double>(size);
      result.values[static_cast<size_t>(i)] =
          isInside ? x.values[static_cast<size_t>(static_cast<int64_t>(index) * inner + i % inner)]
                   : std::numeric_limits<double>::quiet_NaN();
    }
  });
}

/// The result may need any row of a matrix, but only its selected columns.
std::optional<OperandPart> gatherPart(size_t operand, Integers, const ResultPart &part) {
  if (part.operands[0].size() != 2 || part.operands[1].size() != 1)
    return std::nullopt;
  return operand == 0 ? OperandPart{true, std::nullopt, copyOf(part.selection.columns)}
                      : OperandPart{true, std::nullopt, copyOf(part.selection.rows)};
}

Result<Shape> segmentShape(Shapes arrays, Integers integers) {
  if (arrays[1].size() != 1)
    return wrong(fmt::format("offsets of shape {}; expected one dimension", show(arrays[1])));
  const auto rank = static_cast<int64_t>(arrays[0].size()), axis = integers[0] + (integers[0] < 0 ? rank : 0);
  if (axis < 0 || axis >= rank)
    return wrong(fmt::format("axis {} does not exist in shape {}", integers[0], show(arrays[0])));
  return arrays[0];
}

void evaluateSegment(Arrays arrays, Integers integers, const ResultPart &part, Tensor &result) {
  const size_t axis = static_cast<size_t>(integers[0] < 0 ? integers[0] + int64_t(result.shape.size()) : integers[0]);
  int64_t inner = 1;
  for (size_t dim = axis + 1; dim < result.shape.size(); ++dim)
    inner *= result.shape[dim];
  const Groups groups = Groups::of(arrays.subspan(1));
  std::vector<double> ofPositions(static_cast<size_t>(result.shape[axis]));
  for (size_t i = 0; i < ofPositions.size(); ++i)
    ofPositions[i] = static_cast<double>(groups.find(part.position(axis, static_cast<int64_t>(i))));
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = ofPositions[i / static_cast<size_t>(inner) % ofPositions.size()];
}

std::optional<OperandPart> segmentPart(size_t operand, Integers, const ResultPart &) {
  return OperandPart{operand != 0, {}, {}};
}

Result<Shape> groupMatmulShape(Shapes arrays, Integers) {
  const Shape &a = arrays[0], &b = arrays[1], &offsets = arrays[2];
  if (a.size() != 2 || b.size() != 3 || offsets.size() != 1 || a[1] != b[1] || offsets[0] != b[0] + 1)
    return wrong(
        fmt::format("shapes {}, {} and {} are not [M, K], [G, K, N] and [G + 1]", show(a), show(b), show(offsets)));
  return Shape{a[0], b[2]};
}

Result<Shape> raggedMatmulShape(Shapes arrays, Integers) {
  const Shape &a = arrays[0], &b = arrays[1], &starts = arrays[2], &ends = arrays[3];
  if (a.size() != 2 || b.size() != 3 || a[1] != b[1] || starts != Shape{b[0]} || ends != Shape{b[0]})
    return wrong(fmt::format("shapes {}, {}, {} and {} are not [M, K], [G, K, N], [G] and [G]", show(a), show(b),
                             show(starts), show(ends)));
  return Shape{a[0], b[2]};
}

/// Multiplies each row by the matrix of its group. The operands after the matrices define the groups.
void evaluateGroupMatmul(Arrays arrays, Integers, const ResultPart &part, Tensor &result) {
  const Tensor &a = arrays[0], &b = arrays[1];
  const int64_t depth = a.shape[1], columns = b.shape[2];
  const Groups groups = Groups::of(arrays.subspan(2));
  std::fill(result.values.begin(), result.values.end(), 0.0);
  parallelFor(a.shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t group = groups.find(part.position(0, row));
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

std::optional<OperandPart> groupMatmulPart(size_t operand, Integers, const ResultPart &part) {
  if (operand == 0)
    return OperandPart{true, copyOf(part.selection.rows), std::nullopt};
  return operand == 1 ? OperandPart{true, std::nullopt, copyOf(part.selection.columns)} : OperandPart{};
}

/// Returns the number of positions of the part along an axis.
int64_t countOf(const ResultPart &part, size_t axis) {
  const Shape *chosen = part.selected(axis);
  return chosen ? static_cast<int64_t>(chosen->size()) : part.shape[axis];
}

/// Evaluates the operands from index `first` on, which define the groups.
std::vector<Tensor> boundsOf(const ValuesOf &valuesOf, size_t first, const ResultPart &part) {
  std::vector<Tensor> bounds;
  for (size_t operand = first; operand < part.operands.size(); ++operand)
    bounds.push_back(valuesOf(operand));
  return bounds;
}

double groupMatmulFlops(const ValuesOf &valuesOf, const ResultPart &part) {
  const std::vector<Tensor> bounds = boundsOf(valuesOf, 2, part);
  const Groups groups = Groups::of(bounds);
  int64_t rows = 0;
  for (int64_t row = 0; row < countOf(part, 0); ++row)
    rows += groups.find(part.position(0, row)) >= 0;
  return 2.0 * double(rows) * double(part.operands[0][1]) * double(countOf(part, 1));
}

Result<Shape> groupOuterShape(Shapes arrays, Integers) {
  const Shape &a = arrays[0], &b = arrays[1], &offsets = arrays[2];
  if (a.size() != 2 || b.size() != 2 || offsets.size() != 1 || a[0] != b[0] || offsets[0] < 1)
    return wrong(
        fmt::format("shapes {}, {} and {} are not [M, K], [M, N] and [G + 1]", show(a), show(b), show(offsets)));
  return Shape{offsets[0] - 1, a[1], b[1]};
}

/// Returns the first row of a group and the row after its last one, both clamped to the existing rows.
std::pair<int64_t, int64_t> rowsOf(const Groups &groups, int64_t group, int64_t rows) {
  const auto limit = [&](double place) { return static_cast<int64_t>(std::clamp(place, 0.0, double(rows))); };
  return {limit(groups.starts[size_t(group)]), limit(groups.ends[size_t(group)])};
}

void evaluateGroupOuter(Arrays arrays, Integers, const ResultPart &, Tensor &result) {
  const Tensor &a = arrays[0], &b = arrays[1];
  const int64_t depth = a.shape[1], columns = b.shape[1];
  const Groups groups = Groups::of(arrays.subspan(2));
  std::fill(result.values.begin(), result.values.end(), 0.0);
  parallelFor(result.shape[0] * depth, 1, [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) {
      const auto [first, last] = rowsOf(groups, place / depth, a.shape[0]);
      double *to = result.values.data() + place * columns;
      for (int64_t row = first; row < last; ++row) {
        const double factor = a.values[static_cast<size_t>(row * depth + place % depth)];
        const double *from = b.values.data() + row * columns;
        for (int64_t column = 0; column < columns; ++column)
          to[column] += factor * from[column];
      }
    }
  });
}

std::optional<OperandPart> groupOuterPart(size_t operand, Integers, const ResultPart &part) {
  if (operand == 0)
    return OperandPart{true, std::nullopt, copyOf(part.selection.rows)};
  return operand == 1 ? OperandPart{true, std::nullopt, copyOf(part.selection.columns)} : OperandPart{};
}

double groupOuterFlops(const ValuesOf &valuesOf, const ResultPart &part) {
  const std::vector<Tensor> bounds = boundsOf(valuesOf, 2, part);
  const Groups groups = Groups::of(bounds);
  double rows = 0;
  for (int64_t group = 0; group < part.shape[0]; ++group) {
    const auto [first, last] = rowsOf(groups, group, part.operands[0][0]);
    rows += double(std::max<int64_t>(last - first, 0));
  }
  return 2.0 * rows * double(countOf(part, 1)) * double(countOf(part, 2));
}

constexpr TensorFunction functions[] = {
    {"gather", 2, 0, gatherShape, evaluateGather, gatherPart},
    {"segment", 2, 1, segmentShape, evaluateSegment, segmentPart},
    {"group_matmul", 3, 0, groupMatmulShape, evaluateGroupMatmul, groupMatmulPart, groupMatmulFlops},
    {"ragged_matmul", 4, 0, raggedMatmulShape, evaluateGroupMatmul, groupMatmulPart, groupMatmulFlops},
    {"group_outer", 3, 0, groupOuterShape, evaluateGroupOuter, groupOuterPart, groupOuterFlops}};
static_assert(directives::areListed(functions, directives::tensorFunctions,
                                    [](const TensorFunction &row) { return row.arrays + row.integers; }));

} // namespace

std::span<const TensorFunction> groupFunctions() {
  return functions;
}

} // namespace tile::runner
