// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run soak gemm.cubin M=1..4096 N=64 --seconds=600
#include "Runner/Soak.h"
#include "Runner/Commands/Commands.h"

namespace tile::runner {

Action addSoak(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<SoakOptions>();
  options->run = start;
  options->run.check = true;
  addArtifact(app, options->run);
  addKernelOptions(app, options->run);
  addVariantOptions(app, options->run);
  app.get_option("arguments")
      ->description("NAME=LOW..HIGH is the range of an integer (1..2048 for those without a value), NAME=VALUE fixes "
                    "an argument; buffers as in tile-run run");
  app.add_option("--seconds", options->seconds, "How long to launch")
      ->check(isSeconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--deadline", options->deadlineSeconds, "Seconds after which a launch on a GPU counts as hanging")
      ->check(isSeconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--repeat", options->run.repeat, "Launch each size this many times")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  addSimulatorOptions(app, options->run);
  return [options] {
    return withArtifact(options->run, [&](const runtime::Artifact &artifact) { return runSoak(*options, artifact); });
  };
}

} // namespace tile::runner
