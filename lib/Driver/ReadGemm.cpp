// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the sizes from the factors of the grid and the bounds of the loop. Reads the operands from the loads that
// define them.
#include "Driver/ReadGemm.h"

#include "Analysis/Addresses/AccessPromises.h"
#include "Analysis/Dots/DotPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;
using tile::directives::ExpressionTree;

namespace tile::driver {
namespace {

/// A factor of the grid size: ceil(size / block), or with block 0 any other expression.
struct GridFactor {
  std::string size;
  int64_t block = 0;
};

std::optional<int64_t> constantOf(KernelOp kernel, const ExpressionTree &tree) {
  int64_t number = 0;
  if (tree.isNumber() && !StringRef(tree.text).getAsInteger(10, number))
    return number;
  DictionaryAttr constants = kernel.getConstantsAttr();
  auto value = tree.isName() && constants ? constants.getAs<IntegerAttr>(tree.text) : IntegerAttr();
  return value ? std::optional(value.getInt()) : std::nullopt;
}

void appendFactors(KernelOp kernel, const ExpressionTree &tree, std::vector<GridFactor> &factors) {
  if (tree.isOperator("*")) {
    for (const ExpressionTree &factor : tree.operands)
      appendFactors(kernel, factor, factors);
    return;
  }
  if (tree.isCall("min")) {
    // min(NUM_SMS, tiles): a persistent grid, whose programs iterate over the tiles.
    std::vector<GridFactor> most;
    for (const ExpressionTree &argument : tree.operands) {
      std::vector<GridFactor> some;
      appendFactors(kernel, argument, some);
      if (llvm::any_of(some, [](const GridFactor &factor) { return factor.block > 0; }))
        most = std::move(some);
    }
    llvm::append_range(factors, most);
    return;
  }
  std::optional<int64_t> block;
  if (tree.isCall("cdiv") && tree.operands.size() == 2)
    block = constantOf(kernel, tree.operands[1]);
  const ExpressionTree &size = block ? tree.operands[0] : tree;
  factors.push_back({size.print(), block.value_or(0)});
}

/// Removes the first factor with this block size from the list and returns its size.
std::optional<std::string> takeFactor(std::vector<GridFactor> &factors, int64_t block) {
  auto found = llvm::find_if(factors, [&](const GridFactor &factor) { return factor.block == block; });
  if (found == factors.end())
    return std::nullopt;
  std::string size = found->size;
  factors.erase(found);
  return size;
}

/// Returns a kernel value as an expression over the kernel's parameters, in the language of manifests.
std::optional<std::string> textOf(KernelOp kernel, Value value, int depth = 0) {
  constexpr int deepest = 16;
  if (depth > deepest)
    return std::nullopt;
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return std::to_string(*number);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isParameter = argument.getOwner() == &kernel.getBody().front() && isa<IntegerType>(argument.getType());
    return isParameter ? std::optional(kernel.getArgName(argument.getArgNumber())) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return textOf(kernel, op->getOperand(0), depth + 1);
  auto format = llvm::TypeSwitch<Operation *, const char *>(op)
                    .Case([](arith::AddIOp) { return "({0} + {1})"; })
                    .Case([](arith::SubIOp) { return "({0} - {1})"; })
                    .Case([](arith::MulIOp) { return "({0} * {1})"; })
                    .Case([](arith::DivSIOp) { return "({0} // {1})"; })
                    .Case([](arith::MinSIOp) { return "min({0}, {1})"; })
                    .Case([](arith::MaxSIOp) { return "max({0}, {1})"; })
                    .Default([](Operation *) { return nullptr; });
  std::optional<std::string> left, right;
  if (format) {
    left = textOf(kernel, op->getOperand(0), depth + 1);
    right = textOf(kernel, op->getOperand(1), depth + 1);
  }
  return left && right ? std::optional(formatv(format, *left, *right).str()) : std::nullopt;
}

/// Matches (X + block - 1) // block and returns X.
Value dividendOfCeilDiv(Value value, int64_t block) {
  auto quotient = value.getDefiningOp<arith::DivSIOp>();
  auto sum = quotient ? quotient.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  bool isCeiling =
      sum && getConstantIntValue(quotient.getRhs()) == block && getConstantIntValue(sum.getRhs()) == block - 1;
  return isCeiling ? sum.getLhs() : Value();
}

std::optional<std::string> depthOf(KernelOp kernel, DotOp dot, int64_t block) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  if (!loop)
    return dot->getParentOp() == kernel.getOperation() ? std::optional(std::to_string(block)) : std::nullopt;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()), step = getConstantIntValue(loop.getStep());
  if (lower == 0 && step == 1)
    if (Value depth = dividendOfCeilDiv(loop.getUpperBound(), block))
      return textOf(kernel, depth);
  std::optional<std::string> begin = textOf(kernel, loop.getLowerBound()), end = textOf(kernel, loop.getUpperBound());
  if (!begin || !end || !step || *step <= 0)
    return std::nullopt;
  std::string distance = lower == 0 ? *end : formatv("({0} - {1})", *end, *begin).str();
  return *step == block ? distance : formatv("cdiv({0}, {1}) * {2}", distance, *step, block).str();
}

std::optional<frontend::DType> typeOf(Type type) {
  using frontend::Scalar;
  return llvm::TypeSwitch<Type, std::optional<frontend::DType>>(type)
      .Case([](Float16Type) { return Scalar::Float16; })
      .Case([](BFloat16Type) { return Scalar::BFloat16; })
      .Case([](Float32Type) { return Scalar::Float32; })
      .Case([](Float8E4M3FNType) { return Scalar::Float8E4M3; })
      .Case([](Float8E5M2Type) { return Scalar::Float8E5M2; })
      .Case([](IntegerType integer) {
        return integer.getWidth() == 8 ? std::optional<frontend::DType>(Scalar::Int8) : std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

/// Returns the element type of the first block that the kernel stores.
std::optional<frontend::DType> storedType(KernelOp kernel) {
  Type stored;
  kernel.walk([&](Operation *op) {
    Value block = isa<StoreOp>(op)       ? cast<StoreOp>(op).getValue()
                  : isa<DescStoreOp>(op) ? cast<DescStoreOp>(op).getValue()
                                         : Value();
    auto type = block ? dyn_cast<RankedTensorType>(block.getType()) : RankedTensorType();
    if (!type || type.getRank() < 2)
      return WalkResult::advance();
    stored = type.getElementType();
    return WalkResult::interrupt();
  });
  return stored ? typeOf(stored) : std::nullopt;
}

/// Describes how an operand is loaded.
struct Operand {
  bool byTma;
  unsigned bytes; ///< maximum number of bytes that a thread can copy at once
  bool isKMajor;
};

/// Returns the kernel's dot if there is exactly one. A kernel with several dots is not a GEMM: the operands of each dot
/// would matter as much.
DotOp onlyDot(KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  return dots.size() == 1 && dots.front().getType().getRank() == 2 ? dots.front() : DotOp();
}

/// Follows copies and transposes from an operand back to their source, which is returned. Updates `kDim`, the dimension
/// that is K.
Value sourceOf(Value operand, unsigned &kDim) {
  while (auto transpose = operand.getDefiningOp<TransOp>()) {
    operand = transpose.getSrc();
    kDim = 1 - kDim;
  }
  return operand;
}

/// Returns the block loads from which threads compute an operand. Returns no loads if the operand depends on another
/// dot, a loop-carried value or a branch.
SmallVector<LoadOp> loadsFeeding(Value operand) {
  SmallVector<LoadOp> loads;
  SmallVector<Value> toVisit{operand};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!toVisit.empty()) {
    Operation *op = toVisit.pop_back_val().getDefiningOp();
    if (!op || op->getNumRegions() != 0 || isa<DotOp>(op))
      return {};
    if (!seen.insert(op).second)
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      auto type = dyn_cast<RankedTensorType>(load.getType());
      if (type && type.getRank() >= 2)
        loads.push_back(load);
      continue;
    }
    for (Value value : op->getOperands())
      if (isa<RankedTensorType>(value.getType()))
        toVisit.push_back(value);
  }
  return loads;
}

/// Describes an operand that threads compute from loaded values, such as a quantized one. Threads can store it in any
/// layout.
std::optional<Operand> readComputedOperand(KernelOp kernel, Value operand) {
  PromiseTrial trial(kernel);
  std::optional<unsigned> bytes;
  for (LoadOp load : loadsFeeding(operand))
    bytes = std::min(bytes.value_or(widestAccess), unsigned(trial.widthInBytes({load, load.getPtr(), load.getMask()})));
  return bytes ? std::optional(Operand{false, *bytes, /*isKMajor=*/true}) : std::nullopt;
}

std::optional<Operand> readOperand(KernelOp kernel, Value operand, Value raised, unsigned kDim) {
  if (SharedOperand block = traceOperand(raised); isa_and_present<DescLoadOp>(block.source))
    return Operand{true, widestAccess, kDim == (block.transposed ? 0 : 1)};
  Value source = sourceOf(operand, kDim);
  auto load = source.getDefiningOp<LoadOp>();
  if (!load)
    return readComputedOperand(kernel, source);
  PromiseTrial trial(kernel);
  AxisInfoAnalysis facts(kernel);
  const AxisInfo &pointer = facts.get(load.getPtr());
  unsigned bytes = unsigned(trial.widthInBytes({load, load.getPtr(), load.getMask()}));
  return Operand{false, bytes, pointer.getContiguity(kDim) > pointer.getContiguity(1 - kDim)};
}

} // namespace

std::optional<frontend::OpenGemm> readOpenGemm(KernelOp kernel, KernelOp raised, const frontend::Grid &grid) {
  DotOp dot = onlyDot(kernel), raisedDot = onlyDot(raised);
  if (!dot || !raisedDot)
    return std::nullopt;
  frontend::OpenGemm gemm;
  gemm.kernel = kernel.getName().str();
  gemm.given = {.blockM = dot.getType().getDimSize(0),
                .blockN = dot.getType().getDimSize(1),
                .blockK = dot.getA().getType().getDimSize(1),
                .numWarps = kernel.getNumWarps(),
                .numStages = kernel.getNumStages()};
  std::vector<GridFactor> factors;
  for (const ExpressionTree &axis : grid)
    appendFactors(kernel, axis, factors);
  std::optional<std::string> m = takeFactor(factors, *gemm.given.blockM), n = takeFactor(factors, *gemm.given.blockN),
                             k = depthOf(kernel, dot, *gemm.given.blockK);
  std::optional<frontend::DType> element = typeOf(dot.getA().getType().getElementType());
  std::optional<Operand> a = readOperand(kernel, dot.getA(), raisedDot.getA(), 1),
                         b = readOperand(kernel, dot.getB(), raisedDot.getB(), 0);
  if (!m || !n || !k || !element || !a || !b)
    return std::nullopt;
  gemm.mText = *m;
  for (const GridFactor &batch : factors)
    gemm.mText = formatv("({0}) * ({1})", gemm.mText,
                         batch.block > 0 ? formatv("cdiv({0}, {1})", batch.size, batch.block).str() : batch.size);
  gemm.nText = *n;
  gemm.kText = *k;
  gemm.element = *element;
  gemm.output = storedType(kernel).value_or(*element);
  gemm.alignedRows = a->byTma && b->byTma;
  gemm.copyBytes = std::min(a->bytes, b->bytes);
  gemm.aKMajor = a->isKMajor;
  gemm.bKMajor = b->isKMajor;
  return gemm;
}

} // namespace tile::driver
