// The compiler's command line.
#include "Tools.h"

#include "llvm/Support/raw_ostream.h"

int tile::tilecMain(int argc, char **argv) {
  llvm::errs() << "tilec: only 'tilec opt' is available\n";
  return 2;
}
