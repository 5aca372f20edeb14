// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileKernel.h"

#include "AnswerCache.h"
#include "Driver/CompileVariants.h"
#include "Messages.h"

#include "llvm/Support/BuryPointer.h"

using namespace tile;
using driver::Outcome;

namespace {

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

} // namespace

Outcome tile::compileKernel(CommandLine line, llvm::function_ref<llvm::Error(const Answer &)> use, bool isLast) {
  std::optional<CacheEntry> entry = findEntry(line);
  if (std::optional<Answer> kept = entry ? findAnswer(entry->cache, entry->key) : std::nullopt) {
    messages() << kept->diagnostics;
    llvm::Error error = use(*kept);
    return error ? Outcome(fail(line.compiler, Outcome::Environment, toString(std::move(error)))) : Outcome::Success;
  }

  MessageRecorder recorder;
  bool isText = line.compiler.diagnosticsFormat == driver::DiagnosticsFormat::Text;
  auto owned = std::make_unique<driver::VariantCompilation>(std::move(line.compiler), line.variants, recorder);
  driver::VariantCompilation &compilation = *owned;
  if (isLast) // the process ends soon; freeing the IR operation by operation would only take time
    llvm::BuryPointer(std::move(owned));
  Answer answer;
  if (compilation.run()) {
    answer = {Outcome::Success, compilation.result(), "", compilation.sourceFiles()};
    if (llvm::Error error = use(answer))
      compilation.fail(Outcome::Environment, std::move(error));
  }
  compilation.printDiagnostics();
  if (!entry || compilation.outcome() != Outcome::Success)
    return compilation.outcome();
  answer.diagnostics = recorder.text();
  llvm::Error error = keepAnswer(entry->cache, entry->key, entry->request, answer, entry->begin);
  std::string reason = toString(std::move(error));
  if (!reason.empty() && isText) // a JSON document is already complete
    messages() << "tilec: warning: result not cached: " << reason << '\n';
  return Outcome::Success;
}
