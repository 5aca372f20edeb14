// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-expand-descriptors: expand descriptor accesses to masked pointer accesses.
//
//   %d = tile.make_desc %base, [%m, %n], [%ld, %one]        %rows = arange, %cols = arange      (with the descriptor)
//   %x = tile.desc_load %d[%i, %j]                    ==>   %pattern = %rows * %ld + %cols
//                                                           %p = (%base + %i * %ld + %j) + %pattern
//                                                           %x = tile.load %p mask (%i + %rows < %m && %j + %cols < %n)
//
// Values that do not depend on the block's offsets are computed where the descriptor is created, normally outside the
// loop; the base of a block is a scalar. Addresses are 64-bit. Bounds are compared as unsigned 32-bit integers, so that
// one comparison also excludes negative coordinates (and sums beyond 2^31, which wrap to negative values).
//
// In a block with more than two dimensions, dimensions of size 1 are folded into the base until two dimensions are
// left, because only matrices can be stored panel by panel. If the coordinate along a folded dimension is outside of
// the tensor, the block has no rows.
//
// Descriptors that the launcher passes (tile-host-descriptors), that have a place for a tensor map
// (tile-device-descriptors), or that the program opens from memory stay unchanged.
#include "Analysis/Flow/Recreate.h"
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

/// Values shared by all accesses through one descriptor.
struct BlockPattern {
  SmallVector<Value> indices; ///< For each dimension, 0, 1, …, size - 1 (i32, one-dimensional).
  Value offsets;              ///< For each element, its distance from the block's first one, in elements (i64).
};

/// The address of each element of a block, and whether the element lies in the tensor.
struct DescriptorAccess {
  Value pointers, mask;
};

/// Returns the dimensions that are left when dimensions of size 1 are dropped, from the first on, until two remain.
SmallVector<unsigned> findMatrixDims(ArrayRef<int64_t> block) {
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, block.size()));
  for (unsigned dim = 0; dim < block.size() && dims.size() > 2; ++dim)
    if (block[dim] == 1)
      llvm::erase(dims, dim);
  return dims;
}

SmallVector<int64_t> findMatrixShape(ArrayRef<int64_t> block) {
  return llvm::map_to_vector(findMatrixDims(block), [&](unsigned dim) { return block[dim]; });
}

/// Returns true if two shapes differ only in dimensions of size 1.
bool areEqualExceptOnes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isNoOne = [](int64_t size) { return size != 1; };
  return llvm::equal(llvm::make_filter_range(a, isNoOne), llvm::make_filter_range(b, isNoOne));
}

/// Returns a block without dimensions of size 1. Uses the value before these dimensions were added, if only
/// element-wise operations, such as a rounding conversion, follow.
Value emitMatrix(OpBuilder &builder, Value block, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(block.getType());
  if (type.getShape() == shape)
    return block;
  Operation *op = block.getDefiningOp();
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  if (reshape && areEqualExceptOnes(reshape.getSrc().getType().getShape(), shape))
    return emitMatrix(builder, reshape.getSrc(), shape);
  if (op && isElementwise(op) && op->getNumOperands() == 1 && block.hasOneUse()) {
    Value operand = emitMatrix(builder, op->getOperand(0), shape);
    Operation *again = builder.clone(*op);
    again->setOperand(0, operand);
    again->getResult(0).setType(type.clone(shape));
    return again->getResult(0);
  }
  return ReshapeOp::create(builder, block.getLoc(), type.clone(shape), block);
}

class DescriptorExpansion {
public:
  explicit DescriptorExpansion(MakeDescOp desc)
      : desc(desc), builder(desc), dims(findMatrixDims(desc.getType().getShape())),
        shape(findMatrixShape(desc.getType().getShape())) {}

  void run() {
    emitPattern();
    for (Operation *user : llvm::make_early_inc_range(desc->getUsers())) {
      builder.setInsertionPoint(user);
      location = user->getLoc();
      if (auto load = dyn_cast<DescLoadOp>(user))
        expand(load);
      else
        expand(cast<DescStoreOp>(user));
    }
    desc.erase();
  }

private:
  void expand(DescLoadOp load) {
    DescriptorAccess access = emitAccess(load.getOffsets());
    RankedTensorType block = load.getType(), matrix = block.clone(shape);
    Value loaded = LoadOp::create(builder, location, matrix, access.pointers, access.mask, emitPadding(matrix));
    if (block != matrix) {
      for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
        if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && reshape.getType() == matrix) {
          reshape.replaceAllUsesWith(loaded);
          reshape.erase();
        }
      if (!load->use_empty())
        loaded = ReshapeOp::create(builder, location, block, loaded);
    }
    load.replaceAllUsesWith(loaded);
    load.erase();
  }

  void expand(DescStoreOp store) {
    DescriptorAccess access = emitAccess(store.getOffsets());
    Value block = store.getValue(), matrix = emitMatrix(builder, block, shape);
    if (std::optional<AtomicKind> kind = store.getReduce())
      AtomicRmwOp::create(builder, location, matrix.getType(), *kind, MemoryOrder::relaxed, MemoryScope::gpu,
                          access.pointers, matrix, access.mask);
    else
      StoreOp::create(builder, location, access.pointers, matrix, access.mask);
    store.erase();
    eraseIfUnused(block);
  }

  Value splat(Value scalar, ArrayRef<int64_t> sizes) {
    return SplatOp::create(builder, location, RankedTensorType::get(sizes, scalar.getType()), scalar);
  }

  /// Returns the padding value outside of the tensor, or null for zero.
  Value emitPadding(RankedTensorType type) {
    if (!desc.getType().getPadsNan())
      return {};
    auto element = cast<FloatType>(type.getElementType());
    APFloat nan = APFloat::getNaN(element.getFloatSemantics());
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, nan));
  }

  void emitPattern() {
    builder.setInsertionPointAfter(desc);
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      auto lineType = RankedTensorType::get(shape[axis], builder.getI32Type());
      Value index = ArangeOp::create(builder, location, lineType, 0, shape[axis]);
      pattern.indices.push_back(index);
      Value offset = arith::ExtSIOp::create(builder, location, lineType.clone(builder.getI64Type()), index);
      // The last stride is 1; multiplying by it would hide that addresses are consecutive.
      if (dim != lastDim())
        offset = arith::MulIOp::create(builder, location, offset, splat(desc.getStrides()[dim], shape[axis]));
      offset = emitAlongDim(builder, location, offset, axis, shape);
      pattern.offsets = pattern.offsets ? arith::AddIOp::create(builder, location, pattern.offsets, offset) : offset;
    }
  }

  DescriptorAccess emitAccess(ValueRange offsets) {
    Value base = desc.getBase();
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      Value start = arith::ExtSIOp::create(builder, location, builder.getI64Type(), offset);
      if (dim != lastDim())
        start = arith::MulIOp::create(builder, location, start, desc.getStrides()[dim]);
      base = AddPtrOp::create(builder, location, base, start);
    }
    DescriptorAccess access;
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      Value coordinate =
          arith::AddIOp::create(builder, location, splat(offsets[dim], shape[axis]), pattern.indices[axis]);
      Value extent = axis == 0 ? emitRows(offsets) : desc.getShape()[dim];
      Value inside =
          arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, coordinate, splat(extent, shape[axis]));
      inside = emitAlongDim(builder, location, inside, axis, shape);
      access.mask = access.mask ? arith::AndIOp::create(builder, location, access.mask, inside) : inside;
    }
    access.pointers = AddPtrOp::create(builder, location, splat(base, shape), pattern.offsets);
    return access;
  }

  /// Returns the extent along the first dimension of the matrix: zero if another coordinate is out of bounds.
  Value emitRows(ValueRange offsets) {
    Value rows = desc.getShape()[dims.front()];
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      if (llvm::is_contained(dims, dim))
        continue;
      Value inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, offset, desc.getShape()[dim]);
      Value none = arith::ConstantOp::create(builder, location, builder.getZeroAttr(rows.getType()));
      rows = arith::SelectOp::create(builder, location, inside, rows, none);
    }
    return rows;
  }

  unsigned lastDim() { return desc.getShape().size() - 1; }

  MakeDescOp desc;
  OpBuilder builder;
  Location location = desc.getLoc();
  SmallVector<unsigned> dims; ///< The dimensions of the block that form the matrix.
  SmallVector<int64_t> shape; ///< The shape of the matrix.
  BlockPattern pattern;
};

/// Moves the reshape that adds dimensions of size 1 directly before a TMA store, after any rounding of the block.
void addOnesLast(DescStoreOp store) {
  TypedValue<RankedTensorType> block = store.getValue();
  SmallVector<int64_t> shape = findMatrixShape(block.getType().getShape());
  if (int64_t(shape.size()) == block.getType().getRank())
    return;
  OpBuilder builder(store);
  Value matrix = emitMatrix(builder, block, shape);
  store.getValueMutable().assign(ReshapeOp::create(builder, store.getLoc(), block.getType(), matrix));
  eraseIfUnused(block);
}

/// Returns the type of the block that a load or store through the descriptor moves.
RankedTensorType blockOf(Operation *access) {
  if (auto store = dyn_cast<DescStoreOp>(access))
    return store.getValue().getType();
  return cast<DescLoadOp>(access).getType();
}

/// Fails unless each descriptor is created in the kernel or passed by the launcher, and used directly; descriptors
/// cannot be passed to functions.
LogicalResult verifyDescriptors(KernelOp kernel) {
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<DescType>(type) && !kernel.getTensorMap(index))
      return kernel.emitOpError() << "argument " << index
                                  << " is a descriptor; pass a pointer and create the descriptor "
                                  << "in the kernel";
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (Value operand : op->getOperands()) {
      if (!isa<DescType>(operand.getType()))
        continue;
      if (!isa<DescLoadOp, DescStoreOp>(op))
        return op->emitOpError()
               << "cannot take a descriptor; only loads and stores can, so create it where it is used";
      auto argument = dyn_cast<BlockArgument>(operand);
      bool isPassed = argument && argument.getOwner()->getParentOp() == kernel;
      if (!isPassed && !isa_and_present<MakeDescOp, OpenTensorMapOp>(operand.getDefiningOp()))
        return op->emitOpError() << "uses a descriptor that does not come directly from tile.make_desc; create it "
                                 << "where it is used";
      auto make = operand.getDefiningOp<MakeDescOp>();
      if (make && !make.getPlace() && blockOf(op).getShape() != make.getType().getShape())
        return op->emitOpError() << "moves a padded block " << blockOf(op) << " through a descriptor of blocks "
                                 << make.getType() << "; run tile-expand-descriptors before tile-pad-blocks";
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
    getOperation().walk([](DescStoreOp store) { addOnesLast(store); });
  }
};

} // namespace
