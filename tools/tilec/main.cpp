// Chooses the tool: `tile-opt ...` (a symbolic link to tilec) and `tilec opt ...` are tile-opt, all else is tilec.
#include "Tools.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::setBugReportMsg("tilec: internal error; please report it together with the input and this trace\n");
  if (llvm::sys::path::filename(argv[0]).starts_with("tile-opt"))
    return tile::tileOptMain(argc, argv);
  if (argc > 1 && llvm::StringRef(argv[1]) == "opt")
    return tile::tileOptMain(argc - 1, argv + 1);
  return tile::tilecMain(argc, argv);
}
