// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec explain kernel.tile M=512 … -o kernel.html`: compiles as `tilec run` does, runs in the simulator, and writes a
// report.
#include "ExplainCommand.h"

#include "CommandWords.h"
#include "Driver/OutputFile.h"
#include "Explain/Explain.h"
#include "Messages.h"
#include "Options.h"
#include "Runner/Inputs/Arguments.h"
#include "Runner/Run.h"
#include "Specialize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tile;
using driver::EmitKind;
using driver::Outcome;

namespace {

/// Compiles, and binds the arguments. Invalid arguments are an error; if there are no arguments, nothing runs.
std::optional<int> prepare(explain::ExplainRequest &request, CommandLine &line) {
  std::string messages;
  driver::CompilerOptions options = line.compiler;
  options.diagnosticsFormat = driver::DiagnosticsFormat::Text;
  llvm::raw_string_ostream stream(messages);
  driver::Compilation compilation(options, stream);
  bool lacksArguments = false;
  if (request.run.arguments.empty() && compilation.load()) {
    runner::Result<runner::Bindings> bindings = runner::Bindings::bind(compilation.manifest(), {}, /*numSms=*/1);
    lacksArguments = !bindings;
    if (lacksArguments)
      request.whyNotRun = bindings.error().message;
  }
  if (!lacksArguments)
    if (std::optional<int> code = specialize(request.run, line))
      return code;
  request.compiler = line.compiler;
  return std::nullopt;
}

std::optional<int> readWords(llvm::ArrayRef<const char *> words, CommandLine &line, runner::RunOptions &run,
                             std::string &trace) {
  CLI::App app("", "tilec explain");
  addKernelOptions(app, run);
  app.add_option("--sms", run.multiprocessors, "Multiprocessors of the simulated GPU (default: the target's)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--steps", run.steps, "Number of instructions after which a warp is considered hung");
  addTimeLimit(app, run);
  app.add_option("--trace", trace, "Write the modelled timeline for Chrome or Perfetto")->type_name("FILE.json");
  line.usage = "tilec explain [options] <file.tile> [NAME=VALUE...] [-o FILE.html | -o FILE.json]";
  if (std::optional<int> code = parseWords(words, app, line))
    return code;
  if (run.device != "auto" && run.device != "sim")
    return fail(line.compiler, Outcome::Usage, "tilec explain runs the kernel in the simulator; remove --device");
  return std::nullopt;
}

} // namespace

int tile::explainCommand(llvm::ArrayRef<const char *> words) {
  explain::ExplainRequest request;
  runner::RunOptions &run = request.run;
  run.program = "tilec";
  run.colours = colours();
  run.device = "auto";
  run.command = "tilec explain " + llvm::join(words, " ");
  CommandLine line;
  std::string trace;
  if (std::optional<int> code = readWords(words, line, run, trace))
    return *code;
  run.device = "sim";
  run.artifact = line.compiler.input;
  std::string output = line.output;
  if (output.empty())
    output = (line.compiler.input == "-" ? "kernel" : llvm::sys::path::stem(line.compiler.input)).str() + ".html";
  const bool isPage = llvm::StringRef(output).ends_with(".html");
  if (!isPage && output != "-" && !llvm::StringRef(output).ends_with(".json"))
    return fail(line.compiler, Outcome::Usage, "'" + output + "' is neither .html nor .json");
  if (std::optional<int> code = readInput(line))
    return *code;
  line.compiler.numSms = std::max(0, run.multiprocessors);
  line.compiler.advise = false;
  if (std::optional<int> code = prepare(request, line))
    return *code;

  explain::Explanation made;
  if (std::optional<int> code = explain::explain(request, messages(), made))
    return *code;
  if (!trace.empty() && made.trace.empty())
    return fail(line.compiler, Outcome::Usage, "--trace needs a run, but the kernel was not run: " + request.whyNotRun);
  const std::string title = llvm::sys::path::filename(line.compiler.input).str();
  llvm::Error error =
      driver::writeOutput(output, isPage ? explain::makePage(made.document, title) : made.document + "\n");
  if (!error && !trace.empty())
    error = driver::writeOutput(trace, made.trace);
  return error ? fail(line.compiler, Outcome::Environment, toString(std::move(error))) : int(Outcome::Success);
}
