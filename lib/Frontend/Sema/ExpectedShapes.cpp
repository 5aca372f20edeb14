// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules are those of Runner/Check/TensorShapes, for sizes that may be unknown.
#include "Frontend/Sema/ExpectedShapes.h"

#include "Directives/Functions.h"
#include "Frontend/Syntax/DirectiveExpressions.h"
#include "Frontend/Syntax/Unparse.h"
#include "Frontend/Syntax/Walk.h"

namespace tile::frontend {
namespace {

struct Extent {
  std::optional<int64_t> value; ///< nullopt: depends on the arguments
  std::string text;
};
using Shape = std::vector<Extent>;

Extent extentOf(const Expr &expr) {
  return {constantOf(expr), unparse(expr)};
}

std::string show(const Shape &shape) {
  std::string text;
  for (const Extent &extent : shape)
    text += (text.empty() ? "" : ", ") + extent.text;
  return "[" + text + "]";
}

std::string showAll(const std::vector<Shape> &shapes) {
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i)
    text += (i == 0 ? "" : i + 1 == shapes.size() ? " and " : ", ") + show(shapes[i]);
  return text;
}

bool differ(const Extent &left, const Extent &right) {
  return left.value && right.value && *left.value != *right.value;
}

/// Broadcasts `other` into `shape`. Returns false if the shapes are incompatible.
bool broadcastInto(Shape &shape, const Shape &other) {
  if (other.size() > shape.size())
    shape.insert(shape.begin(), other.size() - shape.size(), Extent{1, "1"});
  for (size_t i = 0; i < other.size(); ++i) {
    Extent &extent = shape[shape.size() - other.size() + i];
    if (extent.value == 1 || (!extent.value && other[i].value && other[i].value != 1))
      extent = other[i];
    else if (other[i].value != 1 && differ(extent, other[i]))
      return false;
  }
  return true;
}

class ShapeChecker {
public:
  ShapeChecker(DiagnosticEngine &diagnostics, const ExpectedNames &names) : diagnostics(diagnostics), names(names) {}

  /// Returns nullopt if the shape is unknown, or if an error was reported.
  std::optional<Shape> shapeOf(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Int:
    case ExprKind::Float:
      return Shape();
    case ExprKind::Name:
      return shapeOfName(as<NameExpr>(&expr)->id);
    case ExprKind::Call:
      return shapeOfCall(*as<CallExpr>(&expr));
    case ExprKind::Binary:
      if (const auto &node = *as<BinaryExpr>(&expr); node.op == BinaryOp::MatMult)
        return shapeOfMatmul(node);
      [[fallthrough]];
    default:
      return broadcast(expr, childrenOf(expr), "the operands");
    }
  }

  std::optional<Shape> fail(const Expr &expr, const std::string &what, const std::string &message) {
    if (!hasFailed)
      diagnostics.report(Diag::expected_shape, expr.range, {what, message});
    hasFailed = true;
    return std::nullopt;
  }

private:
  static std::vector<const Expr *> childrenOf(const Expr &expr) {
    std::vector<const Expr *> children;
    forEachChild(expr, [&](const Expr &child) { children.push_back(&child); });
    return children;
  }

  std::optional<Shape> shapeOfName(const std::string &name) const {
    if (const auto buffer = names.buffers.find(name); buffer != names.buffers.end()) {
      Shape shape;
      for (const DirectiveExpr &extent : buffer->second->shape)
        shape.push_back({constantOf(*extent.expr), extent.text});
      return shape;
    }
    return names.scalars.contains(name) ? std::optional(Shape()) : std::nullopt;
  }

  std::optional<Shape> broadcast(const Expr &expr, const std::vector<const Expr *> &operands, const std::string &what) {
    Shape shape;
    bool isKnown = true;
    for (const Expr *operand : operands) {
      const std::optional<Shape> other = shapeOf(*operand);
      isKnown &= other.has_value();
      const Shape before = shape;
      if (isKnown && !broadcastInto(shape, *other))
        return fail(expr, what, "shapes " + show(before) + " and " + show(*other) + " do not broadcast");
    }
    return isKnown ? std::optional(shape) : std::nullopt;
  }

  std::optional<Shape> shapeOfMatmul(const BinaryExpr &node) {
    const std::optional<Shape> left = shapeOf(*node.left), right = shapeOf(*node.right);
    if (!left || !right)
      return std::nullopt;
    if (left->size() < 2 || right->size() < 2 || differ(left->back(), (*right)[right->size() - 2]))
      return fail(node, "@", "shapes " + show(*left) + " and " + show(*right) + " cannot be multiplied");
    Shape shape(left->begin(), left->end() - 2);
    if (!broadcastInto(shape, Shape(right->begin(), right->end() - 2)))
      return fail(node, "@", "the batches of " + show(*left) + " and " + show(*right) + " do not broadcast");
    shape.push_back((*left)[left->size() - 2]);
    shape.push_back(right->back());
    return shape;
  }

  std::optional<Shape> shapeOfCall(const CallExpr &call) {
    const std::string &name = as<NameExpr>(call.callee)->id;
    std::vector<const Expr *> operands;
    for (const Argument &argument : call.arguments)
      operands.push_back(argument.value);
    if (isElementwise(name))
      return broadcast(call, operands, name);
    std::vector<Shape> shapes;
    for (const Expr *operand : operands) {
      const std::optional<Shape> shape = shapeOf(*operand);
      if (!shape)
        return std::nullopt;
      shapes.push_back(*shape);
    }
    if (directives::find(directives::tensorFunctions, name)->hasAxis)
      return shapeAlongAxis(call, name, shapes);
    const size_t rank = shapes.front().size();
    if (name == "transpose" || name == "max_pool2d") {
      if (rank < 2)
        return fail(call, name, "the operand has shape " + show(shapes.front()) + "; expected at least 2 dimensions");
      name == "transpose" ? std::swap(shapes.front()[rank - 1], shapes.front()[rank - 2])
                          : forget(shapes.front(), rank - 2);
      return shapes.front();
    }
    if (name == "softmax" || name == "e2m1" || name == "gather") {
      if (rank < 1)
        return fail(call, name, "the operand is a scalar");
      if (name == "e2m1")
        forget(shapes.front(), rank - 1);
      if (name != "gather")
        return shapes.front();
      shapes[1].insert(shapes[1].end(), shapes[0].begin() + 1, shapes[0].end());
      return shapes[1];
    }
    if (name == "part")
      return Shape{extentOf(*operands[2]), extentOf(*operands[3])};
    if (name == "concat")
      return Shape{{std::nullopt, "the elements of both"}};
    if (name == "peers") {
      shapes.front().insert(shapes.front().begin(), Extent{std::nullopt, "num_ranks"});
      return shapes.front();
    }
    return shapeOfGroups(call, name, shapes);
  }

  static bool isElementwise(std::string_view name) {
    static constexpr std::string_view elementwise[] = {"exp", "exp2",  "log",     "sqrt",    "rsqrt",
                                                       "abs", "floor", "rand",    "tanh",    "sigmoid",
                                                       "erf", "silu",  "maximum", "minimum", "where"};
    return directives::contains(elementwise, name);
  }

  /// Makes the sizes from a dimension on unknown.
  static void forget(Shape &shape, size_t first) {
    for (size_t dim = first; dim < shape.size(); ++dim)
      shape[dim].value.reset();
  }

  /// Checks functions whose last argument is an axis of the first one.
  std::optional<Shape> shapeAlongAxis(const CallExpr &call, const std::string &name, std::vector<Shape> &shapes) {
    Shape &shape = shapes.front();
    const Expr &argument = *call.arguments.back().value;
    const std::optional<int64_t> axis = constantOf(argument);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t place = axis ? *axis + (*axis < 0 ? rank : 0) : 0;
    if (axis && (place < 0 || place >= rank))
      return fail(argument, name, "axis " + std::to_string(*axis) + " does not exist in shape " + show(shape));
    if (name == "segment" && shapes[1].size() != 1)
      return fail(call, name, "offsets of shape " + show(shapes[1]) + "; expected one dimension");
    if (name == "index" || name == "segment")
      return shape;
    if (!axis)
      forget(shape, 0);
    else if (name == "repeat")
      shape[static_cast<size_t>(place)].value.reset();
    else
      shape[static_cast<size_t>(place)] = {1, "1"};
    return shape;
  }

  /// Checks functions whose operands have fixed numbers of dimensions.
  std::optional<Shape> shapeOfGroups(const CallExpr &call, const std::string &name, const std::vector<Shape> &shapes) {
    struct Row {
      std::string_view name;
      std::vector<size_t> ranks; ///< of the arrays, which come first
      std::string_view spelling;
      size_t rank; ///< of the result
    };
    static const Row rows[] = {{"conv2d", {4, 4}, "[N, C, H, W] and [K, C, R, S]", 4},
                               {"group_matmul", {2, 3, 1}, "[M, K], [G, K, N] and [G + 1]", 2},
                               {"ragged_matmul", {2, 3, 1, 1}, "[M, K], [G, K, N], [G] and [G]", 2},
                               {"group_outer", {2, 2, 1}, "[M, K], [M, N] and [G + 1]", 3}};
    const Row *row = directives::find(rows, name);
    if (!row)
      return std::nullopt;
    const std::vector<Shape> arrays(shapes.begin(), shapes.begin() + static_cast<ptrdiff_t>(row->ranks.size()));
    for (size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].size() != row->ranks[i])
        return fail(call, name, "shapes " + showAll(arrays) + " are not " + std::string(row->spelling));
    return Shape(row->rank, Extent{std::nullopt, "?"});
  }

  DiagnosticEngine &diagnostics;
  const ExpectedNames &names;
  bool hasFailed = false;
};

/// Reports outputs whose values are used. index() and segment() use only the shape of their first operand.
void checkReads(DiagnosticEngine &diagnostics, const Expr &expr, const ExpectedNames &names) {
  if (const auto *name = as<NameExpr>(&expr)) {
    const auto buffer = names.buffers.find(name->id);
    if (buffer != names.buffers.end() && buffer->second->role == "output")
      diagnostics.report(Diag::expected_output, name->range, {name->id})
          .note(buffer->second->range, "it is declared as an output here");
    return;
  }
  const auto *call = as<CallExpr>(&expr);
  const std::string function = call ? as<NameExpr>(call->callee)->id : "";
  const bool usesShape = function == "index" || function == "segment";
  forEachChild(expr, [&](const Expr &child) {
    const bool isRead = !call || (&child != call->callee && !(usesShape && &child == call->arguments.front().value));
    if (isRead)
      checkReads(diagnostics, child, names);
  });
}

} // namespace

void checkExpectation(DiagnosticEngine &diagnostics, const ExpectDirective &directive, const ExpectedNames &names) {
  const size_t before = diagnostics.numErrors();
  checkReads(diagnostics, *directive.value.expr, names);
  if (diagnostics.numErrors() != before)
    return;
  ShapeChecker checker(diagnostics, names);
  const Expr &expr = *directive.value.expr;
  const std::optional<Shape> shape = checker.shapeOf(expr);
  const auto buffer = names.buffers.find(directive.buffer);
  if (!shape || buffer == names.buffers.end())
    return;
  Shape output;
  for (const DirectiveExpr &extent : buffer->second->shape)
    output.push_back({constantOf(*extent.expr), extent.text});
  bool fits = shape->size() <= output.size();
  for (size_t i = 0; fits && i < shape->size(); ++i) {
    const Extent &extent = (*shape)[shape->size() - 1 - i];
    fits = extent.value == 1 || !differ(extent, output[output.size() - 1 - i]);
  }
  if (!fits)
    checker.fail(expr, "'#: expect " + directive.buffer + "'",
                 "the expression has shape " + show(*shape) + ", but '" + directive.buffer + "' has shape " +
                     show(output));
}

} // namespace tile::frontend
