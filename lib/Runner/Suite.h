// A suite: a text file with one case a line, run in one process.
//
//   # name            artifact           arguments, and options of the case
//   square-4096       matmul-f16.cubin   M=4096 N=4096 K=4096
//   square-512        matmul-f16.cubin   M=512 N=512 K=512 --graph
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

struct SuiteCase {
  std::string name;
  std::string artifact;
  std::vector<std::string> arguments;
  bool graph = false; ///< measured as with tile-run bench --graph
  unsigned line = 0;
};

Result<std::vector<SuiteCase>> parseSuite(std::string_view text);

/// Runs every case of `file`, whose artifacts are in `folder` (or where they say, if it is empty); prints a table, and
/// returns 0 when all passed. `options.arguments` are added to those of each.
int runSuite(const RunOptions &options, const std::string &file, const std::string &folder);

} // namespace tile::runner
