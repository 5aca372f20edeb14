// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the front end and the first steps of the pipeline without printing diagnostics.
#include "Driver/KernelInspector.h"

#include "Cta/CtaDialect.h"
#include "Driver/ReadGemm.h"
#include "Driver/TileSource.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tile::driver {

frontend::TileChoices commonTile() {
  return {.blockM = 128, .blockN = 128, .blockK = 64, .groupM = 8, .numWarps = 8, .numStages = 3};
}

KernelOp InspectedKernel::kernel() {
  return *module->getOps<KernelOp>().begin();
}

static std::unique_ptr<MLIRContext> createInspectionContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

KernelInspector::KernelInspector(const target::GpuTarget &gpu) : gpu(gpu), context(createInspectionContext()) {}

KernelInspector::~KernelInspector() = default;

InspectedKernel KernelInspector::inspect(const CompilerOptions &options, const frontend::TileChoices &tiles) {
  InspectedKernel inspected;
  llvm::Expected<std::optional<frontend::SourceFile>> sidecar = readSidecar(options);
  if (!sidecar) {
    llvm::consumeError(sidecar.takeError());
    return inspected;
  }
  frontend::DiagnosticEngine engine;
  frontend::Module module = parseInput(options, *sidecar, engine);
  frontend::CompileRequest request = requestOf(options, gpu);
  request.describe = [&](const frontend::OpenGemm &gemm) { inspected.gemm = gemm; };
  request.choose = [&](const frontend::OpenGemm &) {
    inspected.isOpen = true;
    return tiles;
  };
  request.inspect = [&](KernelOp, const frontend::KernelText &text) { inspected.grid = text.grid; };
  OwningOpRef<ModuleOp> emitted = frontend::emitModule(*context, module, request, engine);
  if (emitted && !engine.hasErrors() && llvm::hasSingleElement(emitted->getOps<KernelOp>())) {
    cta::setTarget(*emitted, gpu);
    inspected.module = std::move(emitted);
    // Lower scaled dots to dots, because the inspection looks only at dots.
    GpuPipelineOptions pipeline = options.pipeline;
    pipeline.startAfter.clear();
    pipeline.stopAfter = "tile-lower-scaled-dots";
    inspected.module = runPipeline(pipeline, inspected);
  }
  return inspected;
}

frontend::KernelConfigurations KernelInspector::listConfigurations(const CompilerOptions &options) const {
  llvm::Expected<std::optional<frontend::SourceFile>> sidecar = readSidecar(options);
  if (!sidecar) {
    llvm::consumeError(sidecar.takeError());
    return {};
  }
  frontend::DiagnosticEngine engine;
  frontend::Module module = parseInput(options, *sidecar, engine);
  return frontend::listConfigurations(module, requestOf(options, gpu), engine);
}

/// Returns a copy of the kernel after the pipeline; null if a pass fails.
OwningOpRef<ModuleOp> KernelInspector::runPipeline(const GpuPipelineOptions &pipeline, InspectedKernel &inspected) {
  OwningOpRef<ModuleOp> copy = inspected.module->clone();
  ScopedDiagnosticHandler silence(context.get(), [](Diagnostic &) { return success(); });
  PassManager manager(context.get());
  manager.enableVerifier(false); // the actual compilation verifies
  bool isBuilt = succeeded(buildGpuPipeline(manager, pipeline, [](const std::string &) {}));
  return isBuilt && succeeded(manager.run(*copy)) ? std::move(copy) : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> KernelInspector::raise(const CompilerOptions &options, InspectedKernel &inspected) {
  GpuPipelineOptions pipeline = options.pipeline;
  pipeline.startAfter.clear();
  pipeline.stopAfter = "tile-raise-descriptors";
  return runPipeline(pipeline, inspected);
}

bool KernelInspector::usesTensorMapsForPointers(const CompilerOptions &options, InspectedKernel &inspected) {
  if (!gpu.has(target::Feature::Tma) || !abilitiesOf(options.pipeline, gpu).mapsOfPointers)
    return false;
  // Ignore descriptors whose bases are loaded from memory: the kernel itself builds their maps, so they never prevent a
  // launch.
  auto countMaps = [](ModuleOp module) {
    size_t number = 0;
    module->walk([&](MakeDescOp make) {
      Value base = make.getBase();
      while (auto offset = base.getDefiningOp<AddPtrOp>())
        base = offset.getPtr();
      number += isa<BlockArgument>(base);
    });
    return number;
  };
  OwningOpRef<ModuleOp> raised = raise(options, inspected);
  return raised && countMaps(*raised) > countMaps(*inspected.module);
}

std::optional<frontend::OpenGemm> KernelInspector::findGemm(const CompilerOptions &options,
                                                            InspectedKernel &inspected) {
  if (inspected.gemm)
    return inspected.gemm;
  OwningOpRef<ModuleOp> raised = raise(options, inspected);
  if (!raised || raised->getOps<KernelOp>().empty())
    return std::nullopt;
  return readOpenGemm(inspected.kernel(), *raised->getOps<KernelOp>().begin(), inspected.grid);
}

bool KernelInspector::lowers(const CompilerOptions &options, InspectedKernel &inspected) {
  GpuPipelineOptions pipeline = options.pipeline;
  pipeline.startAfter.clear();
  pipeline.stopAfter.clear();
  return bool(runPipeline(pipeline, inspected));
}

KernelFacts KernelInspector::findFacts(const CompilerOptions &options, const frontend::OpenGemm &gemm) {
  auto factsOf = [&](int64_t rows, int64_t columns) {
    frontend::TileChoices tiles = commonTile();
    tiles.blockM = rows;
    tiles.blockN = columns;
    InspectedKernel inspected = inspect(options, tiles);
    return inspected ? driver::findFacts(inspected.kernel(), rows, columns) : refusalOf(rows, columns);
  };
  constexpr int64_t odd = 144, even = 128;
  bool isGiven = gemm.given.blockM && gemm.given.blockN;
  KernelFacts facts = factsOf(even, even);
  if (!isGiven)
    facts = facts | factsOf(odd, even);
  if (facts.refusesOddRows)
    facts = facts | factsOf(even, odd);
  return facts;
}

} // namespace tile::driver
