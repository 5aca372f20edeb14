// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A suite: a text file with one case per line, run in one process.
//
//   # name            artifact           arguments, and options of the case
//   square-4096       matmul-f16.cubin   M=4096 N=4096 K=4096
//   square-512        matmul-f16.cubin   M=512 N=512 K=512 --graph
//   causal-4096       causal.cubin       Z=64 S=4096 --flops=2*Z*S*S*64
//   squares           matmul-f16.cubin   M=N=K=2^7..2^13      expands to several cases, see Sweep.h
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

struct SuiteCase {
  std::string name; ///< "": a single call from the command line
  std::string artifact;
  std::vector<std::string> arguments;
  bool graph = false; ///< measure as with tile-run bench --graph
  std::string flops;  ///< value of tile-run bench --flops; empty: the option is absent
  unsigned line = 0;
};

Result<std::vector<SuiteCase>> parseSuite(std::string_view text);

/// Reads the cases of `file`, expands ranges, and adds `arguments` to each case. Artifacts are searched for in `folder`
/// unless it is empty.
Result<std::vector<SuiteCase>> readSuite(const std::string &file, const std::string &folder,
                                         const std::vector<std::string> &arguments);

/// Maximum number of buffer elements of a case in the simulator. A larger case would take minutes.
constexpr int64_t maxSimulated = int64_t(1) << 20;

/// Adds `arguments` to each case, and expands ranges into separate cases, whose names contain the varying arguments.
Result<std::vector<SuiteCase>> expandCases(const std::vector<SuiteCase> &cases,
                                           const std::vector<std::string> &arguments);

/// Runs every case of `file`, with `options.arguments` added, and prints a table. Returns 0 if all passed.
int runSuite(const RunOptions &options, const std::string &file, const std::string &folder);

} // namespace tile::runner
