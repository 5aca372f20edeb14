// Chooses the tool: `tile-opt ...` (a symbolic link to tilec) and `tilec opt ...` are tile-opt, all else is tilec.
#include "Tools.h"

#include "Driver/CompilerOptions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

/// LLVM gives up on code that it cannot select, without a way back: say so in one line and leave no temporary file.
static void reportFatalError(void *, const char *reason, bool) {
  llvm::errs() << "tilec: internal error: " << reason << '\n';
  llvm::sys::RunInterruptHandlers();
  std::_Exit(int(tile::driver::Outcome::Internal));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("tilec: internal error; please report it together with the input and this trace\n");
  if (llvm::sys::path::filename(argv[0]).starts_with("tile-opt"))
    return tile::tileOptMain(argc, argv);
  if (argc > 1 && llvm::StringRef(argv[1]) == "opt")
    return tile::tileOptMain(argc - 1, argv + 1);
  llvm::install_fatal_error_handler(reportFatalError);
  return tile::tilecMain(argc, argv);
}
