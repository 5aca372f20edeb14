// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tool: `tile-opt ...` (a symbolic link to tilec) and `tilec opt ...` are tile-opt, all else is tilec.
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

/// LLVM gives up on code that it cannot select, without a way back: say so in one line.
static void reportFatalError(void *, const char *reason, bool) {
  llvm::errs() << "tilec: internal error: " << reason << '\n';
  std::_Exit(int(tile::driver::Outcome::Internal));
}

/// LLVM's own containers do not throw.
static void reportOutOfMemory(void *, const char *, bool) {
  constexpr char message[] = "tilec: error: out of host memory\n"; // which a stream might need
  (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
  std::_Exit(int(tile::driver::Outcome::Rejected));
}

/// After it LLVM ends tile-opt: with a trace, if it is a bug, or else, as for a disk that is full, with exit code 1.
static void reportErrorOfOpt(void *, const char *reason, bool) {
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

/// The compiler's one thread makes many small objects: memory grows by 64 MiB, not by 128 KiB, each a call of the
/// kernel's, and not in an arena of the thread's own.
void growMemoryByLargeSteps() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, 64 << 20);
}

/// LLVM handles all signals, those too that nohup ignores: its handler would remove the output of a tile-opt
/// that goes on. A file above the limit of sizes is an error of write(), like a full disk.
void initLlvm(std::optional<llvm::InitLLVM> &init, int &argc, char **&argv) {
  llvm::SmallVector<int> ignored = {SIGXFSZ};
  for (int number : {SIGHUP, SIGINT, SIGTERM})
    if (struct sigaction action = {}; sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ignored.push_back(number);
  init.emplace(argc, argv);
  for (int number : ignored)
    std::signal(number, SIG_IGN);
}

} // namespace

int main(int argc, char **argv) {
  growMemoryByLargeSteps();
  std::optional<llvm::InitLLVM> init;
  initLlvm(init, argc, argv);
  llvm::setBugReportMsg("tilec: internal error; please report it together with the input and this trace\n");
  llvm::install_bad_alloc_error_handler(reportOutOfMemory);
  bool isOpt = llvm::sys::path::filename(argv[0]).starts_with("tile-opt");
  bool isSubcommand = !isOpt && argc > 1 && llvm::StringRef(argv[1]) == "opt";
  llvm::install_fatal_error_handler(isOpt || isSubcommand ? reportErrorOfOpt : reportFatalError);
  if (isOpt || isSubcommand)
    return runOnLargeStack({tile::tileOptMain, argc - isSubcommand, argv + isSubcommand});
  return runOnLargeStack({tile::tilecMain, argc, argv});
}
