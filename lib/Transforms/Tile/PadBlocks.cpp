// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-pad-blocks: round sizes of blocks up to powers of two.
//
// Layouts are linear maps of bits, so they support only powers of two. Most operations may compute arbitrary values
// beyond the block. Operations whose visible results would depend on these values are masked:
//
//   %c = tile.arange 0 to 96                 %c = tile.arange 0 to 128, %in = %c < 96
//   %x = tile.load %p mask %m          ==>   %x = tile.load %p mask (%m && %in)
//   %s = tile.reduce %x { max }              %s = tile.reduce (select %in, %x, -inf) { max }
//
// Blocks of descriptors keep their sizes: a TMA copy moves no more than the block, and wgmma reads no more.
#include "Analysis/Dots/PaddedBlocks.h"
#include "Transforms/Passes.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_TILEPADBLOCKS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

class BlockPadding {
public:
  explicit BlockPadding(KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  void run() {
    SmallVector<std::pair<Operation *, SmallVector<int64_t>>> guarded;
    kernel.walk([&](Operation *op) {
      if (isa<LoadOp, StoreOp, ReduceOp, DotOp, AssertOp>(op))
        if (auto block = dyn_cast<RankedTensorType>(op->getOperand(0).getType()); block && needsPadding(block))
          guarded.emplace_back(op, block.getShape());
    });
    kernel.walk([&](Operation *op) { padTypes(op); });
    for (auto &[op, block] : guarded)
      guard(op, block);
  }

private:
  static RankedTensorType padded(RankedTensorType type) {
    return RankedTensorType::get(getPaddedShape(type.getShape()), type.getElementType());
  }

  void padTypes(Operation *op) {
    auto pad = [](Value value) {
      if (needsPadding(value.getType()))
        value.setType(padded(cast<RankedTensorType>(value.getType())));
    };
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && needsPadding(constant.getType()))
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue()).resizeSplat(padded(cast<RankedTensorType>(constant.getType()))));
    llvm::for_each(op->getResults(), pad);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), pad);
    if (auto arange = dyn_cast<ArangeOp>(op))
      arange.setEnd(int32_t(arange.getStart()) + arange.getType().getDimSize(0));
  }

  /// Masks an operation; `block` is the original shape of its first operand.
  void guard(Operation *op, ArrayRef<int64_t> block) {
    builder.setInsertionPoint(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case<LoadOp, StoreOp>([&](auto access) {
          Value inside = emitInside(op->getLoc(), block);
          if (access.getMask())
            inside = arith::AndIOp::create(builder, op->getLoc(), access.getMask(), inside);
          access.getMaskMutable().assign(inside);
        })
        .Case([&](ReduceOp reduce) {
          // Only the reduced axis is masked. Along the other axes, the result may hold arbitrary values beyond the
          // block.
          SmallVector<int64_t> shape = getPaddedShape(block);
          shape[reduce.getAxis()] = block[reduce.getAxis()];
          replaceOutside(reduce->getOpOperand(0), shape, getNeutralElement(reduce));
        })
        .Case([&](DotOp dot) {
          int64_t m = dot.getA().getType().getDimSize(0), n = dot.getB().getType().getDimSize(1);
          TypedAttr zero = builder.getZeroAttr(dot.getA().getType().getElementType());
          // Both operands are replaced, because zero times infinity is NaN.
          replaceOutside(dot.getAMutable(), {m, block[1]}, zero);
          replaceOutside(dot.getBMutable(), {block[1], n}, builder.getZeroAttr(getElementTypeOf(dot.getB().getType())));
        })
        .Case([&](AssertOp check) {
          replaceOutside(check.getConditionMutable(), block, builder.getIntegerAttr(builder.getI1Type(), 1));
        });
  }

  void replaceOutside(OpOperand &operand, ArrayRef<int64_t> block, TypedAttr value) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (type.getShape() == block)
      return;
    Location loc = operand.getOwner()->getLoc();
    Value inside = emitInside(loc, block);
    Value other = arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, Attribute(value)));
    operand.set(arith::SelectOp::create(builder, loc, inside, operand.get(), other));
  }

  /// Emits a mask that is true for the elements of a padded tensor that lie in `block`.
  Value emitInside(Location loc, ArrayRef<int64_t> block) {
    SmallVector<int64_t> shape = getPaddedShape(block);
    Value inside;
    for (auto [axis, size] : llvm::enumerate(block)) {
      if (size == shape[axis])
        continue;
      auto lineType = RankedTensorType::get(shape[axis], builder.getI32Type());
      Value index = ArangeOp::create(builder, loc, lineType, 0, shape[axis]);
      Value end = arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(lineType, int32_t(size)));
      Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index, end);
      below = emitAlongDim(builder, loc, below, axis, shape);
      inside = inside ? arith::AndIOp::create(builder, loc, inside, below).getResult() : below;
    }
    return inside;
  }

  KernelOp kernel;
  OpBuilder builder;
};

struct TilePadBlocks : tile::impl::TilePadBlocksBase<TilePadBlocks> {
  void runOnKernel() override {
    if (!needsPadding(getOperation()))
      return markAllAnalysesPreserved();
    if (std::optional<PaddingProblem> problem = findPaddingProblem(getOperation())) {
      problem->op->emitError() << "this block has a size that is not a power of two; " << problem->reason;
      return signalPassFailure();
    }
    BlockPadding(getOperation()).run();
  }
};

} // namespace
