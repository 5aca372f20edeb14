// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers the kernel, its position in the grid, and its assumptions.
//
//   tile.kernel @k(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}) attributes {num_warps = 4 : i32}
//   ==>
//   llvm.func @k(%p: !llvm.ptr<1> {llvm.align = 16 : i64}) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>}
#include "EmitLayout.h"
#include "Patterns.h"
#include "Target/Plan/Residency.h"
#include "Target/SharedMemory.h"
#include "Target/Tuned.h"
#include "Tile/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <bit>

using namespace mlir;

namespace tile::conversion {

namespace {

/// Returns the largest power of two that divides the value. LLVM requires a power of two, but programs may assume any
/// divisor.
int64_t alignmentOf(IntegerAttr divisibility) {
  int64_t value = divisibility.getInt();
  return value > 0 ? int64_t(1) << std::countr_zero(static_cast<uint64_t>(value)) : 1;
}

struct KernelLowering : OpConversionPattern<KernelOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(KernelOp kernel, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    TypeConverter::SignatureConversion signature(kernel.getNumArguments());
    SmallVector<DictionaryAttr> argumentAttributes;
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
      Type converted = getTypeConverter()->convertType(type);
      if (!converted)
        return rewriter.notifyMatchFailure(kernel, "argument has no register type");
      signature.addInputs(index, converted);
      auto divisibility = kernel.getArgAttrOfType<IntegerAttr>(index, divisibilityAttrName);
      SmallVector<NamedAttribute> attributes;
      // Keeps the attributes of the launcher's arguments: the manifest is made from the lowered kernel.
      for (StringRef name : {tensorMapAttrName, gridSizeAttrName, scratchAttrName, sharesTailsAttrName})
        if (Attribute value = kernel.getArgAttr(index, name))
          attributes.push_back(rewriter.getNamedAttr(name, value));
      if (divisibility && isa<PtrType>(type))
        attributes.push_back(rewriter.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                                                   rewriter.getI64IntegerAttr(alignmentOf(divisibility))));
      if (isa<DescType>(type)) {
        // A tensor map has 128 bytes, is aligned to 64 bytes and is passed by value (CUDA driver API, CUtensorMap).
        auto map = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 128);
        attributes.push_back(rewriter.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(map)));
        attributes.push_back(
            rewriter.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(), rewriter.getI64IntegerAttr(64)));
        attributes.push_back(
            rewriter.getNamedAttr(NVVM::NVVMDialect::getGridConstantAttrName(), rewriter.getUnitAttr()));
      }
      argumentAttributes.push_back(rewriter.getDictionaryAttr(attributes));
    }
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), signature.getConvertedTypes());
    SmallVector<NamedAttribute> attributes{
        rewriter.getNamedAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), rewriter.getUnitAttr()),
        rewriter.getNamedAttr(
            NVVM::NVVMDialect::getReqntidAttrName(),
            rewriter.getDenseI32ArrayAttr({int32_t(cta::countWarps(kernel) * target::threadsPerWarp)})),
        rewriter.getNamedAttr(sharedBytesAttrName, rewriter.getI64IntegerAttr(kernel.getSharedBytes().value_or(0)))};
    // setmaxnreg changes the number of registers with which a thread starts, and that number depends on the number of
    // resident CTAs. So the number of CTAs is fixed here to the one for which the roles' register counts were chosen.
    cta::WarpRolesOp roles = cta::findRoles(kernel);
    if (int64_t ctas = roles ? int64_t(roles.countResidentCtas()) : countCtasOfRows(kernel))
      attributes.push_back(
          rewriter.getNamedAttr(NVVM::NVVMDialect::getMinctasmAttrName(), rewriter.getI32IntegerAttr(int32_t(ctas))));
    if (isQuicklyAssembled(kernel))
      attributes.push_back(rewriter.getNamedAttr(ptxasLevelAttrName, rewriter.getI32IntegerAttr(1)));
    addLaunchAttributes(kernel, rewriter, attributes);
    auto function = LLVM::LLVMFuncOp::create(rewriter, kernel.getLoc(), kernel.getSymName(), type,
                                             LLVM::Linkage::External, /*dsoLocal=*/false, LLVM::CConv::C,
                                             /*comdat=*/SymbolRefAttr(), attributes, argumentAttributes);
    rewriter.inlineRegionBefore(kernel.getBody(), function.getBody(), function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), *getTypeConverter(), &signature)))
      return failure();
    rewriter.eraseOp(kernel);
    return success();
  }

private:
  /// For a kernel that keeps rows in shared memory (cta-keep-rows), returns the number of CTAs per multiprocessor to
  /// request: as many as have half of the threads that a multiprocessor can hold, but at least two and at most as many
  /// as fit. Returns 0 for other kernels. Without the request, ptxas would use a third fewer registers per thread, so
  /// fewer loads would be in flight (bench/results/h200/row-kernels.md).
  static int64_t countCtasOfRows(KernelOp kernel) {
    bool copies = false;
    WalkResult search = kernel.walk([&](Operation *op) {
      copies |= isa<cta::AsyncCopyOp>(op);
      return isa<cta::WgmmaOp, cta::Tcgen05MmaOp, cta::MmaSyncOp, cta::FmaDotOp>(op) ? WalkResult::interrupt()
                                                                                     : WalkResult::advance();
    });
    if (!copies || search.wasInterrupted())
      return 0;
    const int64_t threads = cta::countWarps(kernel) * target::threadsPerWarp;
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    const int64_t sharedBytes = int64_t(kernel.getSharedBytes().value_or(0));
    int64_t resident = target::planResidency(gpu, {.threads = threads, .sharedBytes = sharedBytes}).ctas();
    return std::min(resident, std::max<int64_t>(2, target::tunedOf(gpu).threadsOfKeptRows / threads));
  }

  /// Returns true if ptxas should use -O1, which takes a tenth less time. If all MMAs are wgmmas of 16-bit types with
  /// more than 128 columns, the code is as fast as with -O3 (1.000 to 1.014 times the speed for matrices of size 1536
  /// and more). With fewer columns, the code is 0.6 to 1.4 % slower, and up to 5 % slower in attention
  /// (bench/results/h200/passes.md).
  static bool isQuicklyAssembled(KernelOp kernel) {
    const uint32_t fewColumns = target::tunedOf(cta::getTarget(kernel)).quicklyAssembledColumns;
    bool multiplies = false;
    WalkResult result = kernel.walk([&](cta::WgmmaOp mma) {
      multiplies = true;
      bool isWide = mma.getN() > fewColumns && mma.getB().getType().getElementType().getIntOrFloatBitWidth() == 16;
      return isWide ? WalkResult::advance() : WalkResult::interrupt();
    });
    return multiplies && !result.wasInterrupted();
  }

  /// Adds attributes from which the manifest is made, and which state how the launcher must start CTAs.
  static void addLaunchAttributes(KernelOp kernel, OpBuilder &builder, SmallVector<NamedAttribute> &attributes) {
    if (int32_t ctas = kernel.getClusterCtas(); ctas > 1) {
      ArrayRef<int32_t> shape = *kernel.getCluster();
      attributes.push_back(
          builder.getNamedAttr(NVVM::NVVMDialect::getClusterDimAttrName(), builder.getDenseI32ArrayAttr({ctas, 1, 1})));
      attributes.push_back(
          builder.getNamedAttr(programsPerClusterAttrName, builder.getDenseI32ArrayAttr({shape[0], shape[1], 1})));
    }
    bool awaitsGrids = kernel.walk([](cta::AwaitGridsOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (awaitsGrids)
      attributes.push_back(builder.getNamedAttr(pdlAttrName, builder.getUnitAttr()));
  }
};

struct ReturnLowering : OpConversionPattern<ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ReturnOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

/// Reads the special register for an axis of the grid.
template <typename X, typename Y, typename Z> Value readGrid(OpBuilder &builder, Location loc, unsigned axis) {
  Type type = builder.getI32Type();
  switch (axis) {
  case 0:
    return X::create(builder, loc, type);
  case 1:
    return Y::create(builder, loc, type);
  default:
    return Z::create(builder, loc, type);
  }
}

Value readGridSize(OpBuilder &builder, Location loc, unsigned axis) {
  return readGrid<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(builder, loc, axis);
}

struct ProgramIdLowering : OpConversionPattern<ProgramIdOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ProgramIdOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value cta = readGrid<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(rewriter, loc, op.getAxis());
    if (op.getDescending()) { // the hardware starts CTAs in the order of their indices
      Value end = readGridSize(rewriter, loc, op.getAxis()), one = emitI32(rewriter, loc, 1);
      cta = arith::SubIOp::create(rewriter, loc, arith::SubIOp::create(rewriter, loc, end, one), cta);
    }
    rewriter.replaceOp(op, cta);
    return success();
  }
};

struct NumProgramsLowering : OpConversionPattern<NumProgramsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(NumProgramsOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, readGridSize(rewriter, op.getLoc(), op.getAxis()));
    return success();
  }
};

struct Swizzle2dLowering : OpConversionPattern<Swizzle2dOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(Swizzle2dOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Value row = arith::MulIOp::create(rewriter, op.getLoc(), op.getI(), op.getSizeJ());
    auto [i, j] = op.expand(rewriter, arith::AddIOp::create(rewriter, op.getLoc(), row, op.getJ()));
    rewriter.replaceOp(op, {i, j});
    return success();
  }
};

struct AssumeLowering : OpConversionPattern<AssumeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AssumeOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LLVM::AssumeOp::create(rewriter, op.getLoc(), adaptor.getCondition());
    rewriter.eraseOp(op);
    return success();
  }
};

struct HintLowering : OpConversionPattern<HintOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(HintOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getSrc()});
    return success();
  }
};

} // namespace

LogicalResult checkKernel(KernelOp kernel) {
  // Patterns rely on this check: a tensor type must have a layout for the warps of the kernel, or of the role.
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    if (isa<DescType>(type) && !isa<KernelOp, OpenTensorMapOp>(op) && !isa<cta::CtaDialect>(op->getDialect()))
      return op->emitOpError() << "uses descriptor " << type << "; run tile-expand-descriptors first";
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    if (!cta::getLayoutAttr(tensor))
      return op->emitOpError() << "uses " << tensor << " without a layout; run cta-assign-layouts first";
    int64_t warps = cta::getLayout(tensor).numWarps();
    std::optional<cta::Role> role = cta::findRole(op);
    if (role && role->getAttr().getOneThread())
      return op->emitOpError() << "uses " << tensor << " in role '" << role->getAttr().getName()
                               << "', which has one thread";
    if (unsigned executing = role ? role->getAttr().getWarps() : kernel.getNumWarps(); warps != executing)
      return op->emitOpError() << "uses a tensor laid out for " << warps << " warps but the "
                               << (role ? "role" : "kernel") << " has " << executing;
    return success();
  };
  WalkResult result = kernel->walk([&](Operation *op) {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())))
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  for (Type type : kernel.getArgumentTypes())
    if (failed(check(kernel, type)))
      return failure();
  return failure(result.wasInterrupted());
}

void widenBoolArguments(KernelOp kernel) {
  if (kernel.getBody().empty())
    return;
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  SmallVector<Type> types(kernel.getArgumentTypes());
  for (BlockArgument argument : entry.getArguments()) {
    if (!argument.getType().isInteger(1))
      continue;
    types[argument.getArgNumber()] = builder.getI8Type();
    argument.setType(builder.getI8Type());
    Value zero = arith::ConstantIntOp::create(builder, kernel.getLoc(), builder.getI8Type(), 0);
    auto isSet = arith::CmpIOp::create(builder, kernel.getLoc(), arith::CmpIPredicate::ne, argument, zero);
    argument.replaceAllUsesExcept(isSet, isSet);
  }
  kernel.setFunctionTypeAttr(TypeAttr::get(builder.getFunctionType(types, {})));
}

void declareSharedMemory(ModuleOp module) {
  if (module.lookupSymbol(sharedSymbol))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(builder, module.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External, sharedSymbol, Attribute(),
                         target::sharedAlignment, sharedSpace);
}

void registerKernelLowerings(Lowerings &lowerings) {
  lowerings.patterns
      .add<KernelLowering, ReturnLowering, ProgramIdLowering, NumProgramsLowering, Swizzle2dLowering, AssumeLowering>(
          lowerings.converter, lowerings.context);
  lowerings.patterns.add<HintLowering>(lowerings.converter, lowerings.context, /*benefit=*/2);
}

} // namespace tile::conversion
