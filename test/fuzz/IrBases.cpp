// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the front end and the pipeline up to some step.
#include "fuzz/IrBases.h"

#include "Cta/CtaDialect.h"
#include "Frontend/Frontend.h"
#include "Pipeline/GpuPipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;

std::string tile::fuzz::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void IrBases::addKernels(const std::string &path, const std::string &text) {
  static const std::regex header("(?:^|\n)@(?:tile.kernel|triton.jit)[^\n]*\n(?:[@#][^\n]*\n)*def ([A-Za-z0-9_]+)");
  for (std::sregex_iterator match(text.begin(), text.end(), header), end; match != end; ++match)
    kernels.push_back({path, (*match)[1], text});
}

bool IrBases::read(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (const auto &entry : std::filesystem::recursive_directory_iterator(path, error))
      if (entry.is_regular_file())
        files.push_back(entry.path());
  }
  // A number identifies the same mutant wherever the files are.
  std::sort(files.begin(), files.end());
  for (const std::string &file : files) {
    std::string text = readFile(file);
    if (file.ends_with(".tile"))
      addKernels(file, text);
    SmallVector<StringRef> parts;
    if (file.ends_with(".mlir"))
      StringRef(text).split(parts, "// -----");
    for (StringRef part : parts)
      texts.push_back(part.str());
  }
  if (kernels.empty() || texts.empty())
    llvm::errs() << "tile-fuzz-ir: give folders with .tile and .mlir files\n";
  return !kernels.empty() && !texts.empty();
}

static OwningOpRef<ModuleOp> compile(MLIRContext &context, const std::string &file, const std::string &name,
                                     const std::string &text, IrMutator &chance) {
  frontend::DiagnosticEngine diagnostics;
  frontend::CompileRequest request;
  request.kernelName = name;
  request.debug = chance.oneIn(8);
  if (chance.oneIn(4))
    request.numWarps = 1 << chance.below(4);
  if (chance.oneIn(4))
    request.numStages = 1 + chance.below(4);
  request.choose = [&](const frontend::OpenGemm &product) {
    frontend::TileChoices chosen = product.given;
    chosen.blockM = chosen.blockM.value_or(64);
    chosen.blockN = chosen.blockN.value_or(chance.oneIn(4) ? 96 : 64);
    chosen.blockK = chosen.blockK.value_or(32);
    chosen.groupM = chosen.groupM.value_or(8);
    chosen.numWarps = chosen.numWarps.value_or(4);
    chosen.numStages = chosen.numStages.value_or(3);
    return chosen;
  };
  // A fuzzer of passes has no time for large kernels.
  request.maxWork = 20000;
  frontend::Module module = frontend::parse({file, text}, diagnostics, /*defersErrors=*/true);
  if (diagnostics.hasErrors())
    return {};
  return frontend::emitModule(context, module, request, diagnostics);
}

Base IrBases::make(MLIRContext &context, IrMutator &chance) const {
  static constexpr const char *targets[] = {"sm_90a", "sm_90a", "sm_80", "sm_100a"};
  const target::GpuTarget &gpu = *target::findTarget(targets[chance.below(std::size(targets))]);
  Base base;
  std::vector<PipelineStep> steps = gpuPipelineSteps({});
  if (chance.oneIn(4)) {
    base.step = chance.below(steps.size());
    base.module = parseSourceString<ModuleOp>(someText(chance), &context);
    if (base.module && !cta::findStatedTarget(*base.module))
      cta::setTarget(*base.module, gpu);
    return base;
  }
  const Kernel &kernel = kernels[chance.below(kernels.size())];
  base.module = compile(context, kernel.file, kernel.name, kernel.text, chance);
  if (!base.module)
    return base;
  cta::setTarget(*base.module, gpu);
  // Mutants of the last, per-thread form would only test upstream's operations.
  size_t onKernels = llvm::count_if(steps, [](const PipelineStep &step) { return step.onKernel; });
  base.step = chance.below(onKernels + 1);
  size_t left = chance.oneIn(2) ? 0 : 1 + chance.below(6); // one in this many optimisations is skipped
  PassManager manager(&context);
  manager.enableVerifier(false);
  for (const PipelineStep &step : ArrayRef(steps).take_front(base.step)) {
    if (step.kind == PassKind::Optimisation && left != 0 && chance.oneIn(left))
      continue;
    if (step.onKernel)
      manager.addNestedPass<KernelOp>(step.create());
    else
      manager.addPass(step.create());
  }
  if (failed(manager.run(*base.module)))
    base.module = {};
  return base;
}
