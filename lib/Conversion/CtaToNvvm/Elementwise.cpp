// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations, constants, ranges and pointer arithmetic: each register is computed separately.
//
//   %s = arith.addf %x, %y : tensor<128xf32, #l>   ==>   one arith.addf : f32 for each register of #l
//
// A comparison whose result is the same for a run of registers is computed once per run (UniformRuns.h).
#include "EmitLayout.h"
#include "Patterns.h"
#include "UniformRuns.h"
#include "Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile::conversion {

namespace {

bool isFloat8(Type type) {
  Type element = getElementTypeOf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

/// Returns true for 16-bit float arithmetic that one instruction can compute for two elements. If the target has no
/// such instruction, LLVM splits the pairs. LLVM also merges two conversions to 16 bits into one instruction if their
/// results form a pair.
bool arePaired(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op))
    return false;
  Type element = getElementTypeOf(op->getResult(0).getType());
  return element.isF16() || element.isBF16();
}

/// Lowers any operation with the Elementwise trait and keeps its attributes. A scalar operand is used for every
/// register.
struct ElementwiseLowering : ConversionPattern {
  ElementwiseLowering(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() == 0 || op->getNumRegions() != 0)
      return failure();
    SmallVector<Type> resultTypes;
    size_t count = 1;
    for (Type type : op->getResultTypes()) {
      SmallVector<Type> registers;
      if (failed(getTypeConverter()->convertType(type, registers)))
        return failure();
      count = registers.size();
      resultTypes.push_back(registers.front());
    }
    SmallVector<Registers> results(op->getNumResults());
    auto run = op->getAttrOfType<IntegerAttr>(uniformRun);
    if (!run && count % 2 == 0 && arePaired(op)) {
      rewriter.replaceOpWithMultiple(op, {emitPairs(op, operands, resultTypes.front(), count, rewriter)});
      return success();
    }
    for (size_t index = 0; index < count; ++index) {
      if (run && index % run.getInt() != 0) {
        for (Registers &registers : results)
          registers.push_back(Value(registers.back()));
        continue;
      }
      OperationState state(op->getLoc(), op->getName());
      for (ValueRange registers : operands)
        state.operands.push_back(registers.size() == 1 ? registers.front() : registers[index]);
      state.addTypes(resultTypes);
      state.addAttributes(op->getAttrs());
      state.attributes.erase(uniformRun);
      Operation *scalar = rewriter.create(state);
      for (auto [result, value] : llvm::zip(results, scalar->getResults()))
        result.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  static Registers emitPairs(Operation *op, ArrayRef<ValueRange> operands, Type element, size_t count,
                             OpBuilder &builder) {
    Location loc = op->getLoc();
    auto pair = VectorType::get(2, element);
    Value place[] = {emitI32(builder, loc, 0), emitI32(builder, loc, 1)};
    Registers results;
    for (size_t index = 0; index < count; index += 2) {
      OperationState state(loc, op->getName());
      for (ValueRange registers : operands) {
        Value both = LLVM::PoisonOp::create(builder, loc, pair);
        for (size_t half : {0, 1})
          both = LLVM::InsertElementOp::create(
              builder, loc, both, registers.size() == 1 ? registers.front() : registers[index + half], place[half]);
        state.operands.push_back(both);
      }
      state.addTypes(pair);
      state.addAttributes(op->getAttrs());
      Value both = builder.create(state)->getResult(0);
      for (size_t half : {0, 1})
        results.push_back(LLVM::ExtractElementOp::create(builder, loc, both, place[half]));
    }
    return results;
  }
};

/// Lowers a type change that keeps the bits in the same register type, such as i8 to f8.
struct BitcastLowering : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::BitcastOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (getRegisterType(getElementTypeOf(op.getIn().getType())) != getRegisterType(getElementTypeOf(op.getType())))
      return failure();
    rewriter.replaceOpWithMultiple(op, {adaptor.getIn()});
    return success();
  }
};

TypedAttr registerAttribute(Attribute element, Builder &builder) {
  auto typed = cast<TypedAttr>(element);
  if (auto number = dyn_cast<FloatAttr>(typed); number && isFloat8(number.getType()))
    return builder.getIntegerAttr(builder.getI8Type(), number.getValue().bitcastToAPInt());
  return typed;
}

struct ConstantLowering : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto tensor = dyn_cast<RankedTensorType>(op.getType());
    if (!tensor) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, registerAttribute(op.getValue(), rewriter));
      return success();
    }
    auto values = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!values)
      return failure();
    const LinearLayout &layout = cta::getLayout(tensor);
    Registers registers;
    if (values.isSplat()) {
      Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(),
                                               registerAttribute(values.getSplatValue<Attribute>(), rewriter));
      registers.assign(layout.numRegisters(), scalar);
    } else {
      // An earlier check has ensured that the element does not depend on the thread, so each register is the same
      // constant in all threads.
      auto elements = values.getValues<Attribute>();
      for (int64_t index = 0; index < layout.numRegisters(); ++index)
        registers.push_back(arith::ConstantOp::create(
            rewriter, op.getLoc(),
            registerAttribute(elements[layout.applyFlat({{layout::registerDim, index}})], rewriter)));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct SplatLowering : OpConversionPattern<SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(SplatOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Registers registers(cta::getLayout(op.getType()).numRegisters(), adaptor.getScalar());
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct ArangeLowering : OpConversionPattern<ArangeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ArangeOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &layout = cta::getLayout(op.getType());
    OffsetEmitter emitter(rewriter, op.getLoc(), ThreadMap::flat(layout));
    Registers registers;
    for (int64_t index = 0; index < layout.numRegisters(); ++index)
      registers.push_back(emitter.indexOfRegister(index, int32_t(op.getStart())));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct AddPtrLowering : OpConversionPattern<AddPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AddPtrOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type pointee = cast<PtrType>(getElementTypeOf(op.getPtr().getType())).getPointee();
    // LLVM's size of the unit type must be the size in memory: a byte for i1 and 8-bit floats.
    Type unit = rewriter.getIntegerType(8 * getBytesInMemory(pointee));
    Registers registers;
    for (auto [pointer, offset] : llvm::zip(adaptor.getPtr(), adaptor.getOffset())) {
      Value index = offset;
      // GEP sign-extends its index, but an i1 offset is 0 or 1.
      if (index.getType().isInteger(1))
        index = arith::ExtUIOp::create(rewriter, op.getLoc(), rewriter.getI32Type(), index);
      registers.push_back(
          LLVM::GEPOp::create(rewriter, op.getLoc(), pointer.getType(), unit, pointer, ArrayRef<LLVM::GEPArg>{index}));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

/// Checks that all operands and results have the same layout: the region is executed on one register of each operand,
/// and these registers must hold the same element.
static LogicalResult checkMap(MapOp op) {
  cta::LayoutAttr layout = cta::getLayoutAttr(op.getSrcs().front().getType());
  auto isCommon = [&](Type type) { return cta::getLayoutAttr(type) == layout; };
  if (llvm::all_of(op->getOperandTypes(), isCommon) && llvm::all_of(op->getResultTypes(), isCommon))
    return success();
  return op.emitOpError() << "has operands and results of different layouts; they must agree";
}

static LogicalResult checkElementwise(Operation *op, const target::GpuTarget &) {
  if (!op->hasTrait<OpTrait::Elementwise>() && !op->hasTrait<OpTrait::ConstantLike>())
    return success();
  if (auto map = dyn_cast<MapOp>(op))
    return checkMap(map);
  if (isa<math::IPowIOp>(op))
    return op->emitOpError() << "has no lowering; multiply repeatedly or use math.fpowi";
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto tensor = constant ? dyn_cast<RankedTensorType>(constant.getType()) : RankedTensorType();
  if (!tensor)
    return success();
  auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
  bool sameInAllThreads =
      llvm::all_of(ThreadMap::flat(cta::getLayout(tensor)).threads, [](uint64_t basis) { return basis == 0; });
  if (values && (values.isSplat() || sameInAllThreads))
    return success();
  return op->emitOpError()
         << "has different values in different threads; only constants that are equal in all threads are supported";
}

void registerElementwiseLowerings(Lowerings &lowerings) {
  lowerings.patterns.add<ElementwiseLowering, SplatLowering, ArangeLowering, AddPtrLowering>(lowerings.converter,
                                                                                             lowerings.context);
  lowerings.patterns.add<ConstantLowering, BitcastLowering>(lowerings.converter, lowerings.context, /*benefit=*/2);
  lowerings.checkEach(checkElementwise);
}

} // namespace tile::conversion
