// Pure planning: no CUDA here, so that all operand orders are tested without a GPU.
#include "Runner/Gemm.h"

#include <algorithm>
#include <limits>

namespace tile::runner {
namespace {

/// A matrix as the expression sees it: sizes and strides, after transpose().
struct MatrixView {
  std::string buffer;
  int64_t rows = 0, columns = 0, rowStride = 0, columnStride = 0;

  void transpose() {
    std::swap(rows, columns);
    std::swap(rowStride, columnStride);
  }
};

std::optional<MatrixView> viewOf(const HostBuffer &buffer, const std::string &name) {
  const BufferLayout &layout = buffer.layout();
  if (layout.shape.size() != 2 || layout.elements == 0)
    return std::nullopt;
  return MatrixView{name, layout.shape[0], layout.shape[1], layout.strides[0], layout.strides[1]};
}

std::optional<MatrixView> viewOfNode(const TensorNode &node, const TensorNames &names) {
  if (node.kind == TensorNode::Kind::Transpose) {
    std::optional<MatrixView> view = viewOfNode(*node.operands[0], names);
    if (view)
      view->transpose();
    return view;
  }
  if (node.kind != TensorNode::Kind::Name)
    return std::nullopt;
  const auto found = names.buffers.find(node.name);
  return found == names.buffers.end() ? std::nullopt : viewOf(*found->second, node.name);
}

/// Leading dimension if the matrix is row-major (columns contiguous); 0 if it is not.
int64_t rowMajorLeading(const MatrixView &view) {
  if (view.columnStride != 1 && view.columns > 1)
    return 0;
  const int64_t leading = view.rows > 1 ? view.rowStride : view.columns;
  return leading >= view.columns ? leading : 0;
}

/// The operand for a product whose output is column-major; a column-major matrix is passed as it is.
std::optional<GemmOperand> operandFor(MatrixView view) {
  const int64_t asRowMajor = rowMajorLeading(view);
  view.transpose();
  const int64_t asColumnMajor = rowMajorLeading(view);
  if (asColumnMajor)
    return GemmOperand{view.buffer, false, asColumnMajor};
  if (asRowMajor)
    return GemmOperand{view.buffer, true, asRowMajor};
  return std::nullopt;
}

} // namespace

std::optional<GemmPlan> planGemm(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output) {
  Result<TensorExpression> expression = TensorExpression::parse(expectation.expression);
  if (!expression || expression->root().kind != TensorNode::Kind::Matmul)
    return std::nullopt;
  std::optional<MatrixView> a = viewOfNode(*expression->root().operands[0], names);
  std::optional<MatrixView> b = viewOfNode(*expression->root().operands[1], names);
  std::optional<MatrixView> c = viewOf(output, expectation.buffer);
  if (!a || !b || !c)
    return std::nullopt;
  if (rowMajorLeading(*c)) { // C^T = B^T A^T
    std::swap(a, b);
    for (MatrixView *view : {&*a, &*b, &*c})
      view->transpose();
  }
  const std::optional<GemmOperand> first = operandFor(*a), second = operandFor(*b), result = operandFor(*c);
  if (!first || !second || !result || result->isTransposed)
    return std::nullopt;
  const GemmPlan plan{c->rows, c->columns, a->columns, *first, *second, *result};
  for (int64_t size :
       {plan.m, plan.n, plan.k, first->leadingDimension, second->leadingDimension, result->leadingDimension})
    if (size > std::numeric_limits<int>::max())
      return std::nullopt;
  return plan;
}

} // namespace tile::runner
