// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-expand-descriptors: turn descriptor accesses into masked pointer accesses.
//
//   %d = tile.make_desc %base, [%m, %n], [%ld, %one]        %rows = arange, %cols = arange      (with the descriptor)
//   %x = tile.desc_load %d[%i, %j]                    ==>   %pattern = %rows * %ld + %cols
//                                                           %p = (%base + %i * %ld + %j) + %pattern
//                                                           %x = tile.load %p mask (%i + %rows < %m && %j + %cols < %n)
//
// What does not depend on the block's offsets is computed where the descriptor is made, normally outside the loop; the
// base of a block is a scalar. Addresses are 64-bit. Bounds are compared as unsigned 32-bit numbers, so that one
// comparison also excludes negative coordinates (and sums beyond 2^31, which wrap to such).
//
// Descriptors that the launcher passes (tile-host-descriptors), those that have a place for a tensor map
// (tile-device-descriptors), and those that the program opens in memory stay as they are.
#include "CarriedDescriptors.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDDESCRIPTORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// What all accesses through one descriptor share.
struct BlockPattern {
  SmallVector<Value> indices; ///< For each dimension 0, 1, …, size - 1 (i32, one-dimensional).
  Value offsets;              ///< For each element its distance from the block's first one, in elements (i64).
};

/// The address of each element of a block, and whether the element lies in the tensor.
struct BlockAccess {
  Value pointers, mask;
};

class DescriptorExpansion {
public:
  explicit DescriptorExpansion(MakeDescOp desc) : desc(desc), builder(desc), shape(desc.getType().getShape()) {}

  void run() {
    emitPattern();
    for (Operation *user : llvm::make_early_inc_range(desc->getUsers())) {
      builder.setInsertionPoint(user);
      location = user->getLoc();
      if (auto load = dyn_cast<DescLoadOp>(user)) {
        BlockAccess access = emitAccess(load.getOffsets());
        Value loaded = LoadOp::create(builder, location, load.getType(), access.pointers, access.mask,
                                      emitPadding(load.getType()));
        load.replaceAllUsesWith(loaded);
      } else {
        auto store = cast<DescStoreOp>(user);
        BlockAccess access = emitAccess(store.getOffsets());
        if (std::optional<AtomicKind> kind = store.getReduce())
          AtomicRmwOp::create(builder, location, store.getValue().getType(), *kind, MemoryOrder::relaxed,
                              MemoryScope::gpu, access.pointers, store.getValue(), access.mask);
        else
          StoreOp::create(builder, location, access.pointers, store.getValue(), access.mask);
      }
      user->erase();
    }
    desc.erase();
  }

private:
  unsigned getRank() { return shape.size(); }

  Value splat(Value scalar, ArrayRef<int64_t> sizes) {
    return SplatOp::create(builder, location, RankedTensorType::get(sizes, scalar.getType()), scalar);
  }

  /// What is read outside of the tensor, if it is not zero.
  Value emitPadding(RankedTensorType type) {
    if (!desc.getType().getPadsNan())
      return {};
    auto element = cast<FloatType>(type.getElementType());
    APFloat nan = APFloat::getNaN(element.getFloatSemantics());
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, nan));
  }

  void emitPattern() {
    builder.setInsertionPointAfter(desc);
    for (unsigned dim = 0; dim < getRank(); ++dim) {
      auto lineType = RankedTensorType::get(shape[dim], builder.getI32Type());
      Value index = ArangeOp::create(builder, location, lineType, 0, shape[dim]);
      pattern.indices.push_back(index);
      Value offset = arith::ExtSIOp::create(builder, location, lineType.clone(builder.getI64Type()), index);
      // The last stride is 1; multiplying by it would hide that addresses are consecutive.
      if (dim + 1 < getRank())
        offset = arith::MulIOp::create(builder, location, offset, splat(desc.getStrides()[dim], shape[dim]));
      offset = emitAlongDim(builder, location, offset, dim, shape);
      pattern.offsets = pattern.offsets ? arith::AddIOp::create(builder, location, pattern.offsets, offset) : offset;
    }
  }

  BlockAccess emitAccess(ValueRange offsets) {
    BlockAccess access;
    Value base = desc.getBase();
    for (unsigned dim = 0; dim < getRank(); ++dim) {
      Value start = arith::ExtSIOp::create(builder, location, builder.getI64Type(), offsets[dim]);
      if (dim + 1 < getRank())
        start = arith::MulIOp::create(builder, location, start, desc.getStrides()[dim]);
      base = AddPtrOp::create(builder, location, base, start);

      Value coordinate =
          arith::AddIOp::create(builder, location, splat(offsets[dim], shape[dim]), pattern.indices[dim]);
      Value inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, coordinate,
                                           splat(desc.getShape()[dim], shape[dim]));
      inside = emitAlongDim(builder, location, inside, dim, shape);
      access.mask = access.mask ? arith::AndIOp::create(builder, location, access.mask, inside) : inside;
    }
    access.pointers = AddPtrOp::create(builder, location, splat(base, shape), pattern.offsets);
    return access;
  }

  MakeDescOp desc;
  OpBuilder builder;
  Location location = desc.getLoc();
  ArrayRef<int64_t> shape;
  BlockPattern pattern;
};

/// The block that a load or store through the descriptor moves.
RankedTensorType blockOf(Operation *access) {
  if (auto store = dyn_cast<DescStoreOp>(access))
    return store.getValue().getType();
  return cast<DescLoadOp>(access).getType();
}

/// A descriptor is made here or by the launcher, and used; it does not travel.
LogicalResult verifyDescriptors(KernelOp kernel) {
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<DescType>(type) && !kernel.getTensorMap(index))
      return kernel.emitOpError() << "argument " << index << " is a descriptor; pass a pointer and make the descriptor "
                                  << "in the kernel";
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (Value operand : op->getOperands()) {
      if (!isa<DescType>(operand.getType()))
        continue;
      if (!isa<DescLoadOp, DescStoreOp>(op))
        return op->emitOpError() << "passes a descriptor on, which only loads and stores can use; make it where it is "
                                 << "needed";
      auto argument = dyn_cast<BlockArgument>(operand);
      bool isPassed = argument && argument.getOwner()->getParentOp() == kernel;
      if (!isPassed && !isa_and_present<MakeDescOp, OpenTensorMapOp>(operand.getDefiningOp()))
        return op->emitOpError() << "uses a descriptor that does not come straight from tile.make_desc; make it where "
                                 << "it is needed";
      auto make = operand.getDefiningOp<MakeDescOp>();
      if (make && !make.getPlace() && blockOf(op).getShape() != make.getType().getShape())
        return op->emitOpError() << "moves a padded block " << blockOf(op) << " through a descriptor of blocks "
                                 << make.getType() << "; descriptors are expanded before tile-pad-blocks";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct TileExpandDescriptors : tile::impl::TileExpandDescriptorsBase<TileExpandDescriptors> {
  void runOnKernel() override {
    if (failed(splitCarriedDescriptors(getOperation())) || failed(verifyDescriptors(getOperation())))
      return signalPassFailure();
    SmallVector<MakeDescOp> descriptors;
    getOperation().walk([&](MakeDescOp desc) {
      if (!desc.getPlace())
        descriptors.push_back(desc);
    });
    for (MakeDescOp desc : descriptors)
      DescriptorExpansion(desc).run();
  }
};

} // namespace
