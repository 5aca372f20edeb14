// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans GEMMs without CUDA, so all operand layouts can be tested without a GPU.
#include "Runner/Check/Gemm.h"

#include <algorithm>
#include <limits>

namespace tile::runner {
namespace {

/// A matrix, or a batch of matrices, as the expression uses it: sizes and strides after transpose().
struct MatrixView {
  std::string buffer;
  int64_t rows = 0, columns = 0, rowStride = 0, columnStride = 0;
  int64_t batch = 1, batchStride = 0;

  bool operator==(const MatrixView &) const = default;

  void transpose() {
    std::swap(rows, columns);
    std::swap(rowStride, columnStride);
  }
};

std::optional<MatrixView> viewOf(const HostBuffer &buffer, const std::string &name) {
  const BufferLayout &layout = buffer.layout();
  const size_t rank = layout.shape.size();
  if ((rank != 2 && rank != 3) || layout.elements == 0)
    return std::nullopt;
  MatrixView view{name, layout.shape[rank - 2], layout.shape[rank - 1], layout.strides[rank - 2],
                  layout.strides[rank - 1]};
  if (rank == 3 && layout.shape[0] > 1) {
    view.batch = layout.shape[0];
    view.batchStride = layout.strides[0];
  }
  return view;
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

/// Returns the leading dimension if the matrix is row-major (columns contiguous), otherwise 0.
int64_t rowMajorLeading(const MatrixView &view) {
  if (view.columnStride != 1 && view.columns > 1)
    return 0;
  const int64_t leading = view.rows > 1 ? view.rowStride : view.columns;
  return leading >= view.columns ? leading : 0;
}

/// Returns the operand of a GEMM with column-major output; a column-major matrix is passed unchanged.
std::optional<GemmOperand> operandFor(MatrixView view) {
  const int64_t asRowMajor = rowMajorLeading(view);
  view.transpose();
  const int64_t asColumnMajor = rowMajorLeading(view);
  if (asColumnMajor)
    return GemmOperand{view.buffer, false, asColumnMajor, view.batchStride};
  if (asRowMajor)
    return GemmOperand{view.buffer, true, asRowMajor, view.batchStride};
  return std::nullopt;
}

/// The epilogue that an expectation applies to its GEMM.
struct Epilogue {
  const TensorNode *matmul = nullptr;
  std::string bias;
  bool hasRelu = false;
  bool isPart = false; ///< the expectation computes more than the GEMM and this epilogue
};

void collectMatmuls(const TensorNode &node, std::vector<const TensorNode *> &matmuls) {
  if (node.kind == TensorNode::Kind::Matmul)
    matmuls.push_back(&node);
  for (const auto &operand : node.operands)
    collectMatmuls(*operand, matmuls);
}

/// Returns the expression's only matrix multiplication, which may occur several times. Returns null unless its operands
/// are matrices and its result is `rows` by `columns`.
const TensorNode *findMatmul(const TensorNode &root, const TensorNames &names, int64_t rows, int64_t columns) {
  std::vector<const TensorNode *> matmuls;
  collectMatmuls(root, matmuls);
  std::optional<MatrixView> first, second;
  for (const TensorNode *matmul : matmuls) {
    const std::optional<MatrixView> a = viewOfNode(*matmul->operands[0], names),
                                    b = viewOfNode(*matmul->operands[1], names);
    if (!a || !b || a->rows != rows || b->columns != columns || (first && (first != a || second != b)))
      return nullptr;
    first = a;
    second = b;
  }
  return matmuls.empty() ? nullptr : matmuls.front();
}

std::optional<Epilogue> parseEpilogue(const TensorNode &root) {
  using Kind = TensorNode::Kind;
  const auto isCall = [](const TensorNode &node, std::string_view name) {
    return node.kind == Kind::Elementwise && node.name == name && node.operands.size() == 2;
  };
  Epilogue epilogue;
  const TensorNode *node = &root;
  if (isCall(*node, "maximum") && node->operands[1]->kind == Kind::Number && node->operands[1]->number == 0) {
    epilogue.hasRelu = true;
    node = node->operands[0].get();
  }
  if (isCall(*node, "+") && node->operands[1]->kind == Kind::Name) {
    epilogue.bias = node->operands[1]->name;
    node = node->operands[0].get();
  }
  epilogue.matmul = node;
  return node->kind == Kind::Matmul ? std::optional(epilogue) : std::nullopt;
}

/// Returns true if the buffer has one contiguous element for each of `count` columns.
bool isRowOf(const HostBuffer *buffer, int64_t count) {
  if (!buffer)
    return false;
  const BufferLayout &layout = buffer->layout();
  return layout.elements == count && !layout.shape.empty() && layout.shape.back() == count &&
         layout.strides.back() == 1;
}

} // namespace

std::optional<GemmPlan> planGemm(const runtime::Expectation &expectation, const TensorNames &names,
                                 const HostBuffer &output) {
  Result<TensorExpression> expression = TensorExpression::parse(expectation.expression);
  std::optional<MatrixView> c = viewOf(output, expectation.buffer);
  if (!expression || !c)
    return std::nullopt;
  std::optional<Epilogue> epilogue = parseEpilogue(expression->root());
  if (!epilogue)
    epilogue = Epilogue{findMatmul(expression->root(), names, c->rows, c->columns), "", false, /*isPart=*/true};
  if (!epilogue->matmul)
    return std::nullopt;
  std::optional<MatrixView> a = viewOfNode(*epilogue->matmul->operands[0], names);
  std::optional<MatrixView> b = viewOfNode(*epilogue->matmul->operands[1], names);
  if (!a || !b || (c->batch > 1 && (epilogue->hasRelu || !epilogue->bias.empty())))
    return std::nullopt;
  for (const MatrixView &operand : {*a, *b})
    if (operand.batch != c->batch && operand.batch != 1) // the batch shares a single matrix, with a stride of 0
      return std::nullopt;
  if (!epilogue->bias.empty()) { // cublasLtMatmul adds one value to each row of its column-major output
    const auto bias = names.buffers.find(epilogue->bias);
    if (!rowMajorLeading(*c) || bias == names.buffers.end() || !isRowOf(bias->second, c->columns))
      return std::nullopt;
  }
  if (rowMajorLeading(*c)) { // C^T = B^T A^T
    std::swap(a, b);
    for (MatrixView *view : {&*a, &*b, &*c})
      view->transpose();
  }
  const std::optional<GemmOperand> first = operandFor(*a), second = operandFor(*b), result = operandFor(*c);
  if (!first || !second || !result || result->isTransposed)
    return std::nullopt;
  const GemmPlan plan{.m = c->rows,
                      .n = c->columns,
                      .k = a->columns,
                      .batch = c->batch,
                      .first = *first,
                      .second = *second,
                      .output = *result,
                      .bias = epilogue->bias,
                      .hasRelu = epilogue->hasRelu,
                      .isPart = epilogue->isPart,
                      .needsFp32 = expectation.tolerance < 1e-4};
  for (int64_t size : {plan.m, plan.n, plan.k, plan.batch, first->leadingDimension, second->leadingDimension,
                       result->leadingDimension})
    if (size > std::numeric_limits<int>::max())
      return std::nullopt;
  return plan;
}

} // namespace tile::runner
