// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the front end on a file whose options are unknown, and drops errors that only concern options.
//
// Kernels with launch directives are compiled first: with their parameter types or, if types are missing, as drafts
// without types. Then functions that no such kernel calls are compiled, so that undefined names are reported
// everywhere. In a function that does not parse, only syntax errors are reported, because many names would appear to be
// undefined.
#include "Driver/ChooseConfig.h"
#include "Driver/TileSource.h"
#include "LanguageServer/Document.h"
#include "Lint/Lint.h"

namespace tile::lsp {

using namespace frontend;

namespace {

struct Candidate {
  std::string name; // "host.kernel" for a function nested in host code
  const FunctionStmt *function;

  bool isDescribed() const { return !function->directives.grid.empty() || !function->directives.buffers.empty(); }
};

void collect(const Block &block, const std::string &prefix, std::vector<Candidate> &functions) {
  for (const Stmt *stmt : block) {
    if (const auto *function = as<FunctionStmt>(stmt))
      functions.push_back({prefix + function->name, function});
    if (const auto *host = as<HostStmt>(stmt))
      collect(host->body, prefix + host->name + ".", functions);
    if (const auto *conditional = as<IfStmt>(stmt)) {
      for (const IfStmt::Branch &branch : conditional->branches)
        collect(branch.body, prefix, functions);
      collect(conditional->elseBody, prefix, functions);
    }
  }
}

bool isSame(const Diagnostic &a, const Diagnostic &b) {
  return a.message == b.message && a.range.begin == b.range.begin && a.range.file == b.range.file;
}

SourceRange bodyOf(const FunctionStmt &function) {
  if (function.body.empty())
    return {};
  return {function.body.front()->range.begin, function.body.back()->range.end, function.range.file};
}

class Checker {
public:
  Checker(const Module &module, const driver::CompilerOptions &options, const target::GpuTarget &gpu,
          DiagnosticEngine &engine, ValueTable &values)
      : module(module), engine(engine), values(values), context(mlir::MLIRContext::Threading::DISABLED),
        request(driver::requestOf(options, gpu)) {
    loadDialects(context);
    request.isDraft = true;
    request.observe = [&](const ObservedValue &value) { values.add(value); };
    request.choose = [&](const OpenGemm &gemm) {
      return driver::chooseConfig(options, gpu, gemm, driver::KernelFacts::onlyPowersOfTwo(), nullptr).tiles;
    };
    request.inspect = [&](KernelOp kernel, const KernelText &text) {
      lint::inspect({kernel, text.operations, engine, gpu.has(target::Feature::Tma)});
    };
  }

  void run() {
    const bool isWhole = !engine.hasErrors();
    checkAll();
    // If code outside functions does not parse, the checks serve only to collect values, so drop their errors.
    if (!isWhole)
      found.resize(errorsOfFunctions);
    engine.report(found);
  }

private:
  void checkAll() {
    mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return mlir::success(); });
    std::vector<Candidate> functions;
    collect(module.body, "", functions);
    for (const Candidate &one : functions)
      takeErrors(*one.function);
    errorsOfFunctions = found.size();
    llvm::erase_if(functions, [](const Candidate &one) { return one.function->isConstexpr; });
    if (llvm::none_of(functions, [](const Candidate &one) { return one.isDescribed(); }))
      check(""); // the only kernel, if there is one
    for (const Candidate &one : functions)
      if (one.isDescribed())
        check(one.name);
    for (const Candidate &one : functions)
      if (!one.isDescribed() && !one.function->body.empty() && !values.reaches(bodyOf(*one.function)))
        check(one.name);
  }

  void takeErrors(const FunctionStmt &function) {
    if (function.errors.empty() || function.isHost)
      return;
    llvm::append_range(found, function.errors);
    broken.push_back(function.range);
  }

  bool isInBroken(SourceRange range) const {
    return llvm::any_of(broken, [&](SourceRange function) {
      return function.file == range.file && function.begin <= range.begin && range.begin < function.end;
    });
  }

  /// Checks one function, so that errors in it do not prevent the check of others.
  void check(const std::string &kernel) {
    const size_t before = engine.all().size();
    request.kernelName = kernel;
    emitModule(context, module, request, engine);
    for (Diagnostic &one : engine.takeSince(before)) {
      // Several kernels may call the same helper and report the same error.
      bool isKnown = llvm::any_of(found, [&](const Diagnostic &other) { return isSame(one, other); });
      if (!isKnown && !isInBroken(one.range))
        found.push_back(std::move(one));
    }
  }

  const Module &module;
  DiagnosticEngine &engine;
  ValueTable &values;
  mlir::MLIRContext context;
  CompileRequest request;
  std::vector<Diagnostic> found; // parser errors first
  size_t errorsOfFunctions = 0;
  std::vector<SourceRange> broken; // functions that do not parse
};

bool isAboutFile(const Diagnostic &diagnostic) {
  // Drop these errors: helpers may return values, and a file need not have a kernel.
  for (Diag id : {Diag::missing_types, Diag::no_kernel, Diag::kernel_returns})
    if (diagnostic.name == diagnosticName(id))
      return false;
  return !diagnostic.isAboutOptions && diagnostic.severity != Severity::Note;
}

} // namespace

llvm::json::Array Document::diagnose(const driver::CompilerOptions &given) {
  found = Findings();
  driver::CompilerOptions options = given;
  options.input = source.name;
  options.inputText = source.text;
  DiagnosticEngine engine;
  engine.setWarnings(options.warnings);
  llvm::Expected<std::optional<SourceFile>> sidecar = driver::readSidecar(options);
  const target::GpuTarget *gpu = target::findTarget(options.target);
  if (!sidecar || !gpu) {
    llvm::consumeError(sidecar.takeError());
    return {};
  }
  Module module = parse(driver::inputOf(options), engine, /*defersErrors=*/true);
  if (*sidecar)
    applySidecar(module, **sidecar, engine);
  Checker(module, options, *gpu, engine, found.values).run();
  llvm::json::Array reported;
  for (const Diagnostic *diagnostic : engine.sorted()) {
    if (!isAboutFile(*diagnostic))
      continue;
    addFix(*diagnostic);
    for (const Diagnostic &note : diagnostic->notes)
      addFix(note);
    reported.push_back(report(*diagnostic, engine));
  }
  return reported;
}

llvm::json::Object Document::report(const Diagnostic &diagnostic, const DiagnosticEngine &engine) const {
  const bool isHere = diagnostic.range.file == 0;
  std::string message = diagnostic.message;
  // Errors in an imported file are reported at the top of the open file.
  if (!isHere && diagnostic.range.file < engine.numFiles())
    message = engine.file(diagnostic.range.file).name + ":" + std::to_string(engine.locate(diagnostic.range).line) +
              ": " + message;
  for (const Diagnostic &note : diagnostic.notes)
    message += "\n" + note.message;
  return llvm::json::Object{{"range", range(isHere ? diagnostic.range : SourceRange{})},
                            {"severity", diagnostic.severity == Severity::Error ? 1 : 2},
                            {"code", diagnostic.name},
                            {"source", "tilec"},
                            {"message", llvm::json::fixUTF8(message)}};
}

std::vector<Document::Kernel> Document::kernels() const {
  DiagnosticEngine engine;
  const Module module = parse(source, engine, /*defersErrors=*/true);
  std::vector<Candidate> functions;
  collect(module.body, "", functions);
  std::vector<Kernel> kernels;
  for (const Candidate &one : functions) {
    bool isCalled = llvm::any_of(scopes().uses(), [&](const NameUse &use) {
      return use.name == one.function->name && text().drop_front(use.range.end).ltrim(' ').starts_with("(") &&
             use.range.begin != one.function->nameRange.begin && use.role == NameUse::Role::Read;
    });
    if (!one.function->isConstexpr && (one.isDescribed() || (!isCalled && !one.function->decorators.empty())))
      kernels.push_back({one.name, one.function->nameRange});
  }
  return kernels;
}

void Document::addFix(const Diagnostic &diagnostic) {
  llvm::json::Array edits;
  for (const FixIt &fix : diagnostic.fixIts)
    if (fix.range.file == 0)
      edits.push_back(llvm::json::Object{{"range", range(fix.range)}, {"newText", fix.replacement}});
  if (edits.empty() || diagnostic.range.file != 0)
    return;
  const std::string &text = diagnostic.fixIts.front().replacement;
  std::string title = text.empty() ? "Remove this" : "Write '" + text + "'";
  found.fixes.push_back({diagnostic.range, llvm::json::fixUTF8(title), std::move(edits)});
}

llvm::json::Array Document::fixes(llvm::StringRef uri, int64_t firstLine, int64_t lastLine) const {
  llvm::json::Array actions;
  for (const Fix &fix : found.fixes) {
    const int64_t begin = lines.locate(fix.range.begin).line - 1, end = lines.locate(fix.range.end).line - 1;
    if (end < firstLine || begin > lastLine)
      continue;
    llvm::json::Object changes;
    changes[uri] = llvm::json::Array(fix.edits);
    actions.push_back(llvm::json::Object{
        {"title", fix.title}, {"kind", "quickfix"}, {"edit", llvm::json::Object{{"changes", std::move(changes)}}}});
  }
  return actions;
}

} // namespace tile::lsp
