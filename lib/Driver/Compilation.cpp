// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler driver. All results stay in memory and the tool writes them, so an error leaves no file behind.
#include "Driver/Compilation.h"

#include "Analysis/SummationOrder.h"
#include "Codegen/EmitHeader.h"
#include "Codegen/EmitManifest.h"
#include "Codegen/EmitPtx.h"
#include "Codegen/RunPtxas.h"
#include "Codegen/Subprocess.h"
#include "Codegen/TranslateToLlvm.h"
#include "Cta/CtaDialect.h"
#include "Driver/Instrumentation.h"
#include "Driver/Version.h"
#include "Pipeline/LeastMemory.h"
#include "Runtime/ElfSection.h"
#include "Target/Card/CardTarget.h"
#include "Target/TimeRecords.h"
#include "Tile/TileDialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using llvm::formatv;

namespace tile::driver {
namespace {

std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  // One kernel is too little work to pay for starting MLIR's thread pool.
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false); // the source line says more than a page of IR
  return context;
}

std::string hashOf(StringRef text) {
  std::array<uint8_t, 32> hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "sha256:" + llvm::toHex(hash, /*LowerCase=*/true);
}

runtime::Bytes bytesOf(StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace

Compilation::Compilation(CompilerOptions options, llvm::raw_ostream &errors)
    : options(std::move(options)), errors(errors), context(createContext()) {
  std::string name = this->options.input == "-" ? "<stdin>" : this->options.input;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(this->options.inputText, name), llvm::SMLoc());
  if (isText())
    diagnostics = std::make_unique<SourceMgrDiagnosticHandler>(sources, context.get(), errors);
  else
    collector = std::make_unique<ScopedDiagnosticHandler>(context.get(), [this](Diagnostic &diagnostic) {
      log.add(diagnostic);
      return success();
    });
}

Compilation::~Compilation() = default;

void Compilation::note(StringRef message) {
  if (isText())
    errors << "tilec: note: " << message << '\n';
  else
    log.add("note", message);
}

bool Compilation::warn(frontend::Diag id, const std::vector<std::string> &arguments) {
  frontend::DiagnosticEngine engine;
  engine.setWarnings(options.warnings);
  engine.report(id, {}, arguments);
  if (engine.all().empty())
    return true;
  const frontend::Diagnostic &warning = engine.all().front();
  const bool isError = engine.hasErrors();
  const StringRef severity = isError ? "error" : "warning";
  if (isText())
    errors << "tilec: " << severity << ": " << warning.message << (isError ? " [-Werror,-W" : " [-W") << warning.name
           << "]\n";
  else
    log.add(severity, warning.message, warning.name);
  if (isError)
    state = Outcome::Rejected;
  return !isError;
}

void Compilation::warnOfPtxas(StringRef message) {
  if (isText())
    errors << "tilec: warning: ptxas: " << message << '\n';
  else
    log.add("warning", ("ptxas: " + message).str());
}

bool Compilation::fail(Outcome reason, const llvm::Twine &message) {
  state = reason;
  if (isText())
    errors << "tilec: error: " << message << '\n';
  else
    log.add("error", message.str());
  return false;
}

bool Compilation::fail(Outcome reason, llvm::Error error) {
  if (error.isA<codegen::EnvironmentError>())
    reason = Outcome::Environment;
  return fail(reason, toString(std::move(error)));
}

bool Compilation::isCancelled() {
  if (!options.cancelled || !*options.cancelled)
    return false;
  if (state != Outcome::Cancelled)
    fail(Outcome::Cancelled, "the compilation was cancelled");
  return true;
}

bool Compilation::run() {
  bool done = load() && !isCancelled();
  if (done && output.empty() && options.emit > EmitKind::Tile)
    done = lower() && !isCancelled();
  else if (done && output.empty())
    printModule();
  if (done && output.empty())
    done = generate();
  if (options.timePasses)
    timing.print(errors);
  noteSlowSteps();
  return done;
}

void Compilation::printDiagnostics() {
  if (!isText())
    errors << log.print(options.diagnosticsFormat);
}

bool Compilation::load() {
  gpu = target::findTarget(options.target, options.card);
  if (!gpu)
    return fail(Outcome::Usage,
                formatv("unknown target '{0}'; known targets are {1}", options.target, target::listTargets()));
  Timing::Scope scope(timing, "frontend");
  if (options.input != "-")
    files.push_back(options.input);
  if (!(options.language == InputLanguage::Tile ? loadTile() : loadMlir()))
    return false;
  if (!output.empty())
    return true;
  return selectKernel();
}

bool Compilation::loadMlir() {
  if (options.emit == EmitKind::Ast)
    return fail(Outcome::Usage, "an MLIR file has no syntax tree; --emit=ast needs a .tile file");
  if (options.emit == EmitKind::Configurations)
    return fail(Outcome::Usage, "an MLIR file has no configurations; --emit=configs needs a .tile file");
  moduleOp = parseSourceFile<ModuleOp>(sources, ParserConfig(context.get()));
  if (!moduleOp) {
    state = Outcome::Rejected;
    return false;
  }
  // Passes that have already run may have relied on features of that GPU.
  if (const target::GpuTarget *stated = cta::findStatedTarget(*moduleOp); stated && stated->name != gpu->name)
    return fail(Outcome::Usage, formatv("'{0}' was compiled for {1}, not for {2}; use --target={1}", options.input,
                                        stated->name, gpu->name));
  cta::setTarget(*moduleOp, *gpu);
  return true;
}

bool Compilation::selectKernel() {
  SmallVector<FunctionOpInterface> kernels;
  for (auto kernel : moduleOp->getOps<KernelOp>())
    kernels.push_back(kernel);
  if (kernels.empty())
    for (auto function : moduleOp->getOps<FunctionOpInterface>())
      if (codegen::isLoweredKernel(function))
        kernels.push_back(function);
  std::string names =
      llvm::join(llvm::map_range(kernels, [](FunctionOpInterface kernel) { return kernel.getName(); }), ", ");
  if (kernels.empty())
    return fail(Outcome::Rejected, formatv("'{0}' has no kernel", options.input));

  FunctionOpInterface chosen = kernels.front();
  // The front end has already chosen the kernel, and may have named an instance.
  if (!options.kernel.empty() && options.language == InputLanguage::Mlir) {
    auto found = llvm::find_if(kernels, [&](FunctionOpInterface kernel) { return kernel.getName() == options.kernel; });
    if (found == kernels.end())
      return fail(Outcome::Usage,
                  formatv("'{0}' has no kernel '{1}'; it has {2}", options.input, options.kernel, names));
    chosen = *found;
  } else if (kernels.size() > 1) {
    return fail(Outcome::Usage, formatv("'{0}' has {1} kernels: {2}; choose one with --kernel=NAME", options.input,
                                        kernels.size(), names));
  }
  for (FunctionOpInterface kernel : kernels)
    if (kernel != chosen)
      kernel.erase();

  if (auto kernel = dyn_cast<KernelOp>(*chosen))
    kernelOrder.program = printTileProgram(kernel);
  codegen::SourceInfo source{options.input == "-" ? "<stdin>" : sourcePaths().nameOf(options.input),
                             hashOf(options.inputText), compilerVersion};
  llvm::Expected<runtime::Manifest> described = codegen::describeKernel(chosen, source);
  if (!described)
    return fail(Outcome::Rejected, described.takeError());
  description = std::move(*described);
  if (options.pipeline.instrument && !isa<KernelOp>(chosen))
    return fail(Outcome::Usage, "--instrument needs a kernel that has not been lowered");
  if (options.pipeline.instrument && description.findParameter(target::timesName))
    return fail(Outcome::Usage,
                "--instrument adds a parameter 'tile_times', but the kernel already has one; rename it");
  if (options.pipeline.instrument)
    codegen::describeTimes(description);
  return true;
}

GpuPipelineOptions Compilation::pipelineOptions() const {
  GpuPipelineOptions pipeline = options.pipeline;
  if (options.emit == EmitKind::Cta && pipeline.stopAfter.empty())
    for (const PipelineStep &step : gpuPipelineSteps(pipeline))
      if (step.onKernel)
        pipeline.stopAfter = step.name; // the last assignment wins
  return pipeline;
}

/// Turns "'tile.dot' op needs ..." into "needs ...": users do not write MLIR operations.
static void dropOperationName(Diagnostic &diagnostic) {
  MutableArrayRef<DiagnosticArgument> arguments = diagnostic.getArguments();
  auto is = [&](size_t index, StringRef text) {
    return arguments[index].getKind() == DiagnosticArgument::DiagnosticArgumentKind::String &&
           arguments[index].getAsString() == text;
  };
  if (arguments.size() > 3 && is(0, "'") && is(2, "' op "))
    for (size_t part = 0; part < 3; ++part)
      arguments[part] = DiagnosticArgument(StringRef());
}

/// The pass that computes a kernel's shared memory usage.
static constexpr StringLiteral memoryPassName = "cta-allocate-shared";

bool Compilation::lower() {
  if (moduleOp->getOps<KernelOp>().empty()) { // the input was already lowered
    if (options.emit <= EmitKind::Nvvm)
      printModule();
    return true;
  }
  Timing::Scope scope(timing, "passes");
  moduleOp->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto block = dyn_cast<RankedTensorType>(type))
        largestBlock = std::max(largestBlock, block.getNumElements());
  });
  const GpuPipelineOptions pipeline = pipelineOptions();
  std::optional<GpuPipelineOptions> least = withLeastSharedMemory(pipeline);
  bool needsLess = false;
  if (!least || !mayReduceEffort)
    return runPasses(pipeline, Attempt::Only, needsLess);
  OwningOpRef<ModuleOp> input(moduleOp->clone());
  bool done = runPasses(pipeline, Attempt::First, needsLess);
  if (!needsLess)
    return done;
  moduleOp = std::move(input);
  if (options.advise)
    note(formatv("kernel '{0}' needs more shared memory for asynchronous copies than a CTA has on {1}; loads go "
                 "through registers instead, which is slower",
                 description.entry, gpu->name)
             .str());
  return runPasses(*least, Attempt::WithLess, needsLess);
}

/// Runs the passes. If `attempt` is `First` and the kernel needs too much shared memory, sets `needsLess` instead of
/// emitting an error.
bool Compilation::runPasses(const GpuPipelineOptions &pipeline, Attempt attempt, bool &needsLess) {
  PassManager manager(context.get());
  // Verify after each pass when the IR is shown, as tile-opt does. Otherwise verify in each phase and after the last
  // pass, which saves 0.005 of 0.25 s.
  bool isPrinted = options.emit <= EmitKind::Nvvm || !pipeline.stopAfter.empty();
  bool isShown = isPrinted || !options.dumpDirectory.empty() || options.printLayouts;
  manager.enableVerifier(isShown);
  bool wrongOption = false;
  if (failed(buildGpuPipeline(manager, pipeline, [&](const std::string &message) {
        wrongOption = true;
        fail(Outcome::Usage, message);
      })))
    return wrongOption ? false : fail(Outcome::Internal, "the pipeline cannot be built");

  std::string dumpError, layouts, currentPass;
  manager.addInstrumentation(createPassTracker(currentPass));
  manager.addInstrumentation(createPassTimer(timing));
  if (watcher)
    manager.addInstrumentation(createPassWatch(*watcher));
  manager.addInstrumentation(createLastFormReader([&](KernelOp kernel) {
    SummationOrder order = describeSummation(kernel);
    kernelOrder.steps = std::move(order.steps);
    kernelOrder.keys = std::move(order.keys);
    kernelOrder.isShared = order.isShared;
  }));
  if (options.printLayouts)
    manager.addInstrumentation(createLayoutPrinter(layouts));
  if (!options.dumpDirectory.empty())
    manager.addInstrumentation(createIrDumper(options.dumpDirectory, dumpError));

  // Passes explain their failures; a pass that fails silently is a compiler bug. Remarks are shown on request only.
  unsigned errorCount = 0;
  llvm::Regex wanted(options.remarks);
  DiagnosticEngine &engine = context->getDiagEngine();
  auto filter = engine.registerHandler([&](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (isError && attempt == Attempt::First && currentPass == memoryPassName)
      return needsLess = true, success();
    if (attempt == Attempt::WithLess && diagnostic.getSeverity() == DiagnosticSeverity::Warning)
      return success(); // already reported by the first attempt
    errorCount += isError;
    if (options.language == InputLanguage::Tile)
      dropOperationName(diagnostic);
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark) {
      if (watcher)
        watcher->remark(currentPass, diagnostic);
      if (options.remarks.empty() || !wanted.match(currentPass))
        return success(); // handled
      diagnostic << " [-Rpass=" << currentPass << "]";
    }
    return failure(); // fall through to the printing handler
  });
  if (options.cancelled) // skip the remaining passes
    context->registerActionHandler([this](llvm::function_ref<void()> act, const tracing::Action &action) {
      if (!llvm::isa<PassExecutionAction>(action) || !*options.cancelled)
        act();
    });
  bool passed = succeeded(manager.run(*moduleOp));
  if (isCancelled()) {
    engine.eraseHandler(filter);
    return false;
  }
  if (needsLess && attempt == Attempt::First) {
    engine.eraseHandler(filter);
    return false;
  }
  bool isValid = !passed || isShown || succeeded(verify(*moduleOp));
  engine.eraseHandler(filter);
  errors << layouts;
  if (!dumpError.empty())
    return fail(Outcome::Environment, dumpError);
  if (!passed)
    return errorCount ? (state = Outcome::Rejected, false)
                      : fail(Outcome::Internal, "internal error: a pass failed without a diagnostic");
  if (!isValid)
    return fail(Outcome::Internal, "internal error: the last pass produced invalid operations");
  if (isPrinted)
    printModule();
  return true;
}

void Compilation::printModule() {
  llvm::raw_string_ostream(output) << *moduleOp << '\n';
}

bool Compilation::generate() {
  if (llvm::Error error = codegen::describeLaunch(*moduleOp, *gpu, description))
    return fail(Outcome::Rejected, std::move(error));
  if (options.pipeline.instrument) // the number of warps is known from here on
    codegen::describeTimes(description);
  if (auto level = moduleOp->lookupSymbol(description.entry)->getAttrOfType<IntegerAttr>(ptxasLevelAttrName))
    assembled.level = level.getInt();
  llvmContext = std::make_unique<llvm::LLVMContext>();
  codegen::NvptxBackend backend(*gpu, options.pipeline.optLevel);
  std::unique_ptr<llvm::Module> llvmModule;
  {
    Timing::Scope scope(timing, "llvm");
    codegen::renameSources(*moduleOp, sourcePaths());
    if (llvm::Error error = codegen::addLineTables(*moduleOp))
      return fail(Outcome::Internal, std::move(error));
    auto translated = codegen::translateToLlvm(*moduleOp, *llvmContext);
    if (!translated)
      return fail(Outcome::Internal, translated.takeError());
    llvmModule = std::move(*translated);
    backend.prepare(*llvmModule);
    if (const std::vector<std::string> needed = codegen::functionsOfLibdevice(*llvmModule); !needed.empty()) {
      std::optional<std::string> library = codegen::findLibdevice(options.toolkit);
      if (!library)
        return fail(Outcome::Environment,
                    "the kernel uses functions of libdevice (" + llvm::join(needed, ", ") +
                        "), but nvvm/libdevice/libdevice.10.bc was not found; install the CUDA toolkit or give its "
                        "folder with --cuda-path=DIR");
      if (llvm::Error error = codegen::linkLibdevice(*llvmModule, *library))
        return fail(Outcome::Environment, std::move(error));
    }
    backend.optimize(*llvmModule);
  }
  if (isCancelled())
    return false;
  if (options.emit == EmitKind::Llvm) {
    llvm::raw_string_ostream(output) << *llvmModule;
    return true;
  }
  llvm::Expected<std::string> ptx = [&] {
    Timing::Scope scope(timing, "ptx");
    return backend.emitPtx(*llvmModule);
  }();
  if (!ptx)
    return fail(Outcome::Internal, ptx.takeError());
  return assemble(*ptx);
}

/// Records what determines the bits of the results.
void Compilation::describeOrder(StringRef ptx) {
  Timing::Scope scope(timing, "order");
  if (!kernelOrder.program.empty())
    kernelOrder.program += order::describeCall(description);
  description.order = order::recordOrder(kernelOrder, std::string_view(ptx), description.entry, gpu->name,
                                         order::findAssembler(assembled.image));
}

bool Compilation::assemble(const std::string &ptx) {
  if (options.emit == EmitKind::Ptx)
    return finish(ptx, ptx);
  if (isCancelled())
    return false;
  std::optional<std::string> ptxas = codegen::findPtxas(options.toolkit);
  if (!ptxas && options.emit == EmitKind::Manifest)
    return finish(ptx, ptx); // complete except for the register count
  if (!ptxas && options.toolkit.ptxas.empty() && options.takesPtx) {
    note("ptxas was not found: the kernel remains PTX, which the driver compiles when it loads the kernel");
    assembled.image = ptx;
    return finish(ptx, ptx);
  }
  if (!ptxas)
    return fail(Outcome::Environment,
                options.toolkit.ptxas.empty()
                    ? "cannot find ptxas in PATH or in the CUDA toolkit; install the toolkit, give --ptxas=FILE or "
                      "--cuda-path=DIR, or use --emit=ptx"
                    : formatv("cannot run ptxas at '{0}'", options.toolkit.ptxas).str());
  llvm::Expected<codegen::Assembled> made = [&] {
    Timing::Scope scope(timing, "ptxas");
    return codegen::runPtxas(*ptxas, ptx, *gpu,
                             {.cancelled = options.cancelled,
                              .level = assembled.level,
                              .dynamicShared = description.launch.sharedDynamic,
                              .residentCtas = options.residentCtas});
  }();
  if (isCancelled()) {
    llvm::consumeError(made.takeError());
    return false;
  }
  if (!made)
    return fail(Outcome::Internal, made.takeError());
  if (!StringRef(made->cubin)
           .starts_with("\x7f"
                        "ELF"))
    return fail(Outcome::Environment, formatv("'{0}' reported success, but wrote {1} bytes that are not a cubin",
                                              *ptxas, made->cubin.size()));
  for (const std::string &warning : made->report.warnings)
    warnOfPtxas(warning);
  if (const codegen::KernelResources *resources = made->report.find(description.entry)) {
    codegen::describeResources(*resources, *gpu, description);
    if (!warnOfSpills(*resources))
      return false;
  }
  description.format = "cubin";
  assembled.image = std::move(made->cubin);
  assembled.ptx = ptx;
  assembled.warnings = std::move(made->report.warnings);
  return finish(assembled.image, ptx);
}

bool Compilation::finish(StringRef artifact, StringRef ptx) {
  if (description.format.empty())
    description.format = "ptx";
  describeOrder(ptx);
  if (runtime::Status status = runtime::validate(description); !status)
    return fail(Outcome::Rejected, status.error().message);
  if (options.emit == EmitKind::Manifest) {
    output = runtime::toJson(description, 2) + "\n";
    return true;
  }
  std::string json = runtime::toJson(description);
  runtime::Result<std::string> described =
      description.format == "ptx"
          ? runtime::appendPtxManifest(artifact.str(), json)
          : runtime::appendManifestSection(bytesOf(artifact), json, options.keepsPtx() ? ptx : StringRef());
  if (!described)
    return fail(Outcome::Internal, described.error().message);
  output = options.emit == EmitKind::Header ? codegen::emitHeader({&description, 1}, *described, options.headerName)
                                            : std::move(*described);
  return true;
}

} // namespace tile::driver
