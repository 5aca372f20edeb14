// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run tune gemm.cubin M=1..8192 N=64..8192 K=64..8192 --count=200
// tile-run tune gemm.cubin --shapes shapes.txt --shard 2/8 -o part2.tuning
// tile-run tune merge part1.tuning part2.tuning -o gemm.tuning
// tile-run tune --calibrate -o card.tsv
#include "Lab/Tune/Tune.h"
#include "Lab/Calibrate/Calibrate.h"
#include "Lab/Commands/Commands.h"

#include <algorithm>

namespace tile::runner {

static Action addMerge(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<MergeOptions>();
  options->run = start;
  app.add_option("tables", options->inputs, "Tables of the same variants for the same kind of GPU")->type_name("FILE");
  app.add_option("-o,--output", options->output, "Write the table to this file")->type_name("FILE");
  app.add_option("--embed", options->run.artifact, "Write the table into this artifact")->type_name("FILE");
  return [options] { return runMerge(*options); };
}

/// Runs `tune --calibrate`, which takes no artifact. Options of other forms of `tune` are errors.
static int calibrate(const CLI::App &app, CalibrateOptions options, const TuneOptions &tune) {
  options.run = tune.run;
  options.run.bench = true; // requires a GPU
  options.output = tune.output;
  constexpr std::string_view own[] = {"--calibrate", "--query", "--kernels", "--device", "--output"};
  for (const CLI::Option *given : app.get_options())
    if (given->count() > 0 && std::find(std::begin(own), std::end(own), given->get_name()) == std::end(own))
      return reportFailure(options.run,
                           runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                              "--calibrate measures the card, not an artifact; remove {}",
                                              given->get_positional() ? given->as<std::string>() : given->get_name()));
  return runCalibrate(options);
}

Action addTune(CLI::App &app, const RunOptions &start) {
  struct Options {
    TuneOptions tune;
    CalibrateOptions calibrate;
    std::string shard, devices;
    bool isCalibrating = false;
  };
  auto options = std::make_shared<Options>();
  TuneOptions &tune = options->tune;
  tune.run = start;
  addArtifact(app, tune.run);
  app.add_option(
         "arguments", tune.run.arguments,
         "Arguments of all calls; for ranges of sizes, NAME=LOW..HIGH, --count calls are sampled log-uniformly, "
         "half of them with multiples of 16; buffers as for tile-run run")
      ->type_name("NAME=VALUE");
  app.add_option("--shapes", tune.shapes.file,
                 "Measure the calls of this file, one per line, such as M=16 N=4096 K=4096")
      ->type_name("FILE");
  app.add_option("--count", tune.shapes.count, "Number of calls to sample from ranges")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seed", tune.run.seed, "Seed of the sampled sizes and of random inputs")->capture_default_str();
  app.add_flag("--all", tune.tuner.all,
               "Measure all variants that accept a call, not only those that the cost model expects to be within 1.5 "
               "times the best");
  CLI::Option *device = app.add_option("--device", tune.run.device, "GPU to measure on: cuda or cuda:N");
  app.add_option("--devices", options->devices, "GPUs to measure on, one process each, such as 0,1,2")
      ->type_name("N,...")
      ->excludes(device);
  app.add_option("--shard", options->shard, "Measure only the I-th of N parts of the calls; see tile-run tune merge")
      ->type_name("I/N");
  CLI::Option *output =
      app.add_option(
             "-o,--output", tune.output,
             "The table to write (default: the artifact's name with .tuning appended); with --calibrate, the card")
          ->type_name("FILE");
  app.add_flag("--embed", tune.embed, "Embed the table in the artifact")->excludes(output);
  app.add_option("--seconds", tune.seconds,
                 "Stop after the first call that ends later; running the same command again resumes")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--times", tune.times, "Append a JSON line with expected and measured time for each variant measured")
      ->type_name("FILE");
  CLI::Option *isCalibrating =
      app.add_flag("--calibrate", options->isCalibrating,
                   "Measure the card instead of an artifact: rates, bandwidths and latencies that tilec --card reads");
  app.add_flag("--query", options->calibrate.onlyQueried,
               "With --calibrate: write only the properties that the driver reports")
      ->needs(isCalibrating);
  app.add_option("--kernels", options->calibrate.kernels,
                 "With --calibrate: print the micro-benchmarks for a target, such as sm_90a, as PTX")
      ->type_name("TARGET")
      ->needs(isCalibrating);
  app.require_subcommand(0, 1);
  CLI::App *merge = app.add_subcommand("merge", "Merge the tables of shards");
  Action mergeAction = addMerge(*merge, start);
  return [options, merge, mergeAction, &app] {
    if (merge->parsed())
      return mergeAction();
    TuneOptions &tune = options->tune;
    if (options->isCalibrating)
      return calibrate(app, options->calibrate, tune);
    if (!options->shard.empty()) {
      Result<Shard> shard = parseShard(options->shard);
      if (!shard)
        return reportFailure(tune.run, shard.error());
      tune.shard = *shard;
    }
    if (!options->devices.empty()) {
      Result<std::vector<int>> devices = parseDevices(options->devices);
      if (!devices)
        return reportFailure(tune.run, devices.error());
      tune.devices = std::move(*devices);
    }
    tune.run.bench = true; // requires a GPU
    return withArtifact(tune.run, [&](const runtime::Artifact &artifact) { return runTune(tune, artifact); });
  };
}

} // namespace tile::runner
