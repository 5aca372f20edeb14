// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec run kernel.tile M=512 --device=auto|cuda|sim|interp --check`: compiles and runs a kernel.
//
// The command line is split: options in tilec's table configure the compiler, and the runner parses the others exactly
// as tile-run does. If a file has several kernels and none is named, all kernels with launch directives run. If a
// kernel names others with `#: after`, these run before it, on the same buffers.
#include "RunCommand.h"

#include "CommandWords.h"
#include "Driver/Compilation.h"
#include "Driver/InterpreterDevice.h"
#include "Driver/TileSource.h"
#include "Lab/Bench/MeasureRun.h"
#include "Messages.h"
#include "Options.h"
#include "Runner/Device/CudaDevice.h"
#include "Runner/Run.h"
#include "Specialize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <CLI/CLI.hpp>
#include <set>

using namespace tile;
using driver::EmitKind;
using driver::Outcome;

namespace {

/// Returns the best target for the device, which is the architecture-specific one if it exists.
std::optional<std::string> targetOfDevice(const runner::CudaDeviceInfo &info) {
  std::string name = llvm::formatv("sm_{0}{1}", info.major, info.minor);
  if (target::findTarget(name + "a"))
    return name + "a";
  if (target::findTarget(name))
    return name;
  return std::nullopt;
}

/// Chooses between cuda and sim, and determines the target and the number of SMs to compile for: those of the GPU or,
/// for the simulator, the requested ones. Returns an exit code on failure.
std::optional<int> chooseDevice(runner::RunOptions &run, CommandLine &line) {
  line.compiler.numSms = std::max(0, run.multiprocessors);
  if (run.device == "interp" || run.device == "sim")
    return std::nullopt;
  if (run.device != "auto" && run.device != "cuda" && !llvm::StringRef(run.device).starts_with("cuda:"))
    return fail(line.compiler, Outcome::Usage,
                llvm::formatv("unknown device '{0}'; expected auto, cuda, cuda:N, sim or interp", run.device));
  runner::Result<std::vector<runner::CudaDeviceInfo>> devices = runner::listCudaDevices();
  if (run.device == "auto") {
    run.device = devices && !devices->empty() ? "cuda" : "sim";
    if (run.device == "sim")
      return std::nullopt;
  }
  if (!devices)
    return runner::reportFailure(run, devices.error());
  unsigned ordinal = 0;
  if (llvm::StringRef number = llvm::StringRef(run.device); number.consume_front("cuda:"))
    number.getAsInteger(10, ordinal);
  if (ordinal >= devices->size())
    return std::nullopt; // the runner reports that the device does not exist
  line.compiler.numSms = std::max(0, (*devices)[ordinal].multiprocessors);
  if (line.targetGiven)
    return std::nullopt;
  std::optional<std::string> target = targetOfDevice((*devices)[ordinal]);
  if (!target)
    return fail(line.compiler, Outcome::Rejected,
                llvm::formatv("device '{0}' has compute capability {1}.{2}; tilec supports the targets {3}",
                              (*devices)[ordinal].name, (*devices)[ordinal].major, (*devices)[ordinal].minor,
                              target::listTargets()));
  line.compiler.target = *target;
  return std::nullopt;
}

/// Options of the interpreter, as given on the command line.
struct InterpreterArguments {
  driver::InterpreterOptions options;
  std::vector<std::string> breakpoints;
  std::vector<std::string> printLines;

  void add(CLI::App &app) {
    const std::string group = "Interpreter";
    app.add_flag("--check-races,!--no-check-races", options.checkRaces,
                 "Fail where two programs write different values to one element, or one reads what another writes "
                 "(default: yes)")
        ->group(group);
    app.add_flag("--check-uninitialized,!--no-check-uninitialized", options.checkUninitialized,
                 "Fail where an element of an output is read before it is written (default: yes)")
        ->group(group);
    app.add_flag("--check-overflow", options.checkOverflow, "Fail where a sum or product of signed integers overflows")
        ->group(group);
    app.add_option("--print-values", printLines,
                   "Print the values that source lines assign (or else use) in every program, or where a condition "
                   "holds, as in --print-values 55,56 if 'pid==(1,0)'; see --break")
        ->type_name("LINE,... [if CONDITION]")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--break", breakpoints,
                   "Stop and read commands from standard input where a condition becomes true: pid==(1,0) and k>=3, "
                   "line==12; 'help' lists the commands")
        ->type_name("CONDITION")
        ->allow_extra_args(false)
        ->group(group);
  }

  /// Joins the words "55", "if", "pid==(1,0)" after --print-values into one value.
  static std::vector<std::string> joinConditions(llvm::ArrayRef<std::string> words) {
    std::vector<std::string> joined;
    for (size_t i = 0; i < words.size(); ++i) {
      bool isValue = i > 0 && words[i - 1] == "--print-values";
      bool hasValue = llvm::StringRef(words[i]).starts_with("--print-values=");
      joined.push_back(words[i]);
      if (!(isValue || hasValue) || i + 2 >= words.size() || words[i + 1] != "if")
        continue;
      joined.back() += " if " + words[i + 2];
      i += 2;
    }
    return joined;
  }

  /// Parses the options. Returns an exit code if they are invalid.
  std::optional<int> read(const CommandLine &line) {
    for (const std::string &text : breakpoints) {
      llvm::Expected<interp::Condition> condition = interp::Condition::parse(text);
      if (!condition)
        return fail(line.compiler, Outcome::Usage, "--break: " + toString(condition.takeError()));
      options.debug.breakpoints.push_back(std::move(*condition));
    }
    for (const std::string &text : printLines)
      if (std::optional<int> code = readPrintedLines(line, text))
        return code;
    if (!breakpoints.empty() && line.compiler.input == "-")
      return fail(line.compiler, Outcome::Usage,
                  "--break reads commands from standard input, so the kernel must be a file");
    return std::nullopt;
  }

  /// Parses "55,56" or "55 if pid==(1,0)".
  std::optional<int> readPrintedLines(const CommandLine &line, llvm::StringRef text) {
    auto [lines, conditionText] = text.split(" if ");
    std::optional<interp::Condition> condition;
    if (lines.size() != text.size()) {
      llvm::Expected<interp::Condition> parsed = interp::Condition::parse(conditionText);
      if (!parsed)
        return fail(line.compiler, Outcome::Usage, "--print-values: " + toString(parsed.takeError()));
      condition = std::move(*parsed);
    }
    for (llvm::StringRef word : llvm::split(lines, ',')) {
      unsigned number = 0;
      if (word.trim().getAsInteger(10, number))
        return fail(line.compiler, Outcome::Usage,
                    "--print-values expects lines, like 55 or 55,56, and 'if' with a condition, not '" + text + "'");
      options.debug.printLines.push_back({number, condition});
    }
    return std::nullopt;
  }

  /// Checks that the kernel has the requested lines and variables. Returns an exit code if it does not.
  std::optional<int> check(const CommandLine &line, const interp::DebugInfo &info) const {
    for (const interp::Condition &condition : options.debug.breakpoints)
      if (std::string mistake = condition.findMistake(info); !mistake.empty())
        return fail(line.compiler, Outcome::Usage, "--break: '" + condition.toString() + "': " + mistake);
    for (const interp::Debugger::PrintedLine &printed : options.debug.printLines) {
      if (std::string mistake = info.explainMissing(printed.line); !mistake.empty())
        return fail(line.compiler, Outcome::Usage, "--print-values: " + mistake);
      if (std::string mistake = printed.condition ? printed.condition->findMistake(info) : ""; !mistake.empty())
        return fail(line.compiler, Outcome::Usage,
                    "--print-values: '" + printed.condition->toString() + "': " + mistake);
    }
    return std::nullopt;
  }
};

/// A kernel that the interpreter has loaded.
struct LoadedKernel {
  std::unique_ptr<driver::Compilation> compilation;
  std::unique_ptr<runner::Device> device;
};

/// Loads a kernel for the interpreter. Returns an exit code on failure.
std::optional<int> loadKernel(const CommandLine &line, const InterpreterArguments &arguments, LoadedKernel &kernel) {
  kernel.compilation = std::make_unique<driver::Compilation>(line.compiler, messages());
  bool loaded = kernel.compilation->load();
  kernel.compilation->printDiagnostics();
  if (!loaded)
    return int(kernel.compilation->outcome());
  auto kernels = kernel.compilation->module().getOps<KernelOp>();
  if (kernels.empty())
    return fail(line.compiler, Outcome::Rejected,
                "the interpreter runs the tile dialect, but the input has already been lowered");
  interp::DebugInfo info = driver::makeDebugInfo(*kernels.begin(), kernel.compilation->text(), line.compiler.inputText);
  if (std::optional<int> failure = arguments.check(line, info))
    return *failure;
  kernel.device = driver::createInterpreterDevice(*kernels.begin(), arguments.options, std::move(info));
  return std::nullopt;
}

CommandLine lineFor(const CommandLine &line, const std::string &kernel) {
  CommandLine one = line;
  one.compiler.kernel = kernel;
  return one;
}

/// Runs a kernel in the interpreter. `before` lists the kernels that run before it.
int runInterpreter(const runner::RunOptions &run, CommandLine &line, const InterpreterArguments &arguments,
                   llvm::ArrayRef<std::string> before) {
  line.compiler.pipeline.instrument = false; // the interpreter has no clock
  line.compiler.debugInfo = arguments.options.needsDebugger();
  const std::unique_ptr<runner::HardLimit> enforced = runner::enforceLimit(run);
  std::vector<LoadedKernel> loaded(before.size() + 1);
  runner::EarlierKernels earlier;
  for (auto [name, kernel] : llvm::zip(before, loaded)) {
    if (std::optional<int> failure = loadKernel(lineFor(line, name), arguments, kernel))
      return *failure;
    const runtime::Manifest &manifest = kernel.compilation->manifest();
    if (runner::Status status =
            earlier.add(earlier.optionsFor(run, manifest, /*isLast=*/false), manifest, *kernel.device);
        !status)
      return runner::reportFailure(run, status.error());
  }
  if (before.empty())
    if (std::optional<int> failure = specialize(run, line))
      return *failure;
  if (std::optional<int> failure = loadKernel(line, arguments, loaded.back()))
    return *failure;
  const runtime::Manifest &manifest = loaded.back().compilation->manifest();
  return runner::runOnDevice(earlier.optionsFor(run, manifest, /*isLast=*/true), manifest, *loaded.back().device,
                             earlier);
}

/// Compiles for a GPU or the simulator. Returns an exit code on failure.
std::optional<int> makeArtifact(const runner::RunOptions &run, CommandLine line,
                                std::vector<runtime::Artifact> &artifacts) {
  // Without ptxas, the driver compiles the PTX.
  bool isPtx = run.device == "sim" || !codegen::findPtxas(line.compiler.toolkit);
  line.compiler.emit = isPtx ? EmitKind::Ptx : EmitKind::Cubin;
  driver::Compilation compilation(line.compiler, messages());
  bool compiled = compilation.run();
  compilation.printDiagnostics();
  if (!compiled)
    return int(compilation.outcome());
  llvm::ArrayRef<uint8_t> bytes = llvm::arrayRefFromStringRef(compilation.result());
  runtime::Result<runtime::Artifact> artifact = runtime::readArtifact({bytes.data(), bytes.size()});
  if (!artifact)
    return runner::reportFailure(run, artifact.error());
  artifacts.push_back(std::move(*artifact));
  return std::nullopt;
}

int runCompiled(const runner::RunOptions &run, CommandLine &line, llvm::ArrayRef<std::string> before) {
  std::unique_ptr<runner::HardLimit> enforced = runner::enforceLimitOnHost(run);
  if (before.empty())
    if (std::optional<int> failure = specialize(run, line))
      return *failure;
  std::vector<runtime::Artifact> artifacts;
  for (const std::string &name : before)
    if (std::optional<int> failure = makeArtifact(run, lineFor(line, name), artifacts))
      return *failure;
  if (std::optional<int> failure = makeArtifact(run, line, artifacts))
    return *failure;
  enforced.reset(); // the run has its own limit
  runner::RunOptions withSources = run;
  for (const std::string &folder : line.compiler.importPaths)
    withSources.sourceFolders.push_back(folder);
  return runner::runArtifact(withSources, artifacts.back(), std::span(artifacts).first(before.size()));
}

int runKernel(const runner::RunOptions &run, CommandLine &line, const InterpreterArguments &arguments,
              llvm::ArrayRef<std::string> before) {
  return run.device == "interp" ? runInterpreter(run, line, arguments, before) : runCompiled(run, line, before);
}

/// A kernel to run, and the kernels that run before it (`#: after`).
struct PlannedKernel {
  std::string name; ///< empty: the front end chooses
  std::vector<std::string> before;
};

/// Returns the kernel that the command line names or, if it names none, all kernels with launch directives except those
/// that run before another kernel.
std::vector<PlannedKernel> planKernels(const CommandLine &line, bool onlyOne) {
  frontend::DiagnosticEngine ignored; // errors are reported when the kernel is compiled
  frontend::Module module = driver::parseInput(line.compiler, /*sidecar=*/std::nullopt, ignored);
  std::vector<std::string> kernels = frontend::listLaunchedKernels(module);
  if (line.compiler.kernel.empty() && !kernels.empty() &&
      line.compiler.diagnosticsFormat == driver::DiagnosticsFormat::Text)
    for (const std::string &skipped : frontend::listUnlaunchedKernels(module))
      messages() << "tilec: note: kernel '" << skipped
                 << "' has no '#: grid' and does not run; choose it with --kernel=" << skipped << '\n';
  if (!line.compiler.kernel.empty() || onlyOne || kernels.size() < 2)
    return {{line.compiler.kernel, frontend::kernelsBefore(module, line.compiler.kernel)}};
  std::set<std::string> others;
  std::vector<PlannedKernel> planned;
  for (const std::string &kernel : kernels) {
    planned.push_back({kernel, frontend::kernelsBefore(module, kernel)});
    others.insert(planned.back().before.begin(), planned.back().before.end());
  }
  llvm::erase_if(planned, [&](const PlannedKernel &kernel) { return others.contains(kernel.name); });
  return planned;
}

} // namespace

int tile::runCommand(llvm::ArrayRef<const char *> words) {
  runner::RunOptions run;
  run.measure = runner::measureRun;
  run.program = "tilec";
  run.colours = colours();
  run.device = "auto";
  run.command = "tilec run " + llvm::join(words, " ");
  CLI::App app("", "tilec run");
  addRunOptions(app, run);
  InterpreterArguments interpreter;
  interpreter.add(app);

  CommandLine line;
  line.purpose = "tilec run: compiles a kernel and runs it";
  line.usage = "tilec run [options] <file.tile> NAME=VALUE...";
  ParseStatus status = parseCommandLine(words, /*run=*/true, line);
  if (status == ParseStatus::Help)
    llvm::outs() << app.help() << '\n';
  if (status != ParseStatus::Compile)
    return status == ParseStatus::Error ? int(Outcome::Usage) : int(Outcome::Success);
  if (std::optional<int> code = refuseOutputs(line, "tilec run"))
    return *code;
  try {
    std::vector<std::string> remaining = InterpreterArguments::joinConditions(line.remaining);
    std::reverse(remaining.begin(), remaining.end()); // CLI11 expects arguments in reverse order
    app.parse(remaining);
  } catch (const CLI::ParseError &error) {
    return fail(line.compiler, Outcome::Usage, llvm::Twine(error.what()) + "; see tilec run --help");
  }

  if (std::optional<int> code = interpreter.read(line))
    return *code;
  interpreter.options.limit = run.limit;
  if (std::optional<int> code = readInput(line))
    return *code;
  bool needsInterpreter = interpreter.options.needsDebugger() || interpreter.options.checkOverflow;
  if (run.device == "auto" && needsInterpreter)
    run.device = "interp";
  if (std::optional<int> code = chooseDevice(run, line))
    return *code;
  run.artifact = line.compiler.input;
  run.isCompiledHere = true;
  if (runner::Status status = runner::checkSimOptions(run); !status)
    return runner::reportFailure(run, status.error());
  if (needsInterpreter && run.device != "interp")
    return fail(line.compiler, Outcome::Usage, "--break, --print-values and --check-overflow need --device=interp");
  int failure = int(Outcome::Success);
  for (const PlannedKernel &kernel : planKernels(line, interpreter.options.needsDebugger())) {
    CommandLine one = lineFor(line, kernel.name);
    int code = runKernel(run, one, interpreter, kernel.before);
    failure = failure ? failure : code;
  }
  return failure;
}
