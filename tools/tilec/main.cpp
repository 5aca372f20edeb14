// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects the tool: `tile-opt ...` (a symbolic link to tilec) and `tilec opt ...` run tile-opt, everything else tilec.
#include "Tools.h"

#include "Driver/CompilerOptions.h"
#include "Driver/LargeStack.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <malloc.h>
#include <optional>
#include <unistd.h>

/// Reports fatal errors in one line; LLVM cannot recover from code that it fails to select.
static void reportFatalError(void *, const char *reason, bool) {
  llvm::errs() << "tilec: internal error: " << reason << '\n';
  std::_Exit(int(tile::driver::Outcome::Internal));
}

/// Reports exhausted memory; LLVM's containers do not throw.
static void reportOutOfMemory(void *, const char *, bool) {
  constexpr char message[] = "tilec: error: out of host memory\n"; // constant text, because a stream might allocate
  (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
  std::_Exit(int(tile::driver::Outcome::Rejected));
}

/// Reports errors of tile-opt. Afterwards LLVM ends the process: with a stack trace if the error is a bug, otherwise
/// (for example, if the disk is full) with exit code 1.
static void reportTileOptError(void *, const char *reason, bool) {
  llvm::errs() << "tile-opt: error: " << reason << '\n';
}

namespace {

struct Tool {
  int (*run)(int, char **);
  int argc;
  char **argv;
  int code = 0;
};

int runOnLargeStack(Tool tool) {
  tile::driver::runOnLargeStack([&] { tool.code = tool.run(tool.argc, tool.argv); });
  return tool.code;
}

/// Tunes malloc for one thread that allocates many small objects: grows the heap by 64 MiB instead of 128 KiB per
/// system call, and disables per-thread arenas.
void tuneMalloc() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 64 << 20);
}

struct sigaction traceHandler; ///< LLVM's handler, which is the same for all crash signals.
volatile std::sig_atomic_t crash = 0;

/// Limits the time for LLVM's trace of a crash. The trace allocates memory, so it would deadlock if the crash occurred
/// within malloc. A timer then ends the process with the signal of the crash.
void limitTrace(int number, siginfo_t *info, void *context) {
  constexpr unsigned seconds = 10;
  crash = number;
  std::signal(SIGALRM, [](int) {
    std::signal(int(crash), SIG_DFL);
    std::raise(int(crash));
  });
  alarm(seconds);
  traceHandler.sa_sigaction(number, info, context);
}

/// Initializes LLVM's signal handlers, but not for signals that nohup ignores, because the handler would remove the
/// output of a tile-opt that keeps running. Exceeding the file size limit becomes an error of write(), like a full
/// disk.
void initLlvm(std::optional<llvm::InitLLVM> &init, int &argc, char **&argv) {
  llvm::SmallVector<int> ignored = {SIGXFSZ};
  for (int number : {SIGHUP, SIGINT, SIGTERM})
    if (struct sigaction action = {}; sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ignored.push_back(number);
  init.emplace(argc, argv);
  for (int number : ignored)
    std::signal(number, SIG_IGN);
  for (int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    if (sigaction(number, nullptr, &traceHandler) != 0 || !(traceHandler.sa_flags & SA_SIGINFO))
      continue;
    struct sigaction limited = traceHandler;
    limited.sa_sigaction = limitTrace;
    sigaction(number, &limited, nullptr);
  }
}

} // namespace

int main(int argc, char **argv) {
  tuneMalloc();
  std::optional<llvm::InitLLVM> init;
  initLlvm(init, argc, argv);
  llvm::setBugReportMsg("tilec: internal error; please report it together with the input and this trace\n");
  llvm::install_bad_alloc_error_handler(reportOutOfMemory);
  bool isOpt = llvm::sys::path::filename(argv[0]).starts_with("tile-opt");
  bool isSubcommand = !isOpt && argc > 1 && llvm::StringRef(argv[1]) == "opt";
  llvm::install_fatal_error_handler(isOpt || isSubcommand ? reportTileOptError : reportFatalError);
  if (isOpt || isSubcommand)
    return runOnLargeStack({tile::tileOptMain, argc - isSubcommand, argv + isSubcommand});
  return runOnLargeStack({tile::tilecMain, argc, argv});
}
