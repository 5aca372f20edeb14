// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads from and stores to global memory through pointers.
//
// Contract with cta-vectorize-access: where `vector` is v > 1, the registers r … r + v - 1 with r % v == 0 hold
// consecutive addresses, the first of them aligned to v elements, under one mask value. They become one instruction (or
// several of 16 bytes). A `partial` access has no such mask value: it branches between whole groups, if all elements of
// the thread are enabled, and single elements, so that boundary masks cost wide accesses only at the boundary. A
// register that repeats an element of another is not accessed again, and of several threads that hold an element only
// the first stores it, or, if the load is marked `first`, reads it.
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::conversion {

namespace {

/// The registers of an access: groups of `size`, each one instruction; those that repeat another have no own access.
struct AccessGroups {
  unsigned size = 1;
  std::vector<int32_t> canonical; // register -> lowest register with the same element
};

AccessGroups planGroups(Type pointerType, int64_t vector) {
  auto tensor = dyn_cast<RankedTensorType>(pointerType);
  if (!tensor)
    return {1, {0}};
  const layout::LinearLayout &layout = cta::getLayout(tensor);
  unsigned bytes = getBytesInMemory(cast<PtrType>(tensor.getElementType()).getPointee());
  int64_t size = std::min<int64_t>({vector, std::max(1u, 16 / bytes), layout.numRegisters()});
  return {unsigned(size), canonicalRegisters(layout)};
}

/// Whether all elements of the thread are enabled: the condition under which a partial access moves whole groups.
Value emitAllEnabled(OpBuilder &builder, Location loc, ValueRange masks) {
  Value all;
  for (Value mask : masks)
    all = emitAnd(builder, loc, all, dropTrue(mask));
  return all;
}

struct LoadLowering : TargetPattern<LoadOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value all = op.getPartial() ? emitAllEnabled(rewriter, op.getLoc(), adaptor.getMask()) : Value();
    if (!all) {
      ValueRange masks = op.getPartial() ? ValueRange() : adaptor.getMask();
      rewriter.replaceOpWithMultiple(op, {load(op, adaptor, op.getVector(), masks, rewriter)});
      return success();
    }
    Type registerType = getRegisterType(getElementTypeOf(op.getType()));
    SmallVector<Type> types(adaptor.getPtr().size(), registerType);
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), types, all, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(rewriter, op.getLoc(), load(op, adaptor, op.getVector(), {}, rewriter));
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, op.getLoc(), load(op, adaptor, /*vector=*/1, adaptor.getMask(), rewriter));
    rewriter.replaceOpWithMultiple(op, {branch.getResults()});
    return success();
  }

private:
  /// The registers, read in groups of `vector`; without masks everything is read.
  Registers load(LoadOp op, OneToNOpAdaptor adaptor, int64_t vector, ValueRange masks, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getType());
    AccessGroups groups = planGroups(op.getPtr().getType(), vector);
    WordFormat format = wordsFor(element, groups.size);
    GlobalAccess access(builder, loc, format, {op.getCache(), op.getEvict(), op.getIsVolatile()}, gpu);
    Value zero = arith::ConstantIntOp::create(builder, loc, builder.getIntegerType(format.bits), 0);
    Value isFirst = op.getFirst() ? emitIsFirstCopy(builder, loc, cta::getLayout(op.getType())) : Value();

    Registers registers(adaptor.getPtr().size());
    for (size_t first = 0; first < registers.size(); first += groups.size) {
      size_t source = groups.canonical[first];
      if (source != first) {
        std::copy_n(registers.begin() + source, groups.size, registers.begin() + first);
        continue;
      }
      Value mask = masks.empty() ? Value() : dropTrue(masks[first]);
      SmallVector<Value> other(format.count, zero);
      if (mask && op.getOther())
        other = packWords(builder, loc, adaptor.getOther().slice(first, groups.size), format);
      SmallVector<Value> words = access.load(adaptor.getPtr()[first], emitAnd(builder, loc, mask, isFirst), other);
      llvm::copy(unpackWords(builder, loc, words, element, format), registers.begin() + first);
    }
    return registers;
  }
};

struct StoreLowering : TargetPattern<StoreOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value all = op.getPartial() ? emitAllEnabled(rewriter, op.getLoc(), adaptor.getMask()) : Value();
    if (!all) {
      store(op, adaptor, op.getVector(), op.getPartial() ? ValueRange() : adaptor.getMask(), rewriter);
    } else {
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), all, /*withElseRegion=*/true);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      store(op, adaptor, op.getVector(), {}, rewriter);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      store(op, adaptor, /*vector=*/1, adaptor.getMask(), rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void store(StoreOp op, OneToNOpAdaptor adaptor, int64_t vector, ValueRange masks, OpBuilder &builder) const {
    Location loc = op.getLoc();
    AccessGroups groups = planGroups(op.getPtr().getType(), vector);
    WordFormat format = wordsFor(getElementTypeOf(op.getValue().getType()), groups.size);
    GlobalAccess access(builder, loc, format, {op.getCache(), op.getEvict(), /*isVolatile=*/false}, gpu);
    auto tensor = dyn_cast<RankedTensorType>(op.getPtr().getType());
    Value isFirst = tensor ? emitIsFirstCopy(builder, loc, cta::getLayout(tensor)) : emitIsFirstOfTeam(builder, op);

    for (size_t first = 0; first < adaptor.getPtr().size(); first += groups.size) {
      if (groups.canonical[first] != int32_t(first))
        continue;
      Value mask = masks.empty() ? Value() : dropTrue(masks[first]);
      access.store(adaptor.getPtr()[first], emitAnd(builder, loc, mask, isFirst),
                   packWords(builder, loc, adaptor.getValue().slice(first, groups.size), format));
    }
  }
};

} // namespace

void registerMemoryLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<LoadLowering, StoreLowering>(lowerings.converter, lowerings.context, lowerings.gpu);
}

} // namespace tile::conversion
