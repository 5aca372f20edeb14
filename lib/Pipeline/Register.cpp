// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration for tile-opt and tilec: dialects, passes and the named pipeline.
#include "Conversion/Passes.h"
#include "Cta/CtaDialect.h"
#include "Pipeline/GpuPipeline.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile;

void tile::registerAllDialects(DialectRegistry &registry) {
  registry.insert<TileDialect, cta::CtaDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, math::MathDialect, scf::SCFDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
/// Options of --tile-gpu-pipeline; they have the same names as in tilec.
struct PipelineTextOptions : PassPipelineOptions<PipelineTextOptions> {
  Option<unsigned> optLevel{*this, "opt-level", llvm::cl::desc("0: correctness steps only"), llvm::cl::init(2)};
  ListOption<std::string> disabled{*this, "disable", llvm::cl::desc("optimisation steps to disable")};
  ListOption<std::string> excluded{
      *this, "exclude",
      llvm::cl::desc("features that kernels must not use: maps-of-pointers, several-programs, "
                     "shared-steps, shared-tail")};
  Option<bool> instrument{*this, "instrument", llvm::cl::desc("kernels record times")};
  Option<std::string> startAfter{*this, "start-after", llvm::cl::desc("last step to skip, with all before it")};
  Option<std::string> stopAfter{*this, "stop-after", llvm::cl::desc("last step to run")};
};

std::optional<KernelLimits> limitsWithout(ArrayRef<std::string> excluded) {
  KernelLimits limits;
  for (StringRef name : excluded) {
    auto limit = llvm::StringSwitch<bool KernelLimits::*>(name)
                     .Case("maps-of-pointers", &KernelLimits::mapsOfPointers)
                     .Case("several-programs", &KernelLimits::severalPrograms)
                     .Case("shared-steps", &KernelLimits::sharedSteps)
                     .Case("shared-tail", &KernelLimits::sharedTail)
                     .Default(nullptr);
    if (!limit) {
      llvm::errs() << "error: exclude '" << name
                   << "' is none of maps-of-pointers, several-programs, shared-steps and shared-tail\n";
      return std::nullopt;
    }
    limits.*limit = false;
  }
  return limits;
}

} // namespace

void tile::registerAllPasses() {
  registerTilePasses();
  registerTileConversionPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  PassPipelineRegistration<PipelineTextOptions>(
      "tile-gpu-pipeline", "tile dialect to LLVM/NVVM, exactly as tilec runs it",
      [](OpPassManager &manager, const PipelineTextOptions &text) {
        GpuPipelineOptions options;
        options.optLevel = text.optLevel;
        options.disabled.assign(text.disabled.begin(), text.disabled.end());
        options.instrument = text.instrument;
        options.startAfter = text.startAfter;
        options.stopAfter = text.stopAfter;
        std::optional<KernelLimits> limits = limitsWithout(text.excluded);
        if (limits)
          options.limits = *limits;
        auto emitError = [](const std::string &message) { llvm::errs() << "error: " << message << '\n'; };
        if (!limits || failed(buildGpuPipeline(manager, options, emitError)))
          llvm::report_fatal_error("tile-gpu-pipeline: wrong options", /*gen_crash_diag=*/false);
      });
}
