// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that keep their meaning when blocks are padded; see PaddedBlocks.h.
#include "Analysis/Dots/PaddedBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

bool tile::needsPadding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getShape() != ArrayRef(getPaddedShape(tensor.getShape()));
}

static bool touchesPadding(Operation *op) {
  auto pads = [](Type type) { return needsPadding(type); };
  return llvm::any_of(op->getOperandTypes(), pads) || llvm::any_of(op->getResultTypes(), pads);
}

bool tile::needsPadding(KernelOp kernel) {
  WalkResult result =
      kernel.walk([](Operation *op) { return touchesPadding(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  return result.wasInterrupted();
}

TypedAttr tile::getNeutralElement(ReduceOp reduce) {
  Block &combine = reduce.getCombine().front();
  if (reduce.getSrcs().size() != 1 || combine.getOperations().size() != 2)
    return {};
  Operation *op = &combine.front();
  bool combines = op->getNumOperands() == 2 && op->getNumResults() == 1 &&
                  llvm::equal(op->getOperands(), combine.getArguments()) &&
                  combine.getTerminator()->getOperand(0) == op->getResult(0);
  return combines ? arith::getNeutralElement(op).value_or(TypedAttr()) : TypedAttr();
}

/// Returns true if the shapes differ only in dimensions of size 1.
static bool changesOnes(ReshapeOp reshape) {
  auto drop = [](RankedTensorType type) {
    SmallVector<int64_t> sizes(type.getShape());
    llvm::erase(sizes, 1);
    return sizes;
  };
  return drop(reshape.getSrc().getType()) == drop(reshape.getType());
}

static std::string explainProblem(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](ReshapeOp reshape) { return changesOnes(reshape) ? "" : "such blocks cannot be reshaped"; })
      .Case([](PrintOp) { return "such blocks cannot be printed"; })
      .Case([](ReduceOp reduce) {
        bool staysWhole = llvm::isPowerOf2_64(
            cast<RankedTensorType>(reduce.getSrcs().front().getType()).getDimSize(reduce.getAxis()));
        return staysWhole || getNeutralElement(reduce)
                   ? ""
                   : "reductions along it must have a neutral element, as sums, minima and maxima have";
      })
      .Case([](ArangeOp arange) {
        int64_t end = int32_t(arange.getStart()) + getPaddedShape(arange.getType().getShape())[0];
        return end <= INT32_MAX ? "" : "its last element, rounded up to the next power of two, overflows 32 bits";
      })
      .Case([](arith::ConstantOp constant) {
        auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        return elements && elements.isSplat() ? "" : "a constant of such a size must have equal elements";
      })
      .Case<ShapeChange, ArangeOp, AddPtrOp, LoadOp, StoreOp, DescLoadOp, DescStoreOp, DotOp, AssertOp, LibraryCallOp>(
          [](auto) { return ""; })
      .Default([](Operation *op) {
        bool isPlain = isa<arith::ArithDialect, math::MathDialect, scf::SCFDialect>(op->getDialect());
        return isPlain ? "" : "'" + op->getName().getStringRef().str() + "' does not support such blocks";
      });
}

std::optional<PaddingProblem> tile::findPaddingProblem(KernelOp kernel) {
  std::optional<PaddingProblem> problem;
  kernel.walk([&](Operation *op) {
    std::string reason = touchesPadding(op) ? explainProblem(op) : "";
    if (reason.empty())
      return WalkResult::advance();
    problem = {op, reason};
    return WalkResult::interrupt();
  });
  return problem;
}
