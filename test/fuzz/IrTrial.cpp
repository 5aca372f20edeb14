// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs mutants through passes.
#include "fuzz/IrTrial.h"
#include "fuzz/Isolation.h"

#include "Analysis/KernelForm.h"
#include "Pipeline/GpuPipeline.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;

void Counters::print(llvm::raw_ostream &os) const {
  os << "tile-fuzz-ir: " << mutants << " mutants, " << verified << " of them verify; of the passes on these " << passed
     << " succeed and " << rejected << " end with an error\n";
}

std::string PassChoice::print() const {
  return llvm::join(names, " ");
}

DialectRegistry tile::fuzz::trialDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

[[noreturn]] static void die(const llvm::Twine &what) {
  llvm::errs() << "finding: " << what << '\n';
  abort();
}

/// Names passes: if the pipeline runs a pass several times, the second run is "cse#2".
static std::string stepName(ArrayRef<PipelineStep> steps, size_t index) {
  size_t earlier =
      llvm::count_if(steps.take_front(index), [&](const PipelineStep &step) { return step.name == steps[index].name; });
  return steps[index].name + (earlier ? "#" + std::to_string(earlier + 1) : "");
}

static const PipelineStep *findStep(ArrayRef<PipelineStep> steps, const std::string &name) {
  for (size_t index = 0; index < steps.size(); ++index)
    if (stepName(steps, index) == name)
      return &steps[index];
  return nullptr;
}

void tile::fuzz::runPasses(ModuleOp module, const PassChoice &passes, Counters *counters) {
  unsigned errors = 0;
  ScopedDiagnosticHandler counter(module.getContext(), [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  std::vector<PipelineStep> steps = gpuPipelineSteps({});
  bool isTrusted = false;
  for (const std::string &name : passes.names) {
    const PipelineStep *step = findStep(steps, name);
    if (!step)
      die("there is no pass " + name);
    std::unique_ptr<Pass> pass = step->create();
    std::optional<Form> phase;
    if (auto *contract = dynamic_cast<FormContract *>(pass.get())) {
      if (std::exchange(isTrusted, true))
        contract->trustInput();
      phase = contract->getEnsuredPhase();
    }
    PassManager manager(module.getContext());
    manager.enableVerifier(false);
    if (step->onKernel)
      manager.addNestedPass<KernelOp>(std::move(pass));
    else
      manager.addPass(std::move(pass));
    if (phase) // like the check of the pipeline
      manager.addNestedPass<KernelOp>(createTileVerifyPhase({nameOf(*phase).str()}));
    bool passed = succeeded(manager.run(module));
    if (counters)
      ++(passed ? counters->passed : counters->rejected);
    if (!passed && errors == 0)
      die(name + " fails without an error");
    if (!passed)
      return;
    if (failed(verify(module)))
      die(name + " leaves what does not verify");
  }
}

Trial::Trial(const IrBases &bases, uint64_t seed, uint64_t batch)
    : bases(bases), seed(seed), batch(batch), context(trialDialects(), MLIRContext::Threading::DISABLED),
      silence(&context, [](Diagnostic &) { return success(); }) {
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  IrMutator chance(seed * 0x9e3779b97f4a7c15 + batch);
  constexpr unsigned maxTries = 6; // some kernels require definitions, and some IR files test the verifier
  for (unsigned tries = 0; tries < maxTries && !base.module; ++tries) {
    startClock();
    base = bases.make(context, chance);
    if (base.module && failed(verify(*base.module)))
      base.module = {};
  }
  if (base.module)
    llvm::raw_string_ostream(baseText) << *base.module;
}

PassChoice Trial::choosePasses(IrMutator &chance) const {
  std::vector<PipelineStep> steps = gpuPipelineSteps({});
  // The last two steps are passes of upstream.
  size_t count = steps.size() - 2;
  // Mostly chooses a near pass, whose requirements the mutant satisfies.
  size_t first = chance.oneIn(3) ? chance.below(count) : std::min(count - 1, base.step + chance.below(4));
  size_t more = chance.oneIn(2) ? 0 : chance.below(12);
  PassChoice choice;
  for (size_t step = first; step < count && step <= first + more; ++step)
    choice.names.push_back(stepName(steps, step));
  return choice;
}

OwningOpRef<ModuleOp> Trial::makeMutant(uint64_t number, PassChoice &passes, std::string *text) {
  IrMutator mutator((seed * 0x9e3779b97f4a7c15 + batch) * 0x2545f4914f6cdd1d + number + 1);
  passes = choosePasses(mutator);
  size_t changes = 1 + mutator.below(mutator.oneIn(3) ? 6 : 2);
  if (mutator.oneIn(5)) {
    std::string mutant = baseText;
    for (size_t change = 0; change < changes; ++change)
      mutant = mutator.mutateText(mutant, bases.someText(mutator));
    if (text) {
      *text = mutant;
      return {};
    }
    return parseSourceString<ModuleOp>(mutant, ParserConfig(&context, /*verifyAfterParse=*/false));
  }
  OwningOpRef<ModuleOp> mutant = base.module->clone();
  for (size_t change = 0, tries = 0; change < changes && tries < 20; ++tries)
    change += mutator.mutate(*mutant);
  if (text) {
    llvm::raw_string_ostream os(*text);
    mutant->print(os, OpPrintingFlags().printGenericOpForm());
  }
  return mutant;
}

/// Upstream's verifier of arith.select queries the shape of a scalar if only the condition is a tensor.
static bool breaksVerifier(ModuleOp module) {
  WalkResult result = module.walk([](arith::SelectOp select) {
    bool breaks = select->getNumOperands() == 3 && select->getNumResults() == 1 &&
                  isa<ShapedType>(select->getOperand(0).getType()) && !isa<ShapedType>(select->getResult(0).getType());
    return breaks ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void Trial::run(uint64_t number, Counters &counters) {
  PassChoice passes;
  OwningOpRef<ModuleOp> mutant = makeMutant(number, passes, nullptr);
  ++counters.mutants;
  if (!mutant)
    return;
  if (breaksVerifier(*mutant) || failed(verify(*mutant))) {
    // Such IR may use a value before its definition, which destructors do not allow.
    mutant->getOperation()->dropAllReferences();
    return;
  }
  ++counters.verified;
  runPasses(*mutant, passes, &counters);
}

std::string Trial::print(uint64_t number, PassChoice &passes) {
  std::string text;
  (void)makeMutant(number, passes, &text);
  return text;
}
