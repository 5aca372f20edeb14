// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run soak gemm.cubin M=1..4096 N=64 --seconds=600
// tile-run soak --suite linear.suite --suite grouped.suite --artifacts build/bench
#include "Lab/Soak/Soak.h"
#include "Lab/Commands/Commands.h"
#include "Lab/Soak/SuiteSoak.h"

namespace tile::runner {

namespace {

struct Options : SoakOptions {
  std::vector<std::string> suites;
  std::string folder;
};

int soak(Options &options) {
  options.run.limit.emplace(options.seconds); // a launch and its check may take longer than the soak
  if (options.suites.empty())
    return withArtifact(options.run, [&](const runtime::Artifact &artifact) { return runSoak(options, artifact); });
  if (!options.run.artifact.empty()) // then the first positional is an argument for all cases
    options.run.arguments.insert(options.run.arguments.begin(), std::exchange(options.run.artifact, ""));
  return runSuiteSoak(options, options.suites, options.folder);
}

} // namespace

Action addSoak(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<Options>();
  options->run = start;
  options->run.check = true;
  addArtifact(app, options->run);
  addKernelOptions(app, options->run);
  addVariantOptions(app, options->run);
  app.get_option("arguments")
      ->description("NAME=LOW..HIGH samples an integer from a range (default for all integers: 1..2048), "
                    "NAME=VALUE fixes an argument; buffers as for tile-run run");
  app.add_option("--seconds", options->seconds, "How long to keep launching")
      ->check(isSeconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--deadline", options->deadlineSeconds, "Seconds after which a launch on a GPU is considered hung")
      ->check(isSeconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--repeat", options->run.repeat, "Number of launches of each size")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  CLI::Option *suites = app.add_option("--suite", options->suites,
                                       "Launch the cases of this file instead, in random order; may be repeated")
                            ->type_name("FILE")
                            ->group("Suites")
                            ->take_all()
                            ->expected(1);
  app.add_option("--artifacts", options->folder, "Folder of the suites' artifacts")
      ->type_name("FOLDER")
      ->needs(suites)
      ->group("Suites");
  addSimulatorOptions(app, options->run);
  return [options] { return soak(*options); };
}

} // namespace tile::runner
