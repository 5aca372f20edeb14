// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands of tile-run, one file each. `add` registers the options of a subcommand with its app, and returns the
// function that runs it after parsing; that prints and returns the exit code.
#pragma once

#include "Runner/Run.h"

#include <CLI/CLI.hpp>
#include <functional>

namespace tile::runner {

using Action = std::function<int()>;

struct Subcommand {
  const char *name;
  const char *description;
  Action (*add)(CLI::App &app, const RunOptions &start);
};

/// `start` contains the common settings of all subcommands: the program's name and the command line.
Action addRun(CLI::App &app, const RunOptions &start);
Action addBench(CLI::App &app, const RunOptions &start);
Action addPlot(CLI::App &app, const RunOptions &start);
Action addRoofline(CLI::App &app, const RunOptions &start);
Action addSoak(CLI::App &app, const RunOptions &start);
Action addCompare(CLI::App &app, const RunOptions &start);
Action addListVariants(CLI::App &app, const RunOptions &start);
Action addOrder(CLI::App &app, const RunOptions &start);
Action addVerify(CLI::App &app, const RunOptions &start);
Action addTune(CLI::App &app, const RunOptions &start);
Action addDescribe(CLI::App &app, const RunOptions &start);
Action addDevices(CLI::App &app, const RunOptions &start);

/// Adds the positional artifact.
CLI::Option *addArtifact(CLI::App &app, RunOptions &options);

/// Reads the artifact and passes it to `use`; reports an error if none is given.
int withArtifact(const RunOptions &options, const std::function<int(const runtime::Artifact &)> &use);

/// Options of a suite, for `run` and `bench`.
struct SuiteOptions {
  std::string file;
  std::string folder;
};
void addSuiteOptions(CLI::App &app, SuiteOptions &suite);
/// Runs the artifact's cases, or those of the suite.
int runOneOrSuite(RunOptions options, const SuiteOptions &suite);

} // namespace tile::runner
