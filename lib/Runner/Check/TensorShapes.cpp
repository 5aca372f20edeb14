// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of tensor expressions. Errors in an expression are found here, before any kernel runs.
#include "Runner/Check/TensorFunctions.h"

#include <cmath>
#include <fmt/ranges.h>

namespace tile::runner {

using Kind = TensorNode::Kind;
using Shape = std::vector<int64_t>;

/// Computes the shape of every node, or returns the first error.
class TensorBinder {
public:
  explicit TensorBinder(BoundTensorExpression &bound) : bound(bound) {}

  std::optional<Error> visit(const TensorNode &node) {
    for (const std::unique_ptr<TensorNode> &operand : node.operands)
      if (std::optional<Error> error = visit(*operand))
        return error;
    switch (node.kind) {
    case Kind::Number:
      return set(node, {});
    case Kind::Name:
      return visitName(node);
    case Kind::Elementwise:
      return visitElementwise(node);
    case Kind::Matmul:
      return visitMatmul(node);
    case Kind::Transpose: {
      Shape shape = shapeOf(node, 0);
      if (shape.size() < 2)
        return fail(node, fmt::format("the operand has shape [{}]; expected at least 2 dimensions", join(shape)));
      std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
      return set(node, shape);
    }
    case Kind::Softmax:
      if (shapeOf(node, 0).empty())
        return fail(node, "the operand is a scalar");
      return set(node, shapeOf(node, 0));
    case Kind::Reduce: {
      Shape shape = shapeOf(node, 0);
      const int64_t rank = static_cast<int64_t>(shape.size());
      const int64_t axis = node.axis < 0 ? node.axis + rank : node.axis;
      if (axis < 0 || axis >= rank)
        return fail(node, fmt::format("axis {} does not exist in shape [{}]", node.axis, join(shape)));
      shape[static_cast<size_t>(axis)] = 1;
      return set(node, shape);
    }
    case Kind::Call:
      return visitCall(node);
    }
    return std::nullopt;
  }

private:
  static std::string join(const Shape &shape) { return fmt::format("{}", fmt::join(shape, ", ")); }

  std::optional<Error> fail(const TensorNode &node, std::string message) const {
    return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "in expression '{}', column {}: {}: {}",
                              bound.expression->text(), node.column, node.name, message);
  }
  std::optional<Error> set(const TensorNode &node, Shape shape) {
    bound.shapes[&node] = std::move(shape);
    return std::nullopt;
  }
  const Shape &shapeOf(const TensorNode &node, size_t operand) const {
    return bound.shapes.at(node.operands[operand].get());
  }

  std::optional<Error> visitName(const TensorNode &node) {
    if (const auto buffer = bound.names->buffers.find(node.name); buffer != bound.names->buffers.end())
      return set(node, buffer->second->layout().shape);
    if (bound.names->scalars.contains(node.name))
      return set(node, {});
    return fail(node, "neither a buffer nor a number of this kernel");
  }

  /// Broadcasts `other` into `shape`. Returns false if the shapes are incompatible.
  static bool broadcastInto(Shape &shape, const Shape &other) {
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), 1);
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t &size = shape[shape.size() - other.size() + i];
      if (size != other[i] && size != 1 && other[i] != 1)
        return false;
      size = size == 1 ? other[i] : size;
    }
    return true;
  }

  std::optional<Error> visitElementwise(const TensorNode &node) {
    Shape shape;
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (const Shape before = shape; !broadcastInto(shape, shapeOf(node, i)))
        return fail(node, fmt::format("shapes [{}] and [{}] do not broadcast", join(before), join(shapeOf(node, i))));
    return set(node, shape);
  }

  std::optional<Error> visitMatmul(const TensorNode &node) {
    const Shape &left = shapeOf(node, 0);
    const Shape &right = shapeOf(node, 1);
    if (left.size() < 2 || right.size() < 2 || left.back() != right[right.size() - 2])
      return fail(node, fmt::format("shapes [{}] and [{}] cannot be multiplied", join(left), join(right)));
    Shape shape(left.begin(), left.end() - 2);
    if (!broadcastInto(shape, Shape(right.begin(), right.end() - 2)))
      return fail(node, fmt::format("the batches of [{}] and [{}] do not broadcast", join(left), join(right)));
    shape.push_back(left[left.size() - 2]);
    shape.push_back(right.back());
    return set(node, shape);
  }

  std::optional<Error> visitCall(const TensorNode &node) {
    std::vector<Shape> arrays;
    for (size_t i = 0; i < node.call->arrays; ++i)
      arrays.push_back(shapeOf(node, i));
    std::vector<int64_t> integers;
    for (size_t i = node.call->arrays; i < node.operands.size(); ++i) {
      const std::optional<double> value = scalarOf(*node.operands[i]);
      if (!value || *value != std::floor(*value) || std::fabs(*value) > 1e9)
        return fail(node, fmt::format("argument {} is not an integer", i + 1));
      integers.push_back(static_cast<int64_t>(*value));
    }
    Result<Shape> shape = node.call->shape(arrays, integers);
    if (!shape)
      return fail(node, shape.error().message);
    bound.integers[&node] = std::move(integers);
    return set(node, std::move(*shape));
  }

  /// Returns the value of an expression that consists of numbers and scalar parameters.
  std::optional<double> scalarOf(const TensorNode &node) const {
    if (node.kind == Kind::Number)
      return node.number;
    if (node.kind == Kind::Name) {
      const auto found = bound.names->scalars.find(node.name);
      return found == bound.names->scalars.end() ? std::nullopt : std::optional(found->second);
    }
    if (node.kind != Kind::Elementwise)
      return std::nullopt;
    double x[3] = {0, 0, 0};
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const std::optional<double> value = scalarOf(*node.operands[i]);
      if (!value)
        return std::nullopt;
      x[i] = *value;
    }
    return node.function(x[0], x[1], x[2]);
  }

  BoundTensorExpression &bound;
};

Result<BoundTensorExpression> BoundTensorExpression::bind(const TensorExpression &expression,
                                                          const TensorNames &names) {
  BoundTensorExpression bound;
  bound.expression = &expression;
  bound.names = &names;
  if (std::optional<Error> error = TensorBinder(bound).visit(expression.root()))
    return *error;
  return bound;
}

} // namespace tile::runner
