// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates tensor expressions.
//
// A selection of rows and columns is passed from the result to the operands. Element-wise operations pass it unchanged,
// a matrix multiplication passes the rows to its left operand and the columns to its right one, a transpose swaps rows
// and columns, and a reduction drops the selection of the reduced axis. So computing a few rows of an expression with
// `a @ b` computes only these rows of the matrix multiplication.
#include "Runner/Check/TensorExpr.h"

#include "Runner/Check/Matmul.h"
#include "Runner/Check/TensorFunctions.h"
#include "Runner/Inputs/Element.h"
#include "Runner/LongWork.h"
#include "Runner/Parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fmt/ranges.h>
#include <functional>
#include <limits>

namespace tile::runner {

using Kind = TensorNode::Kind;
using Shape = std::vector<int64_t>;

namespace {

constexpr int64_t elementsPerTask = 1 << 14;

int64_t countElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Returns strides for a broadcast operand, for iterating over a result of rank `rank`. The stride is 0 where the
/// operand has size 1.
std::vector<int64_t> broadcastStrides(const Shape &operand, size_t rank) {
  std::vector<int64_t> strides(rank, 0);
  int64_t stride = 1;
  for (size_t i = operand.size(); i-- > 0;) {
    strides[rank - operand.size() + i] = operand[i] == 1 ? 0 : stride;
    stride *= operand[i];
  }
  return strides;
}

int64_t offsetAt(int64_t linear, const Shape &shape, const std::vector<int64_t> &strides) {
  int64_t offset = 0;
  for (size_t dim = shape.size(); dim-- > 0; linear /= shape[dim])
    offset += linear % shape[dim] * strides[dim];
  return offset;
}

/// Returns a string that is equal for equal computations.
std::string textOf(const TensorNode &node) {
  std::string text =
      fmt::format("{}{} {} {} {}(", int(node.kind), node.name, node.number, int(node.reduction), node.axis);
  for (const std::unique_ptr<TensorNode> &operand : node.operands)
    text += textOf(*operand) + ",";
  return text + ")";
}

/// Returns true if the value depends only on numbers and on the kernel's scalar parameters.
bool isConstant(const TensorNode &node, const TensorNames &names) {
  const auto isConstantToo = [&](const auto &operand) { return isConstant(*operand, names); };
  return node.kind == Kind::Number || (node.kind == Kind::Name && names.scalars.contains(node.name)) ||
         (node.kind == Kind::Elementwise && std::all_of(node.operands.begin(), node.operands.end(), isConstantToo));
}

/// Evaluates nodes for a selection. The shapes have been checked.
class Evaluator {
public:
  using NodeIntegers = std::map<const TensorNode *, std::vector<int64_t>>;

  Multiplied multiplied; ///< called during matrix multiplications

  Evaluator(const NodeIntegers &shapes, const NodeIntegers &integers, const TensorNames &names)
      : shapes(shapes), integers(integers), names(names) {}

  Tensor evaluate(const TensorNode &node, const Selection &selection) const {
    switch (node.kind) {
    case Kind::Number:
      return {{}, {node.number}};
    case Kind::Name:
      return evaluateName(node, selection);
    case Kind::Elementwise:
      return evaluateElementwise(node, selection);
    case Kind::Matmul:
      return evaluateMatmul(node, selection);
    case Kind::Transpose:
      return evaluateTranspose(node, selection);
    case Kind::Softmax:
      return evaluateSoftmax(node, selection);
    case Kind::Reduce:
      return evaluateReduce(node, selection);
    case Kind::Call:
      return evaluateCall(node, selection);
    }
    return {};
  }

  /// Returns the cost of a node. Matrix multiplications in `seen` cost nothing, because they have already been
  /// computed.
  TensorCost costOf(const TensorNode &node, const Selection &selection, std::set<std::string> &seen) const {
    if (const TensorNode *chosen = chosenBy(node))
      return costOf(*chosen, selection, seen);
    TensorCost cost;
    if (node.kind == Kind::Matmul && !seen.insert(nameOf(node, selection)).second)
      return cost;
    const auto add = [&](const TensorNode &operand, const Selection &part) {
      const TensorCost its = costOf(operand, part, seen);
      cost.flops += its.flops;
      cost.elements += its.elements;
    };
    const Shape shape = selectedShape(shapes.at(&node), selection);
    if (node.kind == Kind::Call) {
      const PlannedCall call(*this, node, selection);
      for (size_t i = 0; i < call.parts.size(); ++i)
        if (call.parts[i].isRead)
          add(*node.operands[i], call.selectionOf(i));
      cost.flops += flopsOf(node, call);
      cost.elements += static_cast<double>(countElements(call.isWhole ? shapes.at(&node) : shape));
      return cost;
    }
    for (size_t i = 0; i < node.operands.size(); ++i)
      add(*node.operands[i], operandSelection(node, i, selection));
    cost.elements += static_cast<double>(countElements(shape));
    if (node.kind == Kind::Matmul)
      cost.flops += 2.0 * static_cast<double>(shapes.at(node.operands[0].get()).back()) *
                    static_cast<double>(countElements(shape));
    return cost;
  }

  /// Returns the operand that a `where` chooses if its condition depends only on numbers and the kernel's parameters.
  /// Returns null for all other nodes.
  const TensorNode *chosenBy(const TensorNode &node) const {
    if (node.kind != Kind::Elementwise || node.name != "where" || !isConstant(*node.operands[0], names))
      return nullptr;
    return node.operands[evaluate(*node.operands[0], {}).values[0] != 0 ? 1 : 2].get();
  }

  /// Returns the number of operations of a call, without the operations that compute its operands.
  double flopsOf(const TensorNode &node) const {
    const PlannedCall call(*this, node, {});
    return flopsOf(node, call);
  }

private:
  struct PlannedCall;

  double flopsOf(const TensorNode &node, const PlannedCall &call) const {
    return node.call->flops ? node.call->flops([&](size_t i) { return evaluate(*node.operands[i], {}); }, call.result)
                            : 0;
  }

  /// Returns the shape of the selected part. Dimensions of size 1 broadcast, so nothing is selected from them.
  static Shape selectedShape(Shape shape, const Selection &selection) {
    const size_t rank = shape.size();
    if (rank >= 2 && selection.rows && shape[rank - 2] != 1)
      shape[rank - 2] = static_cast<int64_t>(selection.rows->size());
    if (rank >= 1 && selection.columns && shape[rank - 1] != 1)
      shape[rank - 1] = static_cast<int64_t>(selection.columns->size());
    return shape;
  }

  Selection operandSelection(const TensorNode &node, size_t operand, const Selection &selection) const {
    const int64_t rank = static_cast<int64_t>(shapes.at(node.operands[operand].get()).size());
    switch (node.kind) {
    case Kind::Matmul:
      return operand == 0 ? Selection{selection.rows, nullptr} : Selection{nullptr, selection.columns};
    case Kind::Transpose:
      return {selection.columns, selection.rows};
    case Kind::Softmax:
      return {selection.rows, nullptr};
    case Kind::Reduce: {
      const int64_t axis = node.axis < 0 ? node.axis + rank : node.axis;
      return {axis == rank - 2 ? nullptr : selection.rows, axis == rank - 1 ? nullptr : selection.columns};
    }
    default:
      return selection;
    }
  }

  Tensor evaluateOperand(const TensorNode &node, size_t operand, const Selection &selection) const {
    return evaluate(*node.operands[operand], operandSelection(node, operand, selection));
  }

  Tensor evaluateName(const TensorNode &node, const Selection &selection) const {
    const auto found = names.buffers.find(node.name);
    if (found == names.buffers.end())
      return {{}, {names.scalars.find(node.name)->second}};
    const HostBuffer &buffer = *found->second;
    const BufferLayout &layout = buffer.layout();
    const size_t rank = layout.shape.size();
    Tensor result;
    result.shape = selectedShape(layout.shape, selection);
    result.values.resize(static_cast<size_t>(countElements(result.shape)));
    const LoadElement load = elementLoader(buffer.type());
    const unsigned size = runtime::dataTypeSize(buffer.type());
    const bool selectRows = rank >= 2 && selection.rows && layout.shape[rank - 2] != 1;
    const bool selectColumns = rank >= 1 && selection.columns && layout.shape[rank - 1] != 1;
    parallelFor(countElements(result.shape), elementsPerTask, [&](int64_t begin, int64_t end) {
      for (int64_t linear = begin; linear < end; ++linear) {
        int64_t remainder = linear;
        int64_t offset = 0;
        for (size_t dim = rank; dim-- > 0; remainder /= result.shape[dim]) {
          int64_t index = remainder % result.shape[dim];
          if (dim + 1 == rank && selectColumns)
            index = (*selection.columns)[static_cast<size_t>(index)];
          else if (dim + 2 == rank && selectRows)
            index = (*selection.rows)[static_cast<size_t>(index)];
          offset += index * layout.strides[dim];
        }
        result.values[static_cast<size_t>(linear)] = load(buffer.data() + offset * size);
      }
    });
    return result;
  }

  /// Repeats the elements of a tensor to fill a result of this shape.
  static Tensor broadcast(Tensor tensor, const Shape &shape) {
    if (tensor.shape == shape)
      return tensor;
    Tensor result{shape, std::vector<double>(static_cast<size_t>(countElements(shape)))};
    const std::vector<int64_t> strides = broadcastStrides(tensor.shape, shape.size());
    for (size_t i = 0; i < result.values.size(); ++i)
      result.values[i] = tensor.values[static_cast<size_t>(offsetAt(static_cast<int64_t>(i), shape, strides))];
    return result;
  }

  Tensor evaluateElementwise(const TensorNode &node, const Selection &selection) const {
    Tensor result;
    result.shape = selectedShape(shapes.at(&node), selection);
    if (const TensorNode *chosen = chosenBy(node))
      return broadcast(evaluate(*chosen, selection), result.shape);
    const size_t rank = result.shape.size();
    std::array<Tensor, 3> operands;
    std::array<std::vector<int64_t>, 3> strides;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      operands[i] = evaluateOperand(node, i, selection);
      strides[i] = broadcastStrides(operands[i].shape, rank);
    }
    result.values.resize(static_cast<size_t>(countElements(result.shape)));
    parallelFor(countElements(result.shape), elementsPerTask, [&](int64_t begin, int64_t end) {
      for (int64_t linear = begin; linear < end; ++linear) {
        double x[3] = {0, 0, 0};
        for (size_t i = 0; i < node.operands.size(); ++i)
          x[i] = operands[i].shape == result.shape
                     ? operands[i].values[static_cast<size_t>(linear)]
                     : operands[i].values[static_cast<size_t>(offsetAt(linear, result.shape, strides[i]))];
        result.values[static_cast<size_t>(linear)] = node.function(x[0], x[1], x[2]);
      }
    });
    return result;
  }

  /// Returns a string that is equal for matrix multiplications with equal operands and selections.
  static std::string nameOf(const TensorNode &node, const Selection &selection) {
    const auto show = [](const Shape *indices) {
      return indices ? fmt::format("{}", fmt::join(*indices, " ")) : "all";
    };
    return fmt::format("{} of {} and {}", textOf(node), show(selection.rows), show(selection.columns));
  }

  /// Computes each matrix multiplication once. An expression may contain the same one several times: GELU, for example,
  /// uses its argument more than once.
  Tensor evaluateMatmul(const TensorNode &node, const Selection &selection) const {
    const std::string name = nameOf(node, selection);
    if (const auto found = matmuls.find(name); found != matmuls.end())
      return found->second;
    return matmuls.emplace(name, multiply(node, selection)).first->second;
  }

  Tensor multiply(const TensorNode &node, const Selection &selection) const {
    const Tensor left = evaluateOperand(node, 0, selection);
    const Tensor right = evaluateOperand(node, 1, selection);
    Tensor result;
    result.shape = selectedShape(shapes.at(&node), selection);
    result.values.assign(static_cast<size_t>(countElements(result.shape)), 0.0);
    const size_t rank = result.shape.size();
    const int64_t m = left.shape[left.shape.size() - 2], k = left.shape.back(), n = right.shape.back();
    const Shape batch(result.shape.begin(), result.shape.end() - 2);
    const auto leftStrides = broadcastStrides(Shape(left.shape.begin(), left.shape.end() - 2), rank - 2);
    const auto rightStrides = broadcastStrides(Shape(right.shape.begin(), right.shape.end() - 2), rank - 2);
    for (int64_t i = 0; i < countElements(batch) && m * n > 0; ++i)
      multiplyMatrices(left.values.data() + offsetAt(i, batch, leftStrides) * m * k,
                       right.values.data() + offsetAt(i, batch, rightStrides) * k * n, result.values.data() + i * m * n,
                       m, n, k, multiplied);
    return result;
  }

  Tensor evaluateTranspose(const TensorNode &node, const Selection &selection) const {
    const Tensor operand = evaluateOperand(node, 0, selection);
    const size_t rank = operand.shape.size();
    const int64_t rows = operand.shape[rank - 2], columns = operand.shape[rank - 1];
    Tensor result{operand.shape, std::vector<double>(operand.values.size())};
    std::swap(result.shape[rank - 1], result.shape[rank - 2]);
    for (size_t i = 0; i < operand.values.size(); ++i) {
      const int64_t linear = static_cast<int64_t>(i);
      const int64_t matrix = linear / (rows * columns), row = linear / columns % rows, column = linear % columns;
      result.values[static_cast<size_t>((matrix * columns + column) * rows + row)] = operand.values[i];
    }
    return result;
  }

  Tensor evaluateSoftmax(const TensorNode &node, const Selection &selection) const {
    const Tensor operand = evaluateOperand(node, 0, selection);
    Tensor result;
    result.shape = selectedShape(shapes.at(&node), selection);
    const int64_t width = operand.shape.back(), outWidth = result.shape.back();
    result.values.resize(static_cast<size_t>(countElements(result.shape)));
    const int64_t rows = width == 0 ? 0 : static_cast<int64_t>(operand.values.size()) / width;
    parallelFor(rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const double *x = operand.values.data() + row * width;
        const double highest = *std::max_element(x, x + width);
        double sum = 0;
        for (int64_t i = 0; i < width; ++i)
          sum += std::exp(x[i] - highest);
        for (int64_t i = 0; i < outWidth; ++i) {
          const int64_t column = outWidth == width || !selection.columns ? i : (*selection.columns)[size_t(i)];
          result.values[static_cast<size_t>(row * outWidth + i)] = std::exp(x[column] - highest) / sum;
        }
      }
    });
    return result;
  }

  Tensor evaluateReduce(const TensorNode &node, const Selection &selection) const {
    const Tensor operand = evaluateOperand(node, 0, selection);
    const int64_t rank = static_cast<int64_t>(operand.shape.size());
    const size_t axis = static_cast<size_t>(node.axis < 0 ? node.axis + rank : node.axis);
    const int64_t width = operand.shape[axis];
    int64_t inner = 1;
    for (size_t dim = axis + 1; dim < operand.shape.size(); ++dim)
      inner *= operand.shape[dim];
    Tensor result{operand.shape, {}};
    result.shape[axis] = 1;
    const bool isMax = node.reduction == TensorNode::Reduction::Max;
    result.values.resize(static_cast<size_t>(countElements(result.shape)));
    parallelFor(countElements(result.shape), 64, [&](int64_t begin, int64_t end) {
      for (int64_t linear = begin; linear < end; ++linear) {
        const double *x = operand.values.data() + linear / inner * inner * width + linear % inner;
        double value = isMax ? -std::numeric_limits<double>::infinity() : 0;
        for (int64_t i = 0; i < width; ++i)
          value = isMax ? (std::isnan(value) || value > x[i * inner] ? value : x[i * inner]) : value + x[i * inner];
        if (node.reduction == TensorNode::Reduction::Mean)
          value /= static_cast<double>(width);
        result.values[static_cast<size_t>(linear)] = value;
      }
    });
    return result;
  }

  /// A call with the parts of its operands that are needed for a part of its result, or for all of it.
  struct PlannedCall {
    std::vector<Shape> operands;
    std::vector<OperandPart> parts;
    bool isWhole = false;
    ResultPart result;

    PlannedCall(const Evaluator &evaluator, const TensorNode &node, const Selection &selection)
        : result{evaluator.shapes.at(&node), {}, selection} {
      const TensorFunction &function = *node.call;
      for (size_t i = 0; i < function.arrays; ++i)
        operands.push_back(evaluator.shapes.at(node.operands[i].get()));
      result.operands = operands;
      for (size_t i = 0; i < function.arrays; ++i) {
        std::optional<OperandPart> part =
            function.operandPart ? function.operandPart(i, evaluator.integers.at(&node), result) : std::nullopt;
        isWhole = isWhole || !part;
        parts.push_back(part ? std::move(*part) : OperandPart());
      }
      if (!isWhole)
        return;
      parts.assign(function.arrays, OperandPart());
      result.selection = {};
    }
    PlannedCall(const PlannedCall &) = delete;

    Selection selectionOf(size_t operand) const {
      const OperandPart &part = parts[operand];
      return {part.rows ? &*part.rows : nullptr, part.columns ? &*part.columns : nullptr};
    }
  };

  Tensor evaluateCall(const TensorNode &node, const Selection &selection) const {
    const PlannedCall call(*this, node, selection);
    std::vector<Tensor> arrays;
    for (size_t i = 0; i < call.parts.size(); ++i)
      arrays.push_back(call.parts[i].isRead ? evaluate(*node.operands[i], call.selectionOf(i))
                                            : Tensor{call.operands[i], {}});
    Tensor result{selectedShape(call.result.shape, call.result.selection), {}};
    result.values.resize(static_cast<size_t>(countElements(result.shape)));
    node.call->evaluate(arrays, integers.at(&node), call.result, result);
    if (multiplied)
      multiplied(flopsOf(node, call));
    return call.isWhole ? select(std::move(result), selection) : result;
  }

  /// Returns the selected rows and columns of a tensor that has been computed completely.
  static Tensor select(Tensor whole, const Selection &selection) {
    Tensor result{selectedShape(whole.shape, selection), {}};
    if (result.shape == whole.shape && !selection.rows && !selection.columns)
      return whole;
    const size_t rank = whole.shape.size();
    const std::vector<int64_t> strides = broadcastStrides(whole.shape, rank);
    result.values.resize(static_cast<size_t>(countElements(result.shape)));
    for (size_t i = 0; i < result.values.size(); ++i) {
      int64_t remainder = static_cast<int64_t>(i), offset = 0;
      for (size_t dim = rank; dim-- > 0; remainder /= result.shape[dim]) {
        const auto *chosen = dim + 1 == rank ? selection.columns : dim + 2 == rank ? selection.rows : nullptr;
        const int64_t index = remainder % result.shape[dim];
        offset += (chosen && whole.shape[dim] != 1 ? (*chosen)[static_cast<size_t>(index)] : index) * strides[dim];
      }
      result.values[i] = whole.values[static_cast<size_t>(offset)];
    }
    return result;
  }

  const NodeIntegers &shapes;
  const NodeIntegers &integers;
  const TensorNames &names;
  mutable std::map<std::string, Tensor> matmuls; ///< matrix multiplications computed so far
};

} // namespace

const std::vector<int64_t> &BoundTensorExpression::shape() const {
  return shapes.at(&expression->root());
}

TensorCost BoundTensorExpression::costOf(const Selection &selection) const {
  std::set<std::string> seen;
  return Evaluator(shapes, integers, *names).costOf(expression->root(), selection, seen);
}

namespace {

bool isSpecial(const TensorNode &node) {
  constexpr std::string_view special[] = {"exp", "exp2", "log", "sqrt", "rsqrt", "tanh", "erf", "sigmoid", "silu"};
  return node.kind == Kind::Softmax ||
         (node.kind == Kind::Elementwise &&
          std::find(std::begin(special), std::end(special), node.name) != std::end(special));
}

} // namespace

TensorWork BoundTensorExpression::countWork(std::set<std::string> &counted) const {
  const Evaluator evaluator(shapes, integers, *names);
  TensorWork work;
  const std::function<void(const TensorNode &)> visit = [&](const TensorNode &node) {
    if (const TensorNode *chosen = evaluator.chosenBy(node))
      return visit(*chosen);
    if (!counted.insert(textOf(node)).second)
      return;
    for (const std::unique_ptr<TensorNode> &operand : node.operands)
      visit(*operand);
    const auto elements = static_cast<double>(countElements(shapes.at(&node)));
    if (node.kind == Kind::Matmul)
      work.flops += 2 * elements * static_cast<double>(shapes.at(node.operands[0].get()).back());
    if (node.kind == Kind::Call)
      work.flops += evaluator.flopsOf(node);
    work.special += isSpecial(node) ? elements : 0;
  };
  visit(expression->root());
  return work;
}

Tensor BoundTensorExpression::evaluate(const Selection &selection, LongWork *work) const {
  Evaluator evaluator(shapes, integers, *names);
  std::atomic<double> done = 0;
  const double all = costOf(selection).flops;
  if (work)
    evaluator.multiplied = [&](double flops) { return work->reach(done += flops, all); };
  return evaluator.evaluate(expression->root(), selection);
}

} // namespace tile::runner
