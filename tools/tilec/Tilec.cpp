// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tilec: one input, one output. The result is written last, so an error leaves no file behind.
#include "AnswerCache.h"
#include "Driver/CompileVariants.h"
#include "Driver/OutputFile.h"
#include "Driver/TileSource.h"
#include "ExplainCommand.h"
#include "FormatCommand.h"
#include "LanguageServer/Server.h"
#include "Messages.h"
#include "Options.h"
#include "Request.h"
#include "RunCommand.h"
#include "Runner/Run.h"
#include "Tools.h"
#include "VerifyCommand.h"

#include "llvm/Support/BuryPointer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace tile;
using driver::EmitKind;
using driver::Outcome;

namespace {

/// Returns the output path if -o is absent: text is printed, an artifact is named after its source.
std::string defaultOutput(const driver::CompilerOptions &options) {
  if (options.emit != EmitKind::Cubin && options.emit != EmitKind::Tilepack)
    return "-";
  llvm::StringRef stem = options.input == "-" ? "kernel" : llvm::sys::path::stem(options.input);
  return (stem + (options.emit == EmitKind::Cubin ? ".cubin" : ".tilepack")).str();
}

/// Prints messages immediately, and records them.
class MessageRecorder final : public llvm::raw_ostream {
public:
  MessageRecorder() : llvm::raw_ostream(/*unbuffered=*/true) {}
  const std::string &text() const { return written; }

private:
  void write_impl(const char *text, size_t size) override {
    written.append(text, size);
    messages() << llvm::StringRef(text, size);
  }
  uint64_t current_pos() const override { return written.size(); }

  std::string written;
};

/// The cache of `--cache`, with the key of the compilation.
struct CacheEntry {
  driver::DiskCache cache;
  Request request;
  std::string key;
  std::chrono::system_clock::time_point begin = std::chrono::system_clock::now();

  explicit CacheEntry(const CommandLine &line) : cache(line.cacheFolder, line.cacheBytes) {
    request = {line.compiler.input, line.compiler.inputText, line.meaning};
    key = keyOf(request, line);
  }
};

/// Returns the cache entry; nullopt if the compilation has output besides the result.
std::optional<CacheEntry> findEntry(const CommandLine &line) {
  const driver::CompilerOptions &options = line.compiler;
  if (line.cacheFolder.empty() || !options.dumpDirectory.empty() || !options.remarks.empty() || options.timePasses ||
      options.explainConfig || options.printLayouts)
    return std::nullopt;
  return CacheEntry(line);
}

bool isSameFile(llvm::StringRef one, llvm::StringRef other) {
  bool isSame = false;
  return one != "-" && (one == other || (!llvm::sys::fs::equivalent(one, other, isSame) && isSame));
}

llvm::Error writeResult(llvm::StringRef output, llvm::StringRef depfile, llvm::StringRef result,
                        llvm::ArrayRef<std::string> files) {
  for (llvm::StringRef written : {output, depfile})
    for (const std::string &file : files)
      if (isSameFile(written, file))
        return llvm::createStringError("the output '" + written + "' is also an input of this compilation");
  if (llvm::Error error = driver::writeOutput(output, result))
    return error;
  return depfile.empty() ? llvm::Error::success() : driver::writeOutput(depfile, driver::dependencyRule(output, files));
}

int compileCommand(llvm::ArrayRef<const char *> words) {
  CommandLine line;
  switch (parseCommandLine(words, /*run=*/false, line)) {
  case ParseStatus::Help:
  case ParseStatus::Done:
    return int(Outcome::Success);
  case ParseStatus::Error:
    return int(Outcome::Usage);
  case ParseStatus::Compile:
    break;
  }
  llvm::Expected<std::string> text = driver::readSource(line.compiler.input);
  if (!text)
    return fail(line.compiler, Outcome::Environment, toString(text.takeError()));
  line.compiler.inputText = std::move(*text);
  std::string output = line.output.empty() ? defaultOutput(line.compiler) : line.output;

  // Check first: the output is written at the end, so a successful compilation would overwrite its input.
  for (const std::string &written : {output, line.depfile})
    if (isSameFile(written, line.compiler.input))
      return fail(line.compiler, Outcome::Usage, "the output '" + written + "' is also the input");
  if (isSameFile(output, line.depfile))
    return fail(line.compiler, Outcome::Usage, "the output '" + output + "' is also the file of -MF");

  std::optional<CacheEntry> entry = findEntry(line);
  if (std::optional<Answer> kept = entry ? findAnswer(entry->cache, entry->key) : std::nullopt) {
    messages() << kept->diagnostics;
    llvm::Error error = writeResult(output, line.depfile, kept->artifact, kept->files);
    return error ? fail(line.compiler, Outcome::Environment, toString(std::move(error))) : int(Outcome::Success);
  }

  // The process ends here, so skip freeing the IR operation by operation.
  MessageRecorder recorder;
  bool isText = line.compiler.diagnosticsFormat == driver::DiagnosticsFormat::Text;
  auto owned = std::make_unique<driver::VariantCompilation>(std::move(line.compiler), line.variants, recorder);
  driver::VariantCompilation &compilation = *owned;
  llvm::BuryPointer(std::move(owned));
  if (compilation.run())
    if (llvm::Error error = writeResult(output, line.depfile, compilation.result(), compilation.sourceFiles()))
      compilation.fail(Outcome::Environment, std::move(error));
  compilation.printDiagnostics();
  if (!entry || compilation.outcome() != Outcome::Success)
    return int(compilation.outcome());
  llvm::Error error =
      keepAnswer(entry->cache, entry->key, entry->request,
                 {Outcome::Success, compilation.result(), recorder.text(), compilation.sourceFiles()}, entry->begin);
  std::string reason = toString(std::move(error));
  if (!reason.empty() && isText) // a JSON document is already complete
    messages() << "tilec: warning: result not cached: " << reason << '\n';
  return int(Outcome::Success);
}

int languageServerCommand(llvm::ArrayRef<const char *> words) {
  llvm::SmallVector<const char *> options;
  for (const char *word : words) {
    if (llvm::StringRef(word) == "--help" || llvm::StringRef(word) == "-h") {
      llvm::outs() << "tilec lsp [--stdio] [-I DIR] [--std=STANDARD] [--target=TARGET] [-W...]\n\nThe language server, "
                      "also installed as tile-lsp. An editor starts it and communicates with it over\nstandard input "
                      "and output. "
                      "The options are those of tilec and apply to all files.\n";
      return int(Outcome::Success);
    }
    if (llvm::StringRef(word) != "--stdio") // some clients pass it, although it is the only mode
      options.push_back(word);
  }
  CommandLine line;
  if (!parseServerOptions(options, line))
    return int(Outcome::Usage);
  if (!target::findTarget(line.compiler.target))
    return fail(line.compiler, Outcome::Usage,
                "unknown target '" + line.compiler.target + "'; see tilec --target=help");
  return lsp::serve(std::make_unique<llvm::lsp::JSONTransportInputOverFile>(stdin), llvm::outs(),
                    std::move(line.compiler));
}

} // namespace

int tile::tilecMain(int argc, char **argv) {
  llvm::ArrayRef<const char *> words(argv + 1, argc - 1);
  llvm::StringRef first = words.empty() ? "" : words.front();
  auto runTool = [&] {
    if (llvm::sys::path::filename(argv[0]).starts_with("tile-lsp"))
      return languageServerCommand(words);
    if (first == "run")
      return runCommand(words.drop_front());
    if (first == "explain")
      return explainCommand(words.drop_front());
    if (first == "format")
      return formatCommand(words.drop_front());
    if (first == "verify")
      return verifyCommand(words.drop_front());
    if (first == "lsp")
      return languageServerCommand(words.drop_front());
    return first == "worker" && words.size() == 1 ? workerCommand() : compileCommand(words);
  };
  int code = 0;
  try {
    code = runner::finishOutput("tilec", runTool());
  } catch (const std::bad_alloc &) { // for buffers of a run or the interpreter's shadow memory
    messages() << "tilec: error: out of host memory\n";
    code = int(Outcome::Rejected);
  }
  // LLVM's stream would end the process in its destructor.
  llvm::outs().flush();
  if (std::error_code failed = llvm::outs().error()) {
    llvm::outs().clear_error();
    messages() << "tilec: error: cannot write to standard output: " << failed.message() << '\n';
    return code ? code : int(Outcome::Environment);
  }
  return code;
}
