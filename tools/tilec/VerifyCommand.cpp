// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec verify kernel.tile`: verifies each kernel with launch directives, with each set of constants that an artifact
// of the kernel would contain: values of -D, configurations, and block sizes that the compiler chooses.
#include "VerifyCommand.h"

#include "CommandWords.h"
#include "Driver/Compilation.h"
#include "Driver/DiagnosticLog.h"
#include "Driver/OutputFile.h"
#include "Messages.h"
#include "Options.h"
#include "SameAs.h"
#include "Target/Card/CardTarget.h"
#include "Verify/Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tile;
using driver::Outcome;

namespace {

constexpr int exitUnknown = 6; // with --strict

struct VerifyRequest {
  CommandLine line;
  verify::Options options;
  std::optional<double> seconds;
  SameAsOptions sameAs;
  std::string sarif; ///< file for the findings that are not proofs; empty: none
  bool isStrict = false, isJson = false;
};

std::optional<int> readWords(llvm::ArrayRef<const char *> words, VerifyRequest &request) {
  CLI::App app("", "tilec verify");
  app.add_option("--time-limit", request.seconds,
                 "Seconds for each set of constants (default: 20), or for a comparison (default: 60)")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-size", request.options.largest,
                 "Largest value of 32-bit parameters (default: 2147418112, 2^31 - 65536, so that sizes can be rounded "
                 "up to blocks)")
      ->check(CLI::Range(int64_t(1), int64_t(2147483647)));
  app.add_option("--max-elements", request.options.maxElements,
                 "Largest number of elements of a buffer (default: what the memory of a GPU holds); with 2147483647, "
                 "32-bit offsets into buffers do not overflow")
      ->check(CLI::PositiveNumber);
  app.add_flag("--strict", request.isStrict, "Exit with code 6 if an answer is unknown");
  app.add_flag("--json", request.isJson, "Print a JSON document");
  app.add_option("--sarif", request.sarif,
                 "Write counterexamples (errors), unknown answers (warnings) and conditions (notes) as SARIF 2.1.0")
      ->type_name("FILE");
  addSameAsOptions(app, request.sameAs);
  CommandLine &line = request.line;
  line.takesVariants = true;
  line.purpose = "tilec verify: proves that the accesses of a kernel are in bounds, or finds counterexamples";
  line.usage = "tilec verify [options] <file.tile>";
  return parseWords(words, app, line);
}

/// Returns the options with each combination of the values of -D.
std::vector<driver::CompilerOptions> combineAlternatives(driver::CompilerOptions options) {
  std::vector<driver::CompilerOptions> all;
  const auto alternatives = std::move(options.alternatives);
  options.alternatives.clear();
  all.push_back(std::move(options));
  for (const auto &[name, values] : alternatives)
    for (size_t i = 0, count = all.size(); i < count; ++i)
      for (const std::string &value : values) {
        all.push_back(all[i]);
        all.back().definitions[name] = value;
      }
  return all;
}

/// A set of constants to verify, with a text that names it.
struct Case {
  driver::CompilerOptions options;
  std::string name;
};

std::string nameOf(const driver::CompilerOptions &options) {
  std::string name;
  for (const auto &[parameter, value] : options.definitions)
    name += " " + parameter + "=" + value;
  auto add = [&](const char *parameter, std::optional<int64_t> value) {
    if (value)
      name += llvm::formatv(" {0}={1}", parameter, *value);
  };
  if (options.tiles) {
    add("BLOCK_M", options.tiles->blockM);
    add("BLOCK_N", options.tiles->blockN);
    add("BLOCK_K", options.tiles->blockK);
  }
  return name;
}

/// Returns the cases of a kernel. Drops the assumptions of variants: the general variant makes none and accepts every
/// launch that another variant accepts.
std::vector<Case> listCases(const CommandLine &line) {
  std::vector<Case> cases;
  std::set<std::string> names;
  const target::GpuTarget *gpu = target::findTarget(line.compiler.target, line.compiler.card);
  for (driver::CompilerOptions &base : combineAlternatives(line.compiler)) {
    if (!gpu) {
      cases.push_back({base, nameOf(base)});
      continue;
    }
    for (const driver::VariantPlan &plan : driver::planVariants(base, *gpu, line.variants.mode).plans) {
      driver::CompilerOptions options = base;
      for (const auto &[name, value] : plan.definitions)
        options.definitions[name] = value;
      if (plan.tiles)
        options.tiles = plan.tiles;
      if (std::string name = nameOf(options); names.insert(name).second)
        cases.push_back({std::move(options), std::move(name)});
    }
  }
  return cases;
}

/// Replaces the absolute path of the input in a position by the path that the user gave.
void shortenPosition(verify::Finding &finding, llvm::StringRef input) {
  llvm::SmallString<256> whole;
  llvm::StringRef position = finding.position;
  if (!llvm::sys::fs::real_path(input, whole) && position.consume_front(whole))
    finding.position = (input + position).str();
}

class Command {
public:
  Command(VerifyRequest &request, verify::Solver &solver) : request(request), solver(solver) {}

  int run(const std::string &kernel) {
    CommandLine line = request.line;
    if (!kernel.empty())
      line.compiler.kernel = kernel;
    for (const Case &one : listCases(line))
      if (int code = verifyCase(one))
        return code;
    return 0;
  }

  int finish() {
    if (request.isJson)
      llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(document)));
    if (!request.sarif.empty())
      if (llvm::Error error = driver::writeOutput(request.sarif, log.print(driver::DiagnosticsFormat::Sarif)))
        return fail(request.line.compiler, Outcome::Environment, toString(std::move(error)));
    return isRefuted ? int(Outcome::Rejected) : request.isStrict && isUnknown ? exitUnknown : int(Outcome::Success);
  }

private:
  int verifyCase(const Case &one) {
    driver::Compilation compilation(one.options, messages());
    const bool isLoaded = compilation.load();
    if (!isLoaded || !hasReported)
      compilation.printDiagnostics();
    if (!isLoaded)
      return int(compilation.outcome());
    hasReported = true;
    auto kernels = compilation.module().getOps<KernelOp>();
    if (kernels.empty())
      return fail(one.options, Outcome::Rejected, "the input has already been lowered; tilec verify needs the source");
    KernelOp kernel = *kernels.begin();
    verify::Report report = verify::verify(kernel, compilation.manifest(), solver, request.options);
    for (auto *findings : {&report.accesses, &report.conditions})
      for (verify::Finding &finding : *findings)
        shortenPosition(finding, one.options.input);
    isRefuted |= report.isRefuted();
    isUnknown |= report.count(verify::Answer::Unknown) > 0;
    for (const verify::Finding &finding : report.conditions)
      isUnknown |= finding.answer == verify::Answer::Unknown;
    for (const auto *findings : {&report.accesses, &report.conditions})
      for (const verify::Finding &finding : *findings)
        record(finding);
    const std::string kernelName = kernel.getSymName().str();
    if (request.isJson) {
      llvm::json::Object entry = toJson(report);
      entry["kernel"] = kernelName;
      entry["constants"] = llvm::StringRef(one.name).trim().str();
      document.push_back(std::move(entry));
      return 0;
    }
    // Print each finding once, because further cases usually have the same findings.
    for (const auto *findings : {&report.accesses, &report.conditions})
      for (const verify::Finding &finding : *findings)
        if (std::string text = verify::toLine(finding); printed.insert(text).second)
          llvm::outs() << text << '\n';
    llvm::outs() << kernelName << one.name << ": " << verify::summarize(report) << '\n';
    llvm::outs().flush();
    return 0;
  }

  /// Adds a finding to the log unless it is a proof or the log already contains it.
  void record(const verify::Finding &finding) {
    using Severity = mlir::DiagnosticSeverity;
    const std::string text = verify::toLine(finding);
    if (finding.answer == verify::Answer::Proven || !recorded.insert(text).second)
      return;
    const Severity severity = finding.answer == verify::Answer::Refuted   ? Severity::Error
                              : finding.answer == verify::Answer::Unknown ? Severity::Warning
                                                                          : Severity::Remark;
    auto [start, column] = llvm::StringRef(finding.position).rsplit(':');
    auto [file, line] = start.rsplit(':');
    unsigned lineNumber = 0, columnNumber = 0;
    mlir::Location location = mlir::UnknownLoc::get(&context);
    if (!line.getAsInteger(10, lineNumber) && !column.getAsInteger(10, columnNumber))
      location = mlir::FileLineColLoc::get(&context, file, lineNumber, columnNumber);
    mlir::Diagnostic diagnostic(location, severity);
    llvm::StringRef message = text;
    message.consume_front(finding.position + ": ");
    diagnostic << message;
    log.add(diagnostic);
  }

  VerifyRequest &request;
  verify::Solver &solver;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED}; ///< MLIR context of the log's positions
  driver::DiagnosticLog log;
  std::set<std::string> recorded;
  llvm::json::Array document;
  std::set<std::string> printed;
  bool isRefuted = false, isUnknown = false, hasReported = false;
};

} // namespace

int tile::verifyCommand(llvm::ArrayRef<const char *> words) {
  VerifyRequest request;
  CommandLine &line = request.line;
  if (std::optional<int> code = readWords(words, request))
    return *code;
  if (std::optional<int> code = refuseOutputs(line, "tilec verify"))
    return *code;
  if (std::optional<int> code = readInput(line))
    return *code;
  line.compiler.emit = driver::EmitKind::Tile;
  if (!request.sameAs.file.empty()) {
    if (request.seconds)
      request.sameAs.agreement.run.limit.emplace(*request.seconds);
    return compareSources(line, request.sameAs, words, request.isJson, request.isStrict);
  }
  request.options.seconds = request.seconds.value_or(request.options.seconds);
  llvm::Expected<std::unique_ptr<verify::Solver>> solver = verify::Solver::load();
  if (!solver)
    return fail(line.compiler, Outcome::Environment, toString(solver.takeError()));
  Command command(request, **solver);
  for (const std::string &kernel : listSelectedKernels(line))
    if (int code = command.run(kernel))
      return code;
  return command.finish();
}
