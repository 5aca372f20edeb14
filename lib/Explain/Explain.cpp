// Compiles, runs, and puts the document together.
#include "Explain/Explain.h"

#include "Codegen/CudaToolkit.h"
#include "Codegen/RunNvdisasm.h"
#include "Codegen/RunPtxas.h"
#include "Driver/KernelInspector.h"
#include "Explain/Evidence.h"
#include "Explain/Pipeline.h"
#include "Runner/Execution.h"
#include "Runner/Run.h"
#include "Runtime/Artifact.h"

#include "mlir/IR/Diagnostics.h"

namespace tile::explain {
namespace {

using driver::EmitKind;

std::vector<BufferView> viewsOf(const runtime::Manifest &manifest, const runner::Bindings &bindings) {
  std::vector<BufferView> views;
  for (const runtime::Parameter &parameter : manifest.parameters) {
    if (!parameter.isPointer || !parameter.buffer)
      continue;
    BufferView view;
    view.name = parameter.name;
    view.elementBytes = std::max(1u, runtime::dataTypeSize(parameter.type));
    view.isOutput = parameter.buffer->role != runtime::BufferRole::Random;
    runtime::Result<std::vector<int64_t>> shape = bindings.evaluate(parameter.buffer->shape, manifest);
    runtime::Result<std::vector<int64_t>> strides = bindings.evaluate(parameter.buffer->strides, manifest);
    if (!shape || !strides)
      continue;             // the run says what is wrong
    if (strides->empty()) { // rows follow each other
      strides->assign(shape->size(), 1);
      for (size_t dim = shape->size(); dim-- > 1;)
        (*strides)[dim - 1] = (*strides)[dim] * (*shape)[dim];
    }
    view.setShape(std::move(*shape), std::move(*strides));
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<MapView> mapsOf(const runtime::Manifest &manifest, const runner::Bindings &bindings) {
  std::vector<MapView> maps;
  for (const runtime::TensorMapSpec &spec : manifest.tensorMaps) {
    runtime::Result<std::vector<int64_t>> shape = bindings.evaluate(spec.shape, manifest);
    runtime::Result<std::vector<int64_t>> strides = bindings.evaluate(spec.strides, manifest);
    MapView &map = maps.emplace_back();
    if (!shape || !strides)
      continue;
    map.shape = *shape;
    map.strides = *strides;
    map.strides.resize(map.shape.size(), 1);
  }
  return maps;
}

/// By the cost model, of the configuration that it takes for these sizes; 0 if the kernel is no product that it knows.
double expectedTime(const driver::CompilerOptions &options, const target::GpuTarget &gpu) {
  if (options.language != driver::InputLanguage::Tile)
    return 0;
  driver::KernelInspector inspector(gpu);
  driver::InspectedKernel inspected = inspector.inspect(options, driver::commonTile());
  if (!inspected)
    return 0;
  const std::optional<frontend::OpenProduct> product = inspector.findProduct(options, inspected);
  if (!product)
    return 0;
  const driver::BlockSizes sizes = inspector.findBlockSizes(options, *product);
  const driver::ConfigChoice choice = driver::chooseConfig(options, gpu, *product, sizes, nullptr);
  const std::vector<target::GemmEstimate> ranked = target::rankGemmConfigs(
      gpu, driver::problemOf(options, gpu, *product, sizes), driver::givenChoices(choice.tiles));
  return ranked.empty() ? 0 : ranked.front().microseconds;
}

/// A run in the simulator with all that it needs while it is looked at.
struct WatchedRun {
  std::optional<RunRecord> record;
  std::unique_ptr<runner::Device> device;
  std::array<int64_t, 3> programs = {1, 1, 1};
  std::string checks; ///< what did not agree with what the kernel declares
};

runtime::Status simulate(const ExplainRequest &request, const runtime::Artifact &artifact, const target::GpuTarget &gpu,
                         WatchedRun &watched) {
  const runtime::Manifest &manifest = artifact.manifest;
  const runner::RunOptions &run = request.run;
  runner::SimOptions sim;
  sim.multiprocessors = run.multiprocessors ? run.multiprocessors : int(gpu.numSms);
  sim.threads = 1; // the record is of one order
  sim.steps = run.steps;
  sim.checks = false;
  runtime::Result<runner::Bindings> bindings = runner::Bindings::bind(manifest, run.arguments, sim.multiprocessors);
  if (!bindings)
    return bindings.error();
  watched.record.emplace(manifest, viewsOf(manifest, *bindings), mapsOf(manifest, *bindings));
  sim.watcher = &*watched.record;
  runtime::Result<std::unique_ptr<runner::Device>> device = runner::openSimDevice(artifact, sim);
  if (!device)
    return device.error();
  watched.device = std::move(*device);
  runtime::Result<runner::Execution> execution = runner::Execution::prepare(run, manifest, *watched.device);
  if (!execution)
    return execution.error();
  watched.programs = execution->launchGrid();
  runner::RunReport report = runner::startReport(*execution, *watched.device, run.artifact);
  return execution->run(report);
}

/// The code of the GPU, assembled once more with line tables; empty where the toolkit has no disassembler, or an older
/// one than the assembler.
MarkedText disassemble(const driver::CompilerOptions &options, const target::GpuTarget &gpu,
                       const driver::Compilation::Assembly &assembly, const std::string &sourceFile) {
  MarkedText marked;
  const std::optional<std::string> ptxas = codegen::findPtxas(options.toolkit);
  const std::optional<std::string> nvdisasm = codegen::findNvdisasm(options.toolkit);
  if (!ptxas || !nvdisasm || assembly.ptx.empty())
    return marked;
  llvm::Expected<codegen::Assembled> assembled = codegen::runPtxas(*ptxas, assembly.ptx, gpu, {.lineTables = true});
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

uint32_t findMainFile(const sim::Module &module, const std::string &name) {
  for (uint32_t i = 1; i < module.files.size(); ++i)
    if (module.files[i] == name)
      return i;
  return 1;
}

Json makeDocument(const Evidence &evidence, const std::string &arguments, const std::string &whyNotRun) {
  Json document = {{"schema", 1},
                   {"kernel", evidence.manifest.kernel},
                   {"target", evidence.manifest.target},
                   {"device", evidence.gpu.deviceName},
                   {"compiler", evidence.manifest.compiler},
                   {"arguments", arguments},
                   {"simulated", evidence.run != nullptr},
                   {"findings", Json::array()}};
  if (!evidence.run)
    document["why_not_simulated"] = whyNotRun;
  document["source"] = describeSource(evidence);
  document["code"] = describeCode(evidence);
  document["grid"] = describeGrid(evidence);
  document["layouts"] = describeLayouts(evidence);
  document["memory"] = describeMemory(evidence);
  document["pipeline"] = describePipeline(evidence);
  document["resources"] = describeResources(evidence);
  document["passes"] = describePasses(evidence);
  document["findings"] = describeFindings(evidence, document);
  return document;
}

} // namespace

std::optional<int> explain(const ExplainRequest &request, llvm::raw_ostream &errors, Explanation &made) {
  driver::CompilerOptions options = request.compiler;
  // Registers are known only where ptxas is.
  options.emit = codegen::findPtxas(options.toolkit) ? EmitKind::Cubin : EmitKind::Ptx;
  PassRecord passes(options.input == "-" ? "<stdin>" : options.input);
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

  const target::GpuTarget &gpu = *target::findTarget(options.pipeline.target);
  WatchedRun watched;
  std::string whyNotRun = request.whyNotRun;
  if (whyNotRun.empty())
    if (runtime::Status status = simulate(request, *artifact, gpu, watched); !status) {
      if (!request.run.arguments.empty())
        return runner::reportFailure(request.run, status.error());
      whyNotRun = status.error().message;
    }
  const bool hasRun = whyNotRun.empty() && watched.record && watched.record->function();
  if (!hasRun && whyNotRun.empty())
    whyNotRun = "the grid is empty";
  Evidence evidence{.options = options,
                    .gpu = gpu,
                    .manifest = artifact->manifest,
                    .ptxasWarnings = compilation.assembly().warnings,
                    .passes = passes};
  if (runtime::Result<std::string> ptx = runtime::findPtx(*artifact))
    evidence.ptx = std::move(*ptx);
  evidence.sass = disassemble(options, gpu, compilation.assembly(), evidence.manifest.sourceFile);
  evidence.programs = watched.programs;
  evidence.expectedMicroseconds = expectedTime(options, gpu);
  std::string arguments;
  if (hasRun) {
    evidence.run = &*watched.record;
    evidence.mainFile = findMainFile(*watched.record->module(), evidence.manifest.sourceFile);
    evidence.timeline = replay(*watched.record, target::ratesOf(gpu), evidence.mainFile);
    if (runtime::Result<runner::Bindings> bindings =
            runner::Bindings::bind(evidence.manifest, request.run.arguments, int(gpu.numSms)))
      arguments = bindings->summary(evidence.manifest);
    made.trace = makeTrace(evidence);
  }
  made.document = makeDocument(evidence, arguments, whyNotRun).dump(-1, ' ', false, Json::error_handler_t::replace);
  return std::nullopt;
}

} // namespace tile::explain
