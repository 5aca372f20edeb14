// The kernel, by the front end -> promises, sizes -> plans.
#include "Driver/VariantPlan.h"

#include "Analysis/AccessPromises.h"
#include "Driver/TileSource.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace tile::driver {
namespace {

/// What a kernel says about itself when the front end has emitted it.
struct KernelFacts {
  bool isKnown = false;              ///< the front end takes it
  std::map<std::string, int> widest; ///< divisors with which all accesses are as wide as they can be
};

std::map<std::string, int> namesOf(KernelOp kernel, const Divisors &divisors) {
  std::map<std::string, int> named;
  for (auto [parameter, divisor] : divisors)
    named[kernel.getArgName(parameter)] = int(divisor);
  return named;
}

KernelFacts inspectKernel(const CompilerOptions &options, const target::GpuTarget &gpu) {
  KernelFacts facts;
  llvm::Expected<std::optional<frontend::SourceFile>> sidecar = readSidecar(options);
  if (!sidecar) {
    llvm::consumeError(sidecar.takeError());
    return facts;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  frontend::DiagnosticEngine engine;
  frontend::Module module = parseInput(options, *sidecar, engine);
  frontend::CompileRequest request = requestOf(options, gpu);
  request.choose = [](const frontend::OpenProduct &) { return frontend::TileChoices{64, 64, 64, 8, 4, 3}; };
  request.inspect = [&](KernelOp kernel, const frontend::KernelText &) {
    facts.isKnown = true;
    Widening widening{widestAccess, gpu.has(target::Feature::Tma)};
    facts.widest = namesOf(kernel, findDivisors(kernel, collectGlobalAccesses(kernel), widening));
  };
  OwningOpRef<ModuleOp> emitted = frontend::emitModule(context, module, request, engine);
  return facts;
}

} // namespace

VariantPlans planVariants(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode) {
  VariantPlans plans;
  plans.plans.push_back({.name = "general", .why = "nothing is promised"});
  if (mode == VariantMode::None || options.language == InputLanguage::Mlir)
    return plans;
  KernelFacts facts = inspectKernel(options, gpu);
  if (!facts.widest.empty())
    plans.plans.push_back({.name = "aligned", .assumptions = facts.widest, .why = "accesses of 16 bytes, or by TMA"});
  return plans;
}

CompilerOptions optionsOf(const CompilerOptions &options, const VariantPlan &plan) {
  CompilerOptions changed = options;
  for (const auto &[name, divisor] : plan.assumptions)
    changed.assumptions[name] = divisor;
  for (const auto &[name, value] : plan.definitions)
    changed.definitions[name] = value;
  if (plan.tiles)
    changed.tiles = plan.tiles;
  if (plan.numWarps)
    changed.numWarps = plan.numWarps;
  if (plan.numStages)
    changed.numStages = plan.numStages;
  llvm::append_range(changed.pipeline.disabled, plan.disabledPasses);
  // Plans say what promises would gain, and what was chosen why.
  changed.advise = changed.explainConfig = false;
  return changed;
}

} // namespace tile::driver
