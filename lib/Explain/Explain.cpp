// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles the kernel and collects the compiler's data.
#include "Explain/Explain.h"

#include "Codegen/CudaToolkit.h"
#include "Codegen/RunNvdisasm.h"
#include "Codegen/RunPtxas.h"
#include "Driver/KernelInspector.h"
#include "Explain/PassRecord.h"
#include "Runner/Run.h"
#include "Runtime/Artifact.h"
#include "Target/Card/CardTarget.h"

#include "mlir/IR/Diagnostics.h"

#include <filesystem>

namespace tile::explain {
namespace {

using driver::EmitKind;

/// Returns the time that the cost model estimates for the configuration chosen for these sizes, or 0 if the cost model
/// does not support the kernel.
double expectedTime(const driver::CompilerOptions &options, const target::GpuTarget &gpu) {
  if (options.language != driver::InputLanguage::Tile)
    return 0;
  driver::KernelInspector inspector(gpu);
  driver::InspectedKernel inspected = inspector.inspect(options, driver::commonTile());
  if (!inspected)
    return 0;
  const std::optional<frontend::OpenGemm> gemm = inspector.findGemm(options, inspected);
  if (!gemm)
    return 0;
  const driver::KernelFacts facts = inspector.findFacts(options, *gemm);
  const driver::ConfigChoice choice = driver::chooseConfig(options, gpu, *gemm, facts, nullptr);
  const std::vector<target::GemmEstimate> ranked =
      target::rankGemmConfigs(gpu, driver::problemOf(options, gpu, *gemm, facts), driver::givenChoices(choice.tiles));
  return ranked.empty() ? 0 : ranked.front().microseconds;
}

/// Returns the absolute path of the input, as it appears in the front end's locations.
std::string nameInLocations(const std::string &input) {
  if (input == "-")
    return "<stdin>";
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(input, failed);
  return failed ? input : path.lexically_normal().string();
}

/// Assembles the GPU code again with line tables and disassembles it. Returns no lines if the toolkit has no
/// disassembler, or if its disassembler is older than the assembler.
MarkedText disassemble(const driver::CompilerOptions &options, const target::GpuTarget &gpu,
                       const driver::Compilation::Assembly &assembly, const std::string &sourceFile) {
  MarkedText marked;
  const std::optional<std::string> ptxas = codegen::findPtxas(options.toolkit);
  const std::optional<std::string> nvdisasm = codegen::findNvdisasm(options.toolkit);
  if (!ptxas || !nvdisasm || assembly.ptx.empty())
    return marked;
  llvm::Expected<codegen::Assembled> assembled =
      codegen::runPtxas(*ptxas, assembly.ptx, gpu, {.lineTables = true, .level = assembly.level});
  if (!assembled) {
    llvm::consumeError(assembled.takeError());
    return marked;
  }
  llvm::Expected<std::vector<codegen::SassLine>> lines = codegen::runNvdisasm(*nvdisasm, assembled->cubin);
  if (!lines) {
    llvm::consumeError(lines.takeError());
    return marked;
  }
  for (codegen::SassLine &line : *lines) {
    marked.source.push_back(llvm::StringRef(line.file).ends_with(sourceFile) ? line.line : 0);
    marked.lines.push_back(std::move(line.text));
  }
  return marked;
}

} // namespace

std::optional<int> explain(const ExplainRequest &request, llvm::raw_ostream &errors, Explanation &made) {
  driver::CompilerOptions options = request.compiler;
  // Register counts require ptxas.
  options.emit = codegen::findPtxas(options.toolkit) ? EmitKind::Cubin : EmitKind::Ptx;
  PassRecord passes(nameInLocations(options.input));
  driver::Compilation compilation(options, errors);
  compilation.watch(passes);
  const bool compiled = compilation.run();
  compilation.printDiagnostics();
  if (!compiled)
    return int(compilation.outcome());
  const std::string &bytes = compilation.result();
  runtime::Result<runtime::Artifact> artifact =
      runtime::readArtifact({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  if (!artifact)
    return runner::reportFailure(request.run, artifact.error());

  const target::GpuTarget &gpu = *target::findTarget(options.target, options.card);
  WatchedRun watched;
  std::string whyNotRun = request.whyNotRun;
  if (whyNotRun.empty())
    if (runtime::Status status = simulate(request.run, *artifact, gpu, watched); !status) {
      if (!request.run.arguments.empty() && !(request.run.limit && request.run.limit->isOver()))
        return runner::reportFailure(request.run, status.error());
      whyNotRun = status.error().message;
    }
  Evidence evidence{.gpu = gpu, .manifest = artifact->manifest, .compiler = passes.facts()};
  evidence.sourceText = options.inputText;
  evidence.multiprocessors = options.numSms ? options.numSms : gpu.numSms;
  evidence.ptxasWarnings = compilation.assembly().warnings;
  if (runtime::Result<std::string> ptx = runtime::findPtx(*artifact))
    evidence.ptx = std::move(*ptx);
  evidence.sass = disassemble(options, gpu, compilation.assembly(), evidence.manifest.sourceFile);
  evidence.expectedMicroseconds = expectedTime(options, gpu);
  made = describe(std::move(evidence), watched, request.run, whyNotRun);
  return std::nullopt;
}

} // namespace tile::explain
