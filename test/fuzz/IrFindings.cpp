// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first line of a finding is "// tile-fuzz-ir PASS..."; the following lines describe what happened.
#include "fuzz/IrFindings.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace mlir;
using namespace tile::fuzz;

static constexpr llvm::StringLiteral mark = "// tile-fuzz-ir ";

/// Returns "cta-pipeline cta-lower-conversions".
static PassChoice parsePasses(llvm::StringRef line) {
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  PassChoice passes;
  for (llvm::StringRef word : words)
    passes.names.push_back(word.str());
  return passes;
}

/// Parses, verifies and runs; exits if the finding occurs.
static void runText(llvm::StringRef text, const PassChoice &passes, bool isSilent) {
  MLIRContext context(trialDialects(), MLIRContext::Threading::DISABLED);
  std::optional<ScopedDiagnosticHandler> silence;
  if (isSilent)
    silence.emplace(&context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (module)
    runPasses(*module, passes, nullptr);
}

static Outcome runTextIsolated(llvm::StringRef text, const PassChoice &passes) {
  return runIsolated([&](Progress &) {
    startClock();
    runText(text, passes, /*isSilent=*/true);
  });
}

/// Removes lines and passes that the finding does not need.
static std::string reduce(std::string text, PassChoice &passes, const std::string &signature) {
  unsigned budget = signature == "takes too long" ? 12 : 1500;
  auto stillDies = [&](llvm::StringRef candidate, const PassChoice &chosen) {
    return budget > 0 && budget-- && runTextIsolated(candidate, chosen).signature() == signature;
  };
  // Removes passes from both ends: passes in between may create what later ones rely on.
  for (bool atEnd : {true, false})
    while (!passes.names.empty()) {
      PassChoice fewer = passes;
      fewer.names.erase(atEnd ? fewer.names.end() - 1 : fewer.names.begin());
      if (!stillDies(text, fewer))
        break;
      passes = fewer;
    }
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (size_t chunk = std::max<size_t>(1, lines.size() / 2);; chunk /= 2) {
    // Removes lines from the end, so that values are removed after their users.
    for (size_t end = lines.size(); end > 0; end -= std::min(chunk, end)) {
      size_t begin = end - std::min(chunk, end);
      llvm::SmallVector<llvm::StringRef> fewer(lines);
      fewer.erase(fewer.begin() + begin, fewer.begin() + std::min(end, fewer.size()));
      if (stillDies(llvm::join(fewer, "\n"), passes))
        lines = fewer;
    }
    if (chunk == 1)
      break;
  }
  return llvm::join(lines, "\n");
}

Findings::Findings(std::string folder) : folder(std::move(folder)) {
  std::error_code error;
  std::filesystem::remove_all(this->folder, error);
  std::filesystem::create_directories(this->folder, error);
}

/// Prints the mutant and its passes in another process, because printing may crash.
static std::string printMutant(const std::string &file, const IrBases &bases, uint64_t seed, uint64_t batch,
                               uint64_t number, PassChoice &passes) {
  runIsolated([&](Progress &) {
    startClock();
    PassChoice chosen;
    std::string text = Trial(bases, seed, batch).print(number, chosen);
    std::ofstream(file) << chosen.print() << '\n' << text;
  });
  std::string text = readFile(file);
  std::filesystem::remove(file);
  passes = parsePasses(llvm::StringRef(text).split('\n').first);
  return llvm::StringRef(text).split('\n').second.str();
}

/// Returns the IR in the custom syntax of operations; empty if it does not verify.
static std::string prettyPrint(const std::string &file, const std::string &text) {
  runIsolated([&](Progress &) {
    startClock();
    MLIRContext context(trialDialects(), MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::string pretty;
    if (module)
      llvm::raw_string_ostream(pretty) << *module << '\n';
    std::ofstream(file) << pretty;
  });
  std::string pretty = readFile(file);
  std::filesystem::remove(file);
  return pretty;
}

void Findings::add(const IrBases &bases, uint64_t seed, uint64_t batch, const Outcome &outcome) {
  std::string scratch = folder + "/process." + std::to_string(getpid()), signature = outcome.signature();
  PassChoice passes;
  std::string text = printMutant(scratch, bases, seed, batch, outcome.mutant, passes);
  // A message without a location is a separate finding for each pass.
  bool isVague = llvm::StringRef(signature).starts_with("signal") || signature == "takes too long";
  std::string bug = signature + (isVague && !passes.names.empty() ? " (" + passes.names.front() + ")" : "");
  std::string path = folder + "/" + std::to_string(std::hash<std::string>()(bug) % 1000000000) + ".mlir";
  int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (file < 0)
    return; // already known
  close(file);
  std::string pretty = prettyPrint(scratch, text);
  if (!pretty.empty() && runTextIsolated(pretty, passes).signature() == signature)
    text = pretty;
  bool repeats = runTextIsolated(text, passes).signature() == signature;
  if (repeats)
    text = reduce(text, passes, signature);
  std::ofstream out(path);
  out << mark.str() << passes.print() << "\n// " << bug << "\n// seed " << seed << " batch " << batch << " mutant "
      << outcome.mutant << (repeats ? "" : "; does not happen again from text") << '\n';
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(outcome.errors).split(lines, '\n', /*MaxSplit=*/40);
  for (llvm::StringRef line : llvm::ArrayRef(lines).take_front(40))
    out << "//   " << line.take_front(200).str() << '\n';
  out << text;
}

int Findings::report(llvm::raw_ostream &os) const {
  unsigned count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    llvm::SmallVector<llvm::StringRef> lines;
    std::string text = readFile(entry.path());
    llvm::StringRef(text).split(lines, '\n', /*MaxSplit=*/3);
    os << entry.path().string() << ": " << lines.front().drop_front(std::min(mark.size(), lines.front().size())) << '\n'
       << "  " << (lines.size() > 1 ? lines[1].drop_front(3) : "") << '\n';
    ++count;
  }
  if (count)
    os << "tile-fuzz-ir: " << count << " findings in " << folder << "; see one again with: tile-fuzz-ir FINDING.mlir\n";
  return count ? 1 : 0;
}

int tile::fuzz::repeatFinding(const std::string &path) {
  std::string text = readFile(path);
  llvm::StringRef first = llvm::StringRef(text).split('\n').first;
  if (!first.consume_front(mark)) {
    llvm::errs() << "tile-fuzz-ir: '" << path << "' does not begin with '" << mark << "TARGET PASS...'\n";
    return 2;
  }
  runText(text, parsePasses(first), /*isSilent=*/false);
  return 0;
}
