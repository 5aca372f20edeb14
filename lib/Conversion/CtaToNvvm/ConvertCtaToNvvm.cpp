// convert-cta-to-nvvm: turn kernels into functions of one thread.
//
// A one-to-many dialect conversion: a tensor value becomes one scalar value for each register of its layout, so that
// nothing has to be packed into structs and loops carry plain registers. The files of this folder contribute one family
// of patterns each; what a verifier cannot see (a layout that moves elements between threads, an instruction that the
// target lacks) is checked before, so that a failure is one diagnostic at the operation concerned.
//
//   %s = arith.addf %x, %y : tensor<256xf32, #l>   ==>   2 x arith.addf : f32      (#l has 2 registers)
//
// Math that LLVM cannot select for NVPTX is rewritten on the way (Math.cpp). The rest is upstream's.
#include "Analysis/FindTarget.h"
#include "Conversion/Passes.h"
#include "Patterns.h"
#include "Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_CONVERTCTATONVVM
#include "Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::conversion;

RegisterTypeConverter::RegisterTypeConverter(MLIRContext *context) {
  addConversion([](Type type) { return type; });
  addConversion([](FloatType type) -> Type { return getRegisterType(type); });
  addConversion([](PtrType type) -> Type { return getRegisterType(type); });
  addConversion(
      [](cta::BufferType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), sharedSpace); });
  addConversion(
      [](cta::MbarrierType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), sharedSpace); });
  // The address of the tensor map.
  addConversion([](DescType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext()); });
  addConversion([this](RankedTensorType type, SmallVectorImpl<Type> &registers) -> std::optional<LogicalResult> {
    cta::LayoutAttr layout = cta::getLayoutAttr(type);
    Type element = layout ? convertType(type.getElementType()) : Type();
    if (!element)
      return failure();
    registers.append(layout.getLayout().numRegisters(), element);
    return success();
  });
  auto cast = [](OpBuilder &builder, TypeRange types, ValueRange values, Location loc) {
    auto op = UnrealizedConversionCastOp::create(builder, loc, types, values);
    return SmallVector<Value>(op.getResults());
  };
  addTargetMaterialization(cast);
  addSourceMaterialization([cast](OpBuilder &builder, Type type, ValueRange values, Location loc) -> Value {
    return cast(builder, type, values, loc).front();
  });
}

static LogicalResult checkOperation(Operation *op, const target::GpuTarget &gpu) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SplatOp>([](auto) { return success(); })
      .Case<ShapeChange, cta::ConvertLayoutOp>([](auto op) { return checkShapeChange(op); })
      .Case<ReduceOp, cta::PartialReduceOp>([](Operation *op) { return checkReduction(op); })
      .Case<ScanOp>([](auto op) { return checkScan(op); })
      .Case<InlineAsmOp>([](auto op) { return checkInlineAsm(op); })
      .Case<cta::LocalGatherOp, cta::LocalCountOp>([](auto op) {
        cta::BufferType buffer = op.getBuffer().getType();
        return failure(failed(checkWholeTile(op, buffer)) || failed(checkRowMajor(op, buffer)));
      })
      .Case<AddressCastOp>([](auto) { return success(); })
      .Case<cta::AsyncCopyOp>([&](auto op) {
        return failure(failed(checkWholeTile(op, op.getBuffer().getType())) || failed(checkAsyncCopy(op, gpu)));
      })
      .Case<cta::WgmmaOp>([&](auto op) { return checkWgmma(op, gpu); })
      .Case<cta::TmaLoadOp, cta::TmaLoadSyncOp>(
          [&](auto op) { return checkTmaCopy(op, op.getBuffer().getType(), op.getRest(), gpu); })
      .Case<cta::TmaStoreOp, cta::TmaMulticastOp>(
          [&](auto op) { return checkTmaCopy(op, op.getBuffer().getType(), /*rest=*/Value(), gpu); })
      .Case<cta::MakeTensorMapOp>([&](auto op) { return checkMakeTensorMap(op, gpu); })
      .Case<AcquireTensorMapOp, OpenTensorMapOp>([&](auto op) { return checkTensorMapInMemory(op, gpu); })
      .Case<cta::LocalLoadOp, cta::LocalStoreOp>([](auto op) { return checkWholeTile(op, op.getBuffer().getType()); })
      .Case<cta::MbarrierAllocOp>([](auto op) { return checkMbarrierAlloc(op); })
      .Case<cta::WarpRolesOp>([&](auto op) { return checkWarpRoles(op, gpu); })
      .Case<cta::ClusterRankOp, cta::ClusterIdOp, cta::NumClustersOp, cta::ClusterBarrierOp, cta::ClusterSumOp>(
          [&](Operation *op) { return checkCluster(op, gpu); })
      .Case<cta::AllocOp>([](auto op) { return checkAlloc(op); })
      .Case<cta::MmaSyncOp>([&](auto op) { return checkMma(op, gpu); })
      .Case<cta::FmaDotOp>([&](auto op) {
        return failure(failed(checkWholeTile(op, op.getA().getType())) ||
                       failed(checkWholeTile(op, op.getB().getType())) || failed(checkFmaDot(op)));
      })
      .Case<PrintOp>([&](auto op) { return checkPrint(op); })
      .Default([&](Operation *op) {
        return op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<OpTrait::ConstantLike>() ? checkElementwise(op)
                                                                                             : success();
      });
}

namespace {

struct ConvertCtaToNvvm : tile::impl::ConvertCtaToNvvmBase<ConvertCtaToNvvm> {
  using ConvertCtaToNvvmBase::ConvertCtaToNvvmBase;

  void runOnOperation() override {
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    if (failed(prepare(*gpu)) || failed(convert(*gpu)))
      signalPassFailure();
  }

  LogicalResult prepare(const target::GpuTarget &gpu) {
    for (Operation &op : getOperation().getOps())
      if (!isa<KernelOp>(op) && !isa<LLVM::LLVMDialect>(op.getDialect()))
        return op.emitOpError() << "stands outside of a kernel; a module has kernels and what is of LLVM already";
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (failed(checkKernel(kernel)))
        return failure();
      WalkResult result = kernel.walk([&](Operation *op) {
        return failed(checkOperation(op, gpu)) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return failure();
      widenBoolArguments(kernel);
      lowerWarpRoles(kernel);
    }
    bool usesShared =
        getOperation()
            .walk([](Operation *op) {
              return isa<cta::AllocOp, cta::MbarrierAllocOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
    if (usesShared)
      declareSharedMemory(getOperation());
    return success();
  }

  LogicalResult convert(const target::GpuTarget &gpu) {
    RegisterTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    populateKernelPatterns(converter, patterns);
    populateElementwisePatterns(converter, patterns);
    populateElementPatterns(converter, patterns);
    populateShapePatterns(converter, patterns);
    populateShufflePatterns(converter, patterns);
    populateMemoryPatterns(converter, patterns, gpu);
    populateAsyncCopyPatterns(converter, patterns);
    populateBufferPatterns(converter, patterns, gpu);
    populateMmaPatterns(converter, patterns);
    populateWgmmaPatterns(converter, patterns);
    populateTmaPatterns(converter, patterns);
    populateTensorMapPatterns(converter, patterns);
    populateClusterPatterns(converter, patterns);
    populateGridPatterns(converter, patterns);
    populateFmaDotPatterns(converter, patterns, gpu);
    populateReducePatterns(converter, patterns);
    populateScanPatterns(converter, patterns);
    populateGatherPatterns(converter, patterns);
    populateCountPatterns(converter, patterns);
    populateAtomicPatterns(converter, patterns, gpu);
    populateExternPatterns(converter, patterns, gpu);
    populatePrintPatterns(converter, patterns, gpu);
    populateFloat8Patterns(converter, patterns, gpu);
    populateFloatToIntegerPatterns(converter, patterns);
    populateMathPatterns(converter, patterns, gpu);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);

    target.addLegalOp<ModuleOp>();
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    target.addIllegalDialect<TileDialect, cta::CtaDialect>();
    target.markUnknownOpDynamicallyLegal([&](Operation *op) { return converter.isLegal(op) && isSelectable(op, gpu); });
    return applyFullConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
