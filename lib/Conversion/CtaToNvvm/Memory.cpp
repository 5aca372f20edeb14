// Loads from and stores to global memory through pointers.
//
// Contract with cta-vectorize-access: where `vector` is v > 1, the registers r … r + v - 1 with r % v == 0 hold
// consecutive addresses, the first of them aligned to v elements, under one mask value. They become one instruction (or
// several of 16 bytes). A register that repeats an element of another is not accessed again, and of several threads
// that hold an element only the first stores it.
#include "EmitLayout.h"
#include "GlobalAccess.h"
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

struct LoadLowering : TargetPattern<LoadOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = getElementTypeOf(op.getType());
    AccessGroups groups = planGroups(op.getPtr().getType(), op.getVector());
    WordFormat format = wordsFor(element, groups.size);
    GlobalAccess access(rewriter, loc, format, {op.getCache(), op.getEvict(), op.getIsVolatile()}, gpu);
    Value zero = arith::ConstantIntOp::create(rewriter, loc, rewriter.getIntegerType(format.bits), 0);

    Registers registers(adaptor.getPtr().size());
    for (size_t first = 0; first < registers.size(); first += groups.size) {
      size_t source = groups.canonical[first];
      if (source != first) {
        std::copy_n(registers.begin() + source, groups.size, registers.begin() + first);
        continue;
      }
      Value mask = op.getMask() ? dropTrue(adaptor.getMask()[first]) : Value();
      SmallVector<Value> other(format.count, zero);
      if (mask && op.getOther())
        other = packWords(rewriter, loc, adaptor.getOther().slice(first, groups.size), format);
      SmallVector<Value> words = access.load(adaptor.getPtr()[first], mask, other);
      llvm::copy(unpackWords(rewriter, loc, words, element, format), registers.begin() + first);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct StoreLowering : TargetPattern<StoreOp> {
  using TargetPattern::TargetPattern;

  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    AccessGroups groups = planGroups(op.getPtr().getType(), op.getVector());
    WordFormat format = wordsFor(getElementTypeOf(op.getValue().getType()), groups.size);
    GlobalAccess access(rewriter, loc, format, {op.getCache(), op.getEvict(), /*isVolatile=*/false}, gpu);
    auto tensor = dyn_cast<RankedTensorType>(op.getPtr().getType());
    Value isFirst = tensor ? emitIsFirstCopy(rewriter, loc, cta::getLayout(tensor)) : emitIsFirstThread(rewriter, loc);

    for (size_t first = 0; first < adaptor.getPtr().size(); first += groups.size) {
      if (groups.canonical[first] != int32_t(first))
        continue;
      Value mask = op.getMask() ? dropTrue(adaptor.getMask()[first]) : Value();
      access.store(adaptor.getPtr()[first], emitAnd(rewriter, loc, mask, isFirst),
                   packWords(rewriter, loc, adaptor.getValue().slice(first, groups.size), format));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateMemoryPatterns(const TypeConverter &converter, RewritePatternSet &patterns, const target::GpuTarget &gpu) {
  patterns.add<LoadLowering, StoreLowering>(converter, patterns.getContext(), gpu);
}

} // namespace tile::conversion
