// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the parameters and options that `auto` leaves open: finds the GEMM that the kernel computes, and suitable
// values.

#include "Frontend/Sema/Choices.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Syntax/Walk.h"

#include <numeric>

using namespace mlir;

namespace tile::frontend {

namespace {

struct Role {
  StringLiteral name, otherName;
  std::optional<int64_t> TileChoices::*choice;
};
constexpr Role roles[] = {
    {"BLOCK_M", "BLOCK_SIZE_M", &TileChoices::blockM},
    {"BLOCK_N", "BLOCK_SIZE_N", &TileChoices::blockN},
    {"BLOCK_K", "BLOCK_SIZE_K", &TileChoices::blockK},
    {"GROUP_M", "GROUP_SIZE_M", &TileChoices::groupM},
};

const Role *findRole(StringRef parameter) {
  for (const Role &role : roles)
    if (parameter == role.name || parameter == role.otherName)
      return &role;
  return nullptr;
}

/// Facts about the integers in a directive.
class Integers {
public:
  std::map<std::string, Value> values;     ///< constants
  std::map<std::string, int64_t> divisors; ///< guaranteed
  std::map<std::string, Value> sizes;      ///< expected; do not affect correctness

  /// Returns the expected value.
  std::optional<int64_t> estimate(const Expr &expr) const {
    Integers expected = *this;
    expected.values.insert(sizes.begin(), sizes.end());
    return expected.evaluateInteger(expr);
  }

  /// Returns the value, or nullopt if it depends on something unknown.
  std::optional<Value> evaluate(const Expr &expr) const {
    if (const auto *name = as<NameExpr>(&expr)) {
      auto found = values.find(name->id);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    }
    if (const auto *number = as<IntExpr>(&expr))
      return Value(number->value);
    if (const auto *node = as<UnaryExpr>(&expr)) {
      std::optional<Value> operand = evaluate(*node->operand);
      return operand ? frontend::evaluate(node->op, *operand).value : std::nullopt;
    }
    if (const auto *node = as<BinaryExpr>(&expr))
      return evaluateBoth(node->op, *node->left, *node->right);
    if (const auto *node = as<CompareExpr>(&expr))
      return evaluateBoth(node->op, *node->left, *node->right);
    if (const auto *node = as<ConditionalExpr>(&expr)) {
      const Expr *chosen = choose(*node);
      return chosen ? evaluate(*chosen) : std::nullopt;
    }
    if (const auto *node = as<CallExpr>(&expr))
      return evaluateCall(*node);
    return std::nullopt;
  }

  std::optional<int64_t> evaluateInteger(const Expr &expr) const {
    std::optional<Value> value = evaluate(expr);
    std::optional<Int128> integer = value ? asInteger(*value) : std::nullopt;
    bool fits = integer && *integer >= INT64_MIN && *integer <= INT64_MAX;
    return fits ? std::optional(int64_t(*integer)) : std::nullopt;
  }

  /// Returns a guaranteed divisor of the expression.
  int64_t divisorOf(const Expr &expr) const {
    constexpr int64_t most = 1 << 20; // larger than any required divisor
    if (std::optional<int64_t> value = evaluateInteger(expr))
      return std::gcd(*value % most, most);
    if (const auto *name = as<NameExpr>(&expr)) {
      auto found = divisors.find(name->id);
      return found == divisors.end() ? 1 : std::min(most, found->second);
    }
    if (const auto *node = as<ConditionalExpr>(&expr)) {
      const Expr *chosen = choose(*node);
      return chosen ? divisorOf(*chosen) : std::gcd(divisorOf(*node->thenValue), divisorOf(*node->elseValue));
    }
    const auto *node = as<BinaryExpr>(&expr);
    if (node && node->op == BinaryOp::Mult)
      return std::min(most, divisorOf(*node->left) * divisorOf(*node->right));
    if (node && (node->op == BinaryOp::Add || node->op == BinaryOp::Sub))
      return std::gcd(divisorOf(*node->left), divisorOf(*node->right));
    return 1;
  }

private:
  template <typename Op> std::optional<Value> evaluateBoth(Op op, const Expr &left, const Expr &right) const {
    std::optional<Value> a = evaluate(left), b = evaluate(right);
    return a && b ? frontend::evaluate(op, *a, *b).value : std::nullopt;
  }

  const Expr *choose(const ConditionalExpr &node) const {
    std::optional<Value> condition = evaluate(*node.condition);
    std::optional<bool> holds = condition ? truth(*condition) : std::nullopt;
    return !holds ? nullptr : *holds ? node.thenValue : node.elseValue;
  }

  std::optional<Value> evaluateCall(const CallExpr &node) const {
    const auto *name = as<NameExpr>(node.callee);
    std::vector<Value> arguments;
    for (const Argument &argument : node.arguments) {
      std::optional<Value> value = evaluate(*argument.value);
      if (!value)
        return std::nullopt;
      arguments.push_back(*value);
    }
    return name ? callPython(name->id, arguments) : std::nullopt;
  }
};

/// An operand of a GEMM: a two-dimensional buffer, perhaps transposed, or a batch of matrices.
struct Factor {
  const BufferDirective *buffer = nullptr;
  bool isTransposed = false;

  /// Returns the number of batch dimensions.
  size_t batchRank() const { return buffer->shape.size() - 2; }
  /// Returns the size of a matrix dimension. Dimension 0 is M of the left operand, or K of the right one.
  const DirectiveExpr &size(unsigned dim) const { return buffer->shape[batchRank() + (isTransposed ? 1 - dim : dim)]; }

  /// Returns the contiguous dimension of the matrices, if it is known.
  std::optional<unsigned> contiguousDim(const Integers &integers) const {
    if (buffer->strides.empty())
      return 1;
    for (unsigned dim : {1u, 0u})
      if (integers.evaluateInteger(*buffer->strides[batchRank() + dim].expr) == 1)
        return dim;
    return std::nullopt;
  }

  /// Returns a common divisor of the distance between rows that are contiguous along `dim` and, in a batch, of the
  /// distances between matrices, in elements.
  int64_t pitchDivisor(unsigned dim, const Integers &integers) const {
    if (buffer->strides.empty())
      return integers.divisorOf(*buffer->shape.back().expr);
    int64_t divisor = integers.divisorOf(*buffer->strides[batchRank() + 1 - dim].expr);
    for (const DirectiveExpr &stride : ArrayRef(buffer->strides).take_front(batchRank()))
      divisor = std::gcd(divisor, integers.divisorOf(*stride.expr));
    return divisor;
  }
};

std::optional<Factor> findFactor(const DirectiveSet &directives, const Expr &expr) {
  Factor factor;
  const Expr *operand = &expr;
  while (const auto *call = as<CallExpr>(operand)) {
    const auto *callee = as<NameExpr>(call->callee);
    if (!callee || callee->id != "transpose" || call->arguments.size() != 1)
      return std::nullopt;
    factor.isTransposed = !factor.isTransposed;
    operand = call->arguments.front().value;
  }
  const auto *name = as<NameExpr>(operand);
  for (const BufferDirective &buffer : directives.buffers)
    if (name && buffer.parameter == name->id && buffer.shape.size() >= 2) {
      if (factor.isTransposed && buffer.shape.size() > 2)
        return std::nullopt;
      factor.buffer = &buffer;
      return factor;
    }
  return std::nullopt;
}

/// Returns the first "x @ y" in an expression.
const BinaryExpr *findDot(const Expr &expr) {
  const auto *node = as<BinaryExpr>(&expr);
  const BinaryExpr *found = node && node->op == BinaryOp::MatMult ? node : nullptr;
  forEachChild(expr, [&](const Expr &child) { found = found ? found : findDot(child); });
  return found;
}

struct DotDirective {
  const ExpectDirective *expect = nullptr;
  Factor a, b;
};

std::optional<DotDirective> findDot(const DirectiveSet &directives) {
  for (const ExpectDirective &expect : directives.expects) {
    const BinaryExpr *node = findDot(*expect.value.expr);
    std::optional<Factor> a = node ? findFactor(directives, *node->left) : std::nullopt;
    std::optional<Factor> b = node ? findFactor(directives, *node->right) : std::nullopt;
    if (a && b)
      return DotDirective{&expect, *a, *b};
  }
  return std::nullopt;
}

} // namespace

/// Returns true if -D or the signature sets the parameter to `auto`, and so leaves it open. If there is no way to
/// choose the parameter, `auto` is an ordinary string if the default is a string; otherwise `chooseOpen` reports an
/// error.
bool Choices::isLeftOpen(const Parameter &parameter) {
  auto defined = request.definitions.find(parameter.name);
  auto specified = sema.signature.specifications.find(parameter.name);
  StringRef text;
  if (defined != request.definitions.end())
    text = defined->second;
  else if (specified != sema.signature.specifications.end())
    text = specified->second.first;
  return text.trim() == "auto" && (findRole(parameter.name) || !as<StringExpr>(parameter.defaultValue));
}

/// Allows block sizes that are multiples of 16 but not powers of two for parameters that the kernel itself leaves open,
/// even if -D then sets them. Triton does not support such parameters.
void Choices::allowOpenSizes(const FunctionStmt &kernel, const std::vector<KernelParameter> &parameters) {
  constexpr int64_t step = 16;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters)) {
    const auto *name = formal.defaultValue ? as<NameExpr>(formal.defaultValue) : nullptr;
    bool isOpen = isLeftOpen(formal) || (name && name->id == "auto" && !sema.names.lookupGlobal(name->id, name->range));
    std::optional<Int128> size =
        isOpen && findRole(formal.name) && parameter.constant && parameter.constant->isConstant()
            ? asInteger(parameter.constant->constant)
            : std::nullopt;
    if (size && *size > 0 && *size <= INT32_MAX && *size % step == 0)
      emitter.openSizes.insert(int64_t(*size));
  }
}

/// Chooses the open parameters. If any parameter is open, so are unspecified warps and stages.
bool Choices::chooseOpen(const FunctionStmt &kernel, std::vector<KernelParameter> &parameters) {
  const Parameter *open = nullptr;
  OpenGemm gemm;
  gemm.kernel = kernel.name;
  std::map<std::string, KernelParameter> byName;
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters)) {
    byName[formal.name] = parameter;
    const Role *role = findRole(formal.name);
    if (parameter.isOpen && !role) {
      error(Diag::open_name, formal.range, {formal.name});
      return false;
    }
    if (parameter.isOpen)
      open = open ? open : &formal;
    else if (std::optional<Int128> value = role && parameter.constant && parameter.constant->isConstant()
                                               ? asInteger(parameter.constant->constant)
                                               : std::nullopt)
      gemm.given.*(role->choice) = int64_t(*value);
  }
  bool isOpen =
      open || numWarps == leftOpen || numStages == leftOpen || cluster == openCluster || schedule == Schedule::Open;
  if (!isOpen && !request.describe)
    return true;

  std::string what = open                     ? open->name
                     : numWarps == leftOpen   ? "num_warps"
                     : numStages == leftOpen  ? "num_stages"
                     : cluster == openCluster ? "cluster"
                                              : "schedule";
  SourceRange place = open ? open->range : kernel.nameRange;
  bool isGemm = describeGemm(kernel.directives, byName, gemm);
  if (isOpen && (!isGemm || !request.choose)) {
    error(isGemm ? Diag::open_unchosen : Diag::open_product, place, {what});
    return false;
  }
  if (numWarps != leftOpen)
    gemm.given.numWarps = numWarps;
  if (numStages != leftOpen)
    gemm.given.numStages = numStages;
  if (cluster != openCluster)
    gemm.given.cluster = cluster;
  if (schedule != Schedule::Open)
    gemm.given.schedule = schedule;
  if (isGemm && request.describe)
    request.describe(gemm);
  if (!isOpen)
    return true;
  TileChoices chosen = request.choose(gemm);
  for (auto [formal, parameter] : llvm::zip(kernel.parameters, parameters))
    if (parameter.isOpen)
      parameter.constant = SymValue::makeConstant(Int128((chosen.*(findRole(formal.name)->choice)).value_or(1)));
  auto fill = [](std::optional<int> &option, std::optional<int64_t> value) {
    if (!option || option == leftOpen)
      option = value ? std::optional(int(*value)) : std::nullopt;
  };
  fill(numWarps, chosen.numWarps);
  fill(numStages, chosen.numStages);
  if (!cluster || cluster == openCluster)
    cluster = chosen.cluster;
  if (!schedule || schedule == Schedule::Open)
    schedule = chosen.schedule;
  return true;
}

/// Returns false if no expect directive describes a GEMM of two buffers.
bool Choices::describeGemm(const DirectiveSet &directives, const std::map<std::string, KernelParameter> &parameters,
                           OpenGemm &gemm) {
  Integers integers;
  for (const auto &[name, size] : request.sizes)
    integers.sizes[name] = Int128(size);
  for (const auto &[name, parameter] : parameters) {
    if (!parameter.constant)
      integers.divisors[name] = parameter.divisibility;
    else if (parameter.constant->isConstant() && !parameter.isOpen)
      integers.values[name] = parameter.constant->constant;
  }
  std::optional<DotDirective> found = findDot(directives);
  if (!found)
    return false;
  auto pointerOf = [&](const std::string &name) {
    auto parameter = parameters.find(name);
    bool isPointer = parameter != parameters.end() && !parameter->second.constant && parameter->second.type.isPointer;
    return isPointer ? &parameter->second : nullptr;
  };
  const KernelParameter *a = pointerOf(found->a.buffer->parameter), *b = pointerOf(found->b.buffer->parameter),
                        *c = pointerOf(found->expect->buffer);
  if (!a || !b || !c)
    return false;
  auto describeSize = [&](const DirectiveExpr &size, int64_t &value, bool &isKnown, std::string &text) {
    std::optional<int64_t> known = integers.estimate(*size.expr);
    value = known.value_or(OpenGemm::unknownSize);
    isKnown = known.has_value();
    text = size.text;
  };
  describeSize(found->a.size(0), gemm.m, gemm.knowsM, gemm.mText);
  // A batch is treated as additional rows.
  const Factor &batched = found->a.batchRank() > 0 ? found->a : found->b;
  for (const DirectiveExpr &size : ArrayRef(batched.buffer->shape).take_front(batched.batchRank())) {
    std::optional<int64_t> known = integers.estimate(*size.expr);
    gemm.m = known && gemm.knowsM ? gemm.m * *known : OpenGemm::unknownSize;
    gemm.knowsM &= known.has_value();
    gemm.mText = "(" + gemm.mText + ") * (" + size.text + ")";
  }
  describeSize(found->b.size(1), gemm.n, gemm.knowsN, gemm.nText);
  describeSize(found->a.size(1), gemm.k, gemm.knowsK, gemm.kText);
  gemm.element = a->type.pointee();
  gemm.output = c->type.pointee();

  constexpr int64_t rowBytes = 16; // alignment that tensor maps require
  int64_t alignment = rowBytes, piece = rowBytes;
  for (auto [factor, pointer] : {std::pair(&found->a, a), std::pair(&found->b, b)}) {
    std::optional<unsigned> dim = factor->contiguousDim(integers);
    int64_t bytes = pointer->type.pointee().bits() / 8;
    int64_t pitch = dim ? std::gcd(factor->pitchDivisor(*dim, integers) * bytes, pointer->divisibility) : 1;
    alignment = std::gcd(alignment, pitch);
    piece = std::gcd(
        piece,
        dim ? std::gcd(pitch, integers.divisorOf(*factor->buffer->shape[factor->batchRank() + *dim].expr) * bytes) : 1);
  }
  gemm.alignedRows = alignment == rowBytes;
  gemm.copyBytes = static_cast<unsigned>(piece);
  gemm.aKMajor = found->a.contiguousDim(integers) == (found->a.isTransposed ? 0u : 1u);
  gemm.bKMajor = found->b.contiguousDim(integers) == (found->b.isTransposed ? 1u : 0u);
  return true;
}

/// The command line takes precedence over the instance, the instance over the kernel, and all of them over a tuner.
void Choices::selectOptions(const FunctionStmt &kernel, const InstanceDirective *instance) {
  auto pick = [](auto option, auto ofInstance, auto ofKernel) {
    return option ? option : ofInstance ? ofInstance : ofKernel;
  };
  const InstanceDirective none, &chosen = instance ? *instance : none;
  numWarps = pick(request.numWarps, chosen.numWarps, kernel.directives.numWarps);
  numStages = pick(request.numStages, chosen.numStages, kernel.directives.numStages);
  cluster = pick(request.cluster, chosen.cluster, kernel.directives.cluster);
  schedule = pick(request.schedule, chosen.schedule, kernel.directives.schedule);
}

} // namespace tile::frontend
