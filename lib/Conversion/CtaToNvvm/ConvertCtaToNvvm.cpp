// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// convert-cta-to-nvvm: lower kernels to per-thread functions.
//
// This is a one-to-many dialect conversion: a tensor becomes one scalar per register of its layout, so nothing is
// packed into structs and loops carry plain registers. Each file of this folder contributes one family of patterns.
// Verifiers cannot detect all kernels that cannot be lowered, for example if a layout moves elements between threads,
// or if the target lacks an instruction. So these properties are checked before the conversion, and a failure is
// reported as one diagnostic at the operation concerned.
//
//   %s = arith.addf %x, %y : tensor<256xf32, #l>   ==>   2 x arith.addf : f32      (#l has 2 registers)
//
// Math operations that LLVM cannot select for NVPTX are rewritten in the same conversion (Math.cpp). Upstream's
// patterns lower all other operations.
#include "Conversion/Passes.h"
#include "Cta/CtaDialect.h"
#include "Patterns.h"
#include "SmallIntegers.h"
#include "UniformRuns.h"
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
  // A tensor memory address holds the lane and the column in one 32-bit word.
  addConversion([](cta::TensorMemoryType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  // Tokens are dropped: the waits for which they were needed have been inserted.
  addConversion([](cta::TokenType, SmallVectorImpl<Type> &) -> std::optional<LogicalResult> { return success(); });
  // A descriptor becomes the address of its tensor map.
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

LogicalResult Lowerings::runChecks(Operation *op) const {
  for (const Check &check : commonChecks)
    if (failed(check(op, gpu)))
      return failure();
  auto found = checks.find(op->getName().getTypeID());
  return found == checks.end() ? success() : found->second(op, gpu);
}

namespace {

struct ConvertCtaToNvvm : tile::impl::ConvertCtaToNvvmBase<ConvertCtaToNvvm> {
  void runOnOperation() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    RegisterTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    auto isMma = [](Operation *op) {
      return isa<cta::WgmmaOp, cta::Tcgen05MmaOp, cta::MmaSyncOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
    };
    Lowerings lowerings(converter, patterns, gpu, getOperation().walk(isMma).wasInterrupted());
#define FAMILY(name) register##name##Lowerings(lowerings);
#include "Families.def"
    if (failed(prepare(lowerings)) || failed(convert(lowerings)))
      return signalPassFailure();
    lowerWarpRoles(getOperation());
  }

  LogicalResult prepare(const Lowerings &lowerings) {
    for (Operation &op : getOperation().getOps())
      if (!isa<KernelOp>(op) && !isa<LLVM::LLVMDialect>(op.getDialect()))
        return op.emitOpError() << "is outside of a kernel; a module may have only kernels and LLVM operations";
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (failed(checkKernel(kernel)))
        return failure();
      WalkResult result = kernel.walk([&](Operation *op) {
        return failed(lowerings.runChecks(op)) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return failure();
      noteUniformRuns(kernel);
      noteSmallIntegers(kernel);
      leaveIdleWarps(kernel);
      widenBoolArguments(kernel);
      emitBarriersReady(kernel);
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

  LogicalResult convert(Lowerings &lowerings) {
    ConversionTarget target(getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(lowerings.converter, lowerings.patterns, target);

    target.addLegalOp<ModuleOp>();
    target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    target.addIllegalDialect<TileDialect, cta::CtaDialect>();
    target.addLegalOp<cta::WarpRolesOp>(); // kept until the end, because patterns query the role of an operation
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return lowerings.converter.isLegal(op) && isSelectable(op, lowerings.gpu); });
    return applyFullConversion(getOperation(), target, std::move(lowerings.patterns));
  }
};

} // namespace
