// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run gemm.cubin M=512 N=512 K=300 --check
#include "Lab/Bench/Suite.h"
#include "Lab/Commands/Commands.h"

namespace tile::runner {

CLI::Option *addArtifact(CLI::App &app, RunOptions &options) {
  return app.add_option("artifact", options.artifact, "Cubin, PTX or .tilepack made by tilec")->type_name("FILE");
}

int withArtifact(const RunOptions &options, const std::function<int(const runtime::Artifact &)> &use) {
  if (options.artifact.empty())
    return reportFailure(options,
                         runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                            "no artifact; expected a cubin, PTX or .tilepack file made by tilec"));
  Result<runtime::Artifact> artifact = runtime::readArtifactFile(options.artifact);
  if (artifact)
    return use(*artifact);
  const bool isSource = options.artifact.ends_with(".tile") || options.artifact.ends_with(".py");
  if (isSource && artifact.error().code == TILE_ERROR_NOT_AN_ARTIFACT)
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "'{}' is a source file, which tilec compiles; use: tilec run {}",
                                                     options.artifact, options.artifact));
  return reportFailure(options, artifact.error());
}

void addSuiteOptions(CLI::App &app, SuiteOptions &suite) {
  CLI::Option *file = app.add_option("--suite", suite.file,
                                     "Run the cases of this file instead, one `name artifact NAME=VALUE...` per line")
                          ->type_name("FILE")
                          ->group("Suites");
  app.add_option("--artifacts", suite.folder, "Folder of the suite's artifacts")
      ->type_name("FOLDER")
      ->needs(file)
      ->group("Suites");
}

/// Runs the artifacts of --after, then the given artifact.
static int runLast(const RunOptions &options, const runtime::Artifact &artifact) {
  std::vector<runtime::Artifact> earlier;
  for (const std::string &path : options.after) {
    Result<runtime::Artifact> other = runtime::readArtifactFile(path);
    if (!other)
      return reportFailure(options, runtime::withContext("--after", other.error()));
    earlier.push_back(std::move(*other));
  }
  return runArtifact(options, artifact, earlier);
}

int runOneOrSuite(RunOptions options, const SuiteOptions &suite) {
  if (suite.file.empty())
    return withArtifact(options, [&](const runtime::Artifact &artifact) { return runLast(options, artifact); });
  if (!options.artifact.empty()) { // then the first positional is an argument for all cases
    options.arguments.insert(options.arguments.begin(), options.artifact);
    options.artifact.clear();
  }
  return runSuite(options, suite.file, suite.folder);
}

Action addRun(CLI::App &app, const RunOptions &start) {
  struct Options {
    RunOptions run;
    SuiteOptions suite;
  };
  auto options = std::make_shared<Options>(Options{start, {}});
  addArtifact(app, options->run);
  addKernelOptions(app, options->run);
  addRankOptions(app, options->run);
  addVariantOptions(app, options->run);
  addCheckOptions(app, options->run);
  app.add_option(
         "--after", options->run.after,
         "Run the kernel of FILE first, on the same buffers: a buffer that it writes is the input of that name of "
         "the next kernel; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  addTraceOption(app, options->run);
  addSimulatorOptions(app, options->run);
  addSuiteOptions(app, options->suite);
  addFormatOption(app, options->run);
  return [options] { return runOneOrSuite(options->run, options->suite); };
}

} // namespace tile::runner
