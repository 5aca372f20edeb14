// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec verify a.tile --same-as b.tile`: compares the results of two kernels in the interpreter, for small sizes
// around multiples of their blocks and for several kinds of inputs.
#pragma once

#include "Lab/Verify/Agreement.h"
#include "Options.h"

namespace CLI {
class App;
}

namespace tile {

struct SameAsOptions {
  std::string file;                     ///< the other source; empty: no --same-as
  std::string kernel;                   ///< kernel of the other source
  std::vector<std::string> definitions; ///< NAME=VALUE for the other kernel
  runner::AgreementOptions agreement;   ///< options of the comparison, with the arguments
};

/// Adds the options of the comparison to `app`.
void addSameAsOptions(CLI::App &app, SameAsOptions &options);

/// Compares the kernels of `line` with those of the other source. `words` is the command line; if there is a
/// difference, the command that reproduces it is derived from these words. Prints the result and returns the exit code.
int compareSources(const CommandLine &line, SameAsOptions options, llvm::ArrayRef<const char *> words, bool isJson,
                   bool isStrict);

} // namespace tile
