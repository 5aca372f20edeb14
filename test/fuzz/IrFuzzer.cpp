// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutated IR of every phase through passes: tile-fuzz-ir --mutants=N FOLDER... (see README.md).
//
// Mutants are created in batches: a batch makes one base (IrBases.h) and a number of mutants of it, in a separate
// process that may crash. The seed, the batch number and the mutant's number determine a mutant, so each can be
// reproduced, whatever the number of jobs. A finding is a crash of the process, a pass that takes too long or too much
// memory, one that fails without an error, or one that leaves invalid operations.
#include "fuzz/IrBases.h"
#include "fuzz/IrFindings.h"
#include "fuzz/IrTrial.h"
#include "fuzz/Isolation.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <ctime>
#include <unistd.h>

using namespace tile::fuzz;

namespace {

struct Options {
  uint64_t seed = 1, mutants = 1000;
  uint64_t batch = UINT64_MAX; ///< The only mutant to run, if it is given.
  unsigned jobs = 1, seconds = 0;
  std::string findings = "ir-findings";
  std::string shown; ///< "BATCH:MUTANT"
  std::vector<std::string> paths;
};

constexpr unsigned batchSize = 64;

bool readOptions(int argc, char **argv, Options &options) {
  for (int index = 1; index < argc; ++index) {
    llvm::StringRef word = argv[index];
    auto number = [&](llvm::StringRef name, auto &value) {
      return word.consume_front(name) && !word.getAsInteger(10, value);
    };
    if (!word.starts_with("-"))
      options.paths.push_back(word.str());
    else if (word.consume_front("--findings="))
      options.findings = word.str();
    else if (word.consume_front("--show="))
      options.shown = word.str();
    else if (!number("--seed=", options.seed) && !number("--mutants=", options.mutants) &&
             !number("--jobs=", options.jobs) && !number("--seconds=", options.seconds) &&
             !number("--batch=", options.batch))
      return false;
  }
  return !options.paths.empty() && options.jobs > 0;
}

/// Runs one batch. Each crash of its process is a finding, after which a new process continues.
void runBatch(const Options &options, const IrBases &bases, uint64_t batch, Counters &counters, Findings &findings) {
  for (uint64_t first = 0; first < batchSize;) {
    auto run = [&](Progress &progress) {
      Trial trial(bases, options.seed, batch);
      for (progress.mutant = first; progress.mutant < batchSize; ++progress.mutant) {
        startClock();
        if (!trial.hasBase())
          return;
        trial.run(progress.mutant, counters);
      }
    };
    Outcome outcome = runIsolated(run);
    if (outcome.isFine())
      return;
    if (outcome.mutant >= batchSize) // while the base was created or destroyed
      outcome.mutant = first;
    findings.add(bases, options.seed, batch, outcome);
    first = outcome.mutant + 1;
  }
}

int show(const Options &options, const IrBases &bases) {
  auto [batch, mutant] = llvm::StringRef(options.shown).split(':');
  uint64_t numbers[2] = {};
  if (batch.getAsInteger(10, numbers[0]) || mutant.getAsInteger(10, numbers[1]))
    return 2;
  PassChoice passes;
  Trial trial(bases, options.seed, numbers[0]);
  std::string text = trial.hasBase() ? trial.print(numbers[1], passes) : "";
  llvm::outs() << "// " << passes.print() << '\n' << text << '\n';
  return 0;
}

int fuzz(const Options &options) {
  IrBases bases;
  if (!bases.read(options.paths))
    return 2;
  if (!options.shown.empty())
    return show(options, bases);
  Findings findings(options.findings);
  Counters &counters = *newShared<Counters>();
  uint64_t begin = 0, batches = (options.mutants + batchSize - 1) / batchSize;
  if (options.batch != UINT64_MAX) {
    begin = options.batch;
    batches = begin + 1;
  }
  time_t end = options.seconds ? time(nullptr) + options.seconds : 0;
  std::vector<pid_t> workers;
  for (unsigned job = 0; job < options.jobs; ++job) {
    workers.push_back(fork());
    if (workers.back() != 0)
      continue;
    for (uint64_t batch = begin + job; options.seconds ? time(nullptr) < end : batch < batches; batch += options.jobs)
      runBatch(options, bases, batch, counters, findings);
    _exit(0);
  }
  for (pid_t worker : workers)
    waitForProcess(worker);
  counters.print(llvm::outs());
  return findings.report(llvm::outs());
}

} // namespace

int main(int argc, char **argv) {
  raiseStackLimit();
  if (argc == 2 && llvm::StringRef(argv[1]).ends_with(".mlir"))
    return repeatFinding(argv[1]);
  Options options;
  if (readOptions(argc, argv, options))
    return fuzz(options);
  llvm::errs()
      << "tile-fuzz-ir [--seed=N] [--mutants=N | --seconds=N | --batch=N] [--jobs=N] [--findings=FOLDER] FOLDER...\n"
         "tile-fuzz-ir [--seed=N] --show=BATCH:MUTANT FOLDER...\n"
         "tile-fuzz-ir FINDING.mlir\n";
  return 2;
}

#if __has_feature(address_sanitizer)
/// The options of sanitizers for a program whose LLVM is not sanitized; README.md says why.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_stack_use_after_return=0:detect_leaks=0:"
         "strict_string_checks=1:allocator_may_return_null=0:hard_rss_limit_mb=3000:symbolize=1";
}

extern "C" const char *__ubsan_default_options() {
  return "print_stacktrace=1";
}
#endif
