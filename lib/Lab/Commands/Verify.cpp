// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run verify gemm.cubin
// tile-run verify gemm.cubin --device=cuda
// tile-run verify old.cubin --same-as=new.cubin
#include "Lab/Commands/Commands.h"
#include "Lab/Verify/VerifyArtifact.h"

namespace tile::runner {

namespace {

constexpr double defaultVerifySeconds = 100;

void addVerifyOptions(CLI::App &app, VerifyOptions &options) {
  app.add_option("--same-as", options.sameAs,
                 "Compare the results with those of this artifact on the same device, bit for bit or --within an error")
      ->type_name("FILE");
  app.add_option("--trials", options.trials,
                 "Number of sizes in the simulator (default: 4), or of calls that are compared (default: 12)")
      ->check(CLI::Range(uint64_t(1), uint64_t(1000000)));
  addInputKinds(app, options.inputs);
  app.add_option("--within", options.run.within,
                 "Allowed relative error in comparisons. Default: 0, the same bits; for kernels with approximate "
                 "functions or floating-point atomics, what `expect` allows, or 0.001")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--deadline", options.deadline, "Seconds after which a launch on a GPU is considered hung")
      ->check(isSeconds)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--cache", options.cache, "Remember in this folder which variants have passed, and do not repeat them")
      ->type_name("FOLDER");
  app.add_flag("--strict", options.isStrict,
               "Exit with code 6 if not everything that was planned has run, for example within the time limit");
  app.add_flag("--json", options.isJson, "Print a JSON document");
}

} // namespace

Action addVerify(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<VerifyOptions>();
  options->run = start;
  options->run.device = "sim";
  addArtifact(app, options->run);
  addKernelOptions(app, options->run);
  addVariantOptions(app, options->run);
  addSimulatorOptions(app, options->run);
  for (const char *name :
       {"--overlap", "--tuning", "--order", "--orders", "--no-checks", "--profile", "--profile-json"})
    app.remove_option(app.get_option(name));
  addTimeLimit(app, options->run);
  addVerifyOptions(app, *options);
  app.get_option("arguments")
      ->description("NAME=VALUE fixes an argument, NAME=LOW..HIGH samples an integer from a range; other sizes are "
                    "sampled around multiples of block sizes; buffers as for tile-run run");
  app.get_option("--device")
      ->description("sim runs each variant under several orders of events; cuda or cuda:N compares each variant on the "
                    "GPU with the simulator's run of its PTX");
  app.get_option("--variant")->description("Verify this variant only");
  app.get_option("--target")->description("Verify the variants for this target only");
  app.get_option("--time-limit")->description("Stop after this time (default: 100); every variant gets its share");
  app.add_option("--orders", options->orders, "Number of orders of events for each size")
      ->check(CLI::Range(uint64_t(1), uint64_t(1000000)))
      ->capture_default_str();
  return [options] {
    RunOptions &run = options->run;
    if (!run.limit)
      run.limit.emplace(defaultVerifySeconds);
    if (run.device != "sim" && !run.device.starts_with("cuda"))
      return reportFailure(run, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                   "unknown device '{}'; expected sim, cuda or cuda:N", run.device));
    return withArtifact(run, [&](const runtime::Artifact &artifact) { return verifyArtifact(*options, artifact); });
  };
}

} // namespace tile::runner
