// What the front end says about a file that nobody has said how to compile: no error that is about options alone.
#include "Driver/ChooseConfig.h"
#include "Driver/TileSource.h"
#include "LanguageServer/Document.h"

namespace tile::lsp {

using namespace frontend;

/// Those that say how to launch them. Of others in a file with several kernels only the syntax is known.
static std::vector<std::string> describedKernels(const Module &module) {
  std::vector<std::string> names;
  for (const Stmt *stmt : module.body)
    if (const auto *function = as<FunctionStmt>(stmt))
      if (!function->directives.grid.empty() || !function->directives.buffers.empty())
        names.push_back(function->name);
  return names;
}

static void check(const driver::CompilerOptions &options, DiagnosticEngine &engine) {
  llvm::Expected<std::optional<SourceFile>> sidecar = driver::readSidecar(options);
  if (!sidecar)
    return llvm::consumeError(sidecar.takeError());
  Module module = driver::parseInput(options, *sidecar, engine);
  const target::GpuTarget *gpu = target::findTarget("sm_90a");
  if (engine.hasErrors() || !gpu)
    return;
  CompileRequest request = driver::requestOf(options, *gpu);
  request.choose = [&](const OpenProduct &product) {
    return driver::chooseConfig(options, *gpu, product, driver::BlockSizes::PowersOfTwo, nullptr).tiles;
  };
  std::vector<std::string> kernels = describedKernels(module);
  if (kernels.empty())
    kernels.emplace_back(); // the only one, if there is one
  for (const std::string &kernel : kernels) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::ScopedDiagnosticHandler silent(&context, [](mlir::Diagnostic &) { return mlir::success(); });
    loadDialects(context);
    request.kernelName = kernel;
    emitModule(context, module, request, engine);
  }
}

static bool isAboutFile(const Diagnostic &diagnostic) {
  return !diagnostic.isAboutOptions && diagnostic.severity != Severity::Note &&
         diagnostic.name != diagnosticName(Diag::missing_types) && diagnostic.name != diagnosticName(Diag::no_kernel);
}

llvm::json::Array Document::diagnose() {
  driver::CompilerOptions options;
  options.input = source.name;
  options.inputText = source.text;
  DiagnosticEngine engine;
  check(options, engine);
  llvm::json::Array reported;
  found.clear();
  for (const Diagnostic *diagnostic : engine.sorted()) {
    if (!isAboutFile(*diagnostic))
      continue;
    const bool isHere = diagnostic->range.file == 0;
    std::string message = diagnostic->message;
    // What is wrong in an imported file stands at the top of this one.
    if (!isHere && diagnostic->range.file < engine.numFiles())
      message = engine.file(diagnostic->range.file).name + ":" + std::to_string(engine.locate(diagnostic->range).line) +
                ": " + message;
    for (const Diagnostic &note : diagnostic->notes)
      message += "\n" + note.message;
    addFix(*diagnostic);
    for (const Diagnostic &note : diagnostic->notes)
      addFix(note);
    reported.push_back(llvm::json::Object{{"range", range(isHere ? diagnostic->range : SourceRange{})},
                                          {"severity", diagnostic->severity == Severity::Error ? 1 : 2},
                                          {"code", diagnostic->name},
                                          {"source", "tilec"},
                                          {"message", llvm::json::fixUTF8(message)}});
  }
  return reported;
}

void Document::addFix(const frontend::Diagnostic &diagnostic) {
  llvm::json::Array edits;
  for (const FixIt &fix : diagnostic.fixIts)
    if (fix.range.file == 0)
      edits.push_back(llvm::json::Object{{"range", range(fix.range)}, {"newText", fix.replacement}});
  if (edits.empty() || diagnostic.range.file != 0)
    return;
  const std::string &text = diagnostic.fixIts.front().replacement;
  std::string title = text.empty() ? "Remove this" : "Write '" + text + "'";
  found.push_back({diagnostic.range, llvm::json::fixUTF8(title), std::move(edits)});
}

llvm::json::Array Document::fixes(llvm::StringRef uri, int64_t firstLine, int64_t lastLine) const {
  llvm::json::Array actions;
  for (const Fix &fix : found) {
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
