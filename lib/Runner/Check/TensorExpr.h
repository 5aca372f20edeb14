// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor expressions: the reference in a kernel's `expect`, evaluated on the CPU in double precision.
//
// The grammar is that of Directives/ExpressionTree.h. `and`, `or`, `not` and `x if c else y` work element by element,
// like all operators except `@`.
//
// Functions: exp exp2 log sqrt rsqrt abs floor tanh erf sigmoid silu; maximum minimum; where(c, x, y); sum max mean(x,
// axis), which keep the reduced axis with size 1; softmax(x) over the last axis; transpose(x) of the last two axes;
// rand(seed, offset), the same as tl.rand; peers(x), which stacks the buffers x of all ranks along a new first axis;
// and the functions of TensorFunctions.h. Broadcasting follows NumPy. Parsing, shape checks and evaluation are separate
// steps, so an invalid expression fails before any kernel runs.
#pragma once

#include "Runner/Inputs/HostBuffer.h"

#include <map>
#include <memory>
#include <set>

namespace tile::runner {

class LongWork;
struct TensorFunction;

struct TensorNode {
  enum class Kind { Number, Name, Elementwise, Matmul, Transpose, Reduce, Softmax, Call };
  enum class Reduction { Sum, Max, Mean };
  /// An element-wise function; unused operands are 0.
  using Function = double (*)(double x, double y, double z);

  Kind kind = Kind::Number;
  unsigned column = 0; ///< for messages, counted from 1
  double number = 0;
  std::string name; ///< the name in a Name, or the spelling of an operator or function
  Function function = nullptr;
  const TensorFunction *call = nullptr; ///< the function of a Call
  Reduction reduction = Reduction::Sum;
  int64_t axis = 0; ///< as written; negative values count from the end
  std::vector<std::unique_ptr<TensorNode>> operands;
};

/// A dense tensor with row-major values.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// The rows and columns to compute (positions in the last two dimensions of the result). Null means all rows or
/// columns.
struct Selection {
  const std::vector<int64_t> *rows = nullptr;
  const std::vector<int64_t> *columns = nullptr;
};

/// The number of operations of a kernel.
struct TensorWork {
  double flops = 0;   ///< additions and multiplications in matrix multiplications
  double special = 0; ///< exponentials, logarithms, roots etc., which a GPU computes in its special function units
};

/// The cost of evaluating a selection. If the condition of a `where` is constant, only the chosen operand counts. A
/// repeated matrix multiplication counts once.
struct TensorCost {
  double flops = 0;    ///< additions and multiplications in matrix multiplications
  double elements = 0; ///< number of elements of all intermediate results
};

/// Returns "peers(x)", the name that stands for the buffers x of all ranks.
std::string peersName(std::string_view buffer);
/// Returns the buffer x if `name` is "peers(x)"; otherwise nullopt.
std::optional<std::string> bufferOfPeers(std::string_view name);

/// The buffers and scalars that names in an expression stand for.
struct TensorNames {
  std::map<std::string, const HostBuffer *, std::less<>> buffers;
  std::map<std::string, double, std::less<>> scalars;
};

class TensorExpression {
public:
  static Result<TensorExpression> parse(std::string_view text);

  const TensorNode &root() const { return *tree; }
  const std::string &text() const { return source; }
  /// Returns the names in the order of their first use.
  std::vector<std::string> names() const;

private:
  std::string source;
  std::unique_ptr<TensorNode> tree;
};

/// An expression whose shapes have been checked against its buffers.
class BoundTensorExpression {
public:
  /// Binds an expression. `names` must outlive the result.
  static Result<BoundTensorExpression> bind(const TensorExpression &expression, const TensorNames &names);

  const std::vector<int64_t> &shape() const;
  TensorCost costOf(const Selection &selection) const;
  /// Counts the work of a kernel that computes this expression. Repeated computations count once. If the condition of a
  /// `where` is constant, only the chosen operand counts. Skips computations that are in `counted`, and adds all others
  /// to `counted`.
  TensorWork countWork(std::set<std::string> &counted) const;
  /// Evaluates the selected part; nothing is selected from dimensions of size 1. Reports the progress of matrix
  /// multiplications to `work`. If `work` stops the evaluation, the result is meaningless.
  Tensor evaluate(const Selection &selection, LongWork *work = nullptr) const;

private:
  friend class TensorBinder;
  const TensorExpression *expression = nullptr;
  const TensorNames *names = nullptr;
  std::map<const TensorNode *, std::vector<int64_t>> shapes;
  std::map<const TensorNode *, std::vector<int64_t>> integers; ///< integer operands of each Call
};

} // namespace tile::runner
