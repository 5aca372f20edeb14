// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run bench gemm.cubin M=8192 N=8192 K=8192
// tile-run bench new.cubin old.cubin M=N=K=2^7..2^13 --baseline=cublas --baseline=cublaslt -o squares.jsonl
// tile-run bench --suite dense.suite --artifacts build/bench --check
#include "Lab/Bench/Baselines.h"
#include "Lab/Bench/Cases.h"
#include "Lab/Commands/Commands.h"

#include <filesystem>

namespace tile::runner {

namespace {

struct BenchOptions {
  RunOptions run;
  SuiteOptions suite;
  std::string inputs;
};

/// Removes the words before the first NAME=VALUE from the arguments, and returns them as artifacts.
std::vector<SuiteCase> takeArtifacts(RunOptions &options) {
  std::vector<SuiteCase> cases;
  std::vector<std::string> words = std::move(options.arguments);
  if (!options.artifact.empty())
    words.insert(words.begin(), options.artifact);
  options.arguments.clear();
  for (const std::string &word : words) {
    std::error_code ignored;
    const bool isFile = word.find('=') == std::string::npos || std::filesystem::exists(word, ignored);
    if (!isFile || !options.arguments.empty())
      options.arguments.push_back(word);
    else
      cases.emplace_back().artifact = word;
  }
  if (cases.size() > 1)
    for (SuiteCase &item : cases)
      item.name = std::filesystem::path(item.artifact).stem().string();
  return cases;
}

/// Adds an argument such as `a=b=zeros,uniform` to each case: the value of --inputs for its randomly filled float
/// buffers.
Result<std::vector<SuiteCase>> withInputs(const std::vector<SuiteCase> &cases, const BenchOptions &options) {
  std::vector<SuiteCase> all;
  for (const SuiteCase &item : cases) {
    Result<runtime::Artifact> artifact = runtime::readArtifactFile(item.artifact);
    if (!artifact)
      return artifact.error();
    std::string names;
    for (const Parameter &parameter : artifact->manifest.parameters) {
      const bool isGiven = std::any_of(options.run.arguments.begin(), options.run.arguments.end(),
                                       [&](auto &argument) { return argument.starts_with(parameter.name + "="); });
      if (parameter.buffer && parameter.buffer->role == runtime::BufferRole::Random && !isGiven &&
          runtime::isFloatType(parameter.type) && !parameter.defaultValue)
        names += parameter.name + "=";
    }
    if (names.empty())
      return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                "--inputs: kernel '{}' has no float buffer that is filled with random values",
                                artifact->manifest.kernel);
    all.push_back(item);
    all.back().arguments.push_back(names + options.inputs);
  }
  return all;
}

int bench(BenchOptions options) {
  for (const std::string &text : options.run.baselines)
    if (Result<BaselineChoice> choice = parseBaseline(text); !choice)
      return reportFailure(options.run, choice.error());
  if (!options.suite.file.empty() && options.inputs.empty())
    return runOneOrSuite(options.run, options.suite);
  if (!options.suite.file.empty())
    return reportFailure(options.run,
                         runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                            "--inputs is not for suites, whose cases specify their inputs"));
  std::vector<SuiteCase> artifacts = takeArtifacts(options.run);
  if (artifacts.empty())
    return withArtifact(options.run, [](const runtime::Artifact &) { return 0; }); // reports that none is given
  for (const SuiteCase &item : artifacts)
    if (item.artifact.ends_with(".tile") || item.artifact.ends_with(".py")) { // reports that tilec compiles sources
      RunOptions its = options.run;
      its.artifact = item.artifact;
      if (const int code = withArtifact(its, [](const runtime::Artifact &) { return 0; }))
        return code;
    }
  if (!options.inputs.empty()) {
    Result<std::vector<SuiteCase>> filled = withInputs(artifacts, options);
    if (!filled)
      return reportFailure(options.run, filled.error());
    artifacts = std::move(*filled);
  }
  Result<std::vector<SuiteCase>> cases = expandCases(artifacts, options.run.arguments);
  if (!cases)
    return reportFailure(options.run, cases.error());
  return runCases(options.run, *cases);
}

} // namespace

Action addBench(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<BenchOptions>(BenchOptions{start, {}, {}});
  options->run.bench = true;
  addArtifact(app, options->run)
      ->description(
          "Cubin, PTX or .tilepack made by tilec; several, given before the arguments, are measured one by one");
  addKernelOptions(app, options->run);
  app.get_option("arguments")
      ->description("As for tile-run run; a range makes a case of each value: M=2^7..2^13 (powers of two), "
                    "M=128..1024:128, M=1,16,300, or M=N=K=... for several parameters at once");
  addVariantOptions(app, options->run);
  addCheckOptions(app, options->run);
  addMeasureOptions(app, options->run);
  app.add_option("--inputs", options->inputs,
                 "Contents of floating-point inputs, such as random,zeros,uniform,uniform(0, 1),ones; each entry makes "
                 "a case. Power draw, and with it the clock, depends on the data")
      ->type_name("FILL,...")
      ->group("Measuring");
  app.add_option(
         "--flops", options->run.flops,
         "FLOPs per launch, as an expression over the parameters (2*Z*S*S*64), for kernels that skip a part of the "
         "operations in their expectation, such as causal attention")
      ->type_name("EXPR")
      ->group("Measuring");
  app.add_flag("--ceilings", options->run.ceilings,
               "Also measure the peak rates of the GPU, and report each case as a percentage of them")
      ->group("Measuring");
  app.add_flag("--resume", options->run.resume,
               "Skip the cases that are already in the file of -o, to resume after an interruption")
      ->group("Measuring");
  addSuiteOptions(app, options->suite);
  addFormatOption(app, options->run);
  return [options] { return bench(*options); };
}

} // namespace tile::runner
