// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor expressions: the reference in a kernel's `expect`, evaluated on the CPU in double.
//
//   comparison = sum [('<'|'<='|'>'|'>='|'=='|'!=') sum]       sum = term {('+'|'-') term}
//   term = unary {('*'|'/'|'@') unary}                          unary = '-' unary | primary ['**' unary]
//   primary = number | name | function '(' argument {',' argument} ')' | '(' comparison ')'
//
// Functions: exp exp2 log sqrt rsqrt abs floor tanh erf sigmoid silu, maximum minimum, where(c, x, y), sum max
// mean(x, axis) which keep the reduced axis with size 1, softmax(x) over the last axis, transpose(x) of the last two,
// rand(seed, offset) as tl.rand, and those of TensorFunctions.h. Broadcasting as in NumPy. Parsing, shapes and values
// are separate steps, so that a bad expression fails before any kernel runs.
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
  /// Applied element by element; unused operands are 0.
  using Function = double (*)(double x, double y, double z);

  Kind kind = Kind::Number;
  unsigned column = 0; ///< for messages, from 1
  double number = 0;
  std::string name; ///< of a Name, or the spelling of an operator or function
  Function function = nullptr;
  const TensorFunction *call = nullptr; ///< of a Call
  Reduction reduction = Reduction::Sum;
  int64_t axis = 0; ///< as written: negative counts from the end
  std::vector<std::unique_ptr<TensorNode>> operands;
};

/// Row-major values.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// Rows and columns (the last two dimensions of the result) to compute; null: all of them.
struct Selection {
  const std::vector<int64_t> *rows = nullptr;
  const std::vector<int64_t> *columns = nullptr;
};

/// Operations.
struct TensorWork {
  double flops = 0;   ///< Multiplications and additions of matrix products.
  double special = 0; ///< Exponentials, logarithms, roots and the like: of a GPU's special function units.
};

/// What it takes to evaluate a selection: of a `where` with a constant condition the part that it chooses, and a
/// product that is written several times once.
struct TensorCost {
  double flops = 0;    ///< Multiplications and additions of matrix products.
  double elements = 0; ///< Of all intermediate results.
};

/// What names stand for.
struct TensorNames {
  std::map<std::string, const HostBuffer *, std::less<>> buffers;
  std::map<std::string, double, std::less<>> scalars;
};

class TensorExpression {
public:
  static Result<TensorExpression> parse(std::string_view text);

  const TensorNode &root() const { return *tree; }
  const std::string &text() const { return source; }
  /// Names in the order of their first use.
  std::vector<std::string> names() const;

private:
  std::string source;
  std::unique_ptr<TensorNode> tree;
};

/// An expression whose shapes have been checked against its buffers.
class BoundTensorExpression {
public:
  /// `names` must outlive the result.
  static Result<BoundTensorExpression> bind(const TensorExpression &expression, const TensorNames &names);

  const std::vector<int64_t> &shape() const;
  TensorCost costOf(const Selection &selection) const;
  /// What a kernel has to do: what is written several times once, and of a `where` with a constant condition the part
  /// that it chooses. Nothing for what is in `counted`, where the parts of this expression go.
  TensorWork countWork(std::set<std::string> &counted) const;
  /// The selected part; dimensions of size 1 are never selected from. `work` is told of the products; where it is
  /// stopped, the result means nothing.
  Tensor evaluate(const Selection &selection, LongWork *work = nullptr) const;

private:
  friend class TensorBinder;
  const TensorExpression *expression = nullptr;
  const TensorNames *names = nullptr;
  std::map<const TensorNode *, std::vector<int64_t>> shapes;
  std::map<const TensorNode *, std::vector<int64_t>> integers; ///< operands of a Call
};

} // namespace tile::runner
