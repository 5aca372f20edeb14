// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Explains an artifact, which contains its PTX and the path of its source, but no IR, layouts or passes.
#include "Explain/ExplainArtifact.h"

#include "Explain/Simulation.h"
#include "Runner/Device/Variants.h"
#include "Runner/Inputs/Npy.h"
#include "Runner/Run.h"
#include "Target/Card/CardTarget.h"

#include <cstdio>
#include <filesystem>

namespace tile::explain {
namespace {

using runner::RunOptions;
using runtime::makeError;
using runtime::Result;
using runtime::Status;

struct Output {
  std::string file, trace;
};

Status write(const Output &output, const Explanation &made, const std::string &title) {
  const bool isPage = output.file.ends_with(".html");
  const std::string text = isPage ? makePage(made.document, title) : made.document + "\n";
  if (output.file == "-")
    std::fwrite(text.data(), 1, text.size(), stdout);
  else if (Status status = runner::writeFileAtomically(output.file, text); !status)
    return status;
  return output.trace.empty() ? runtime::Success{} : runner::writeFileAtomically(output.trace, made.trace);
}

/// Explains the variant that the call selects.
Status explainArtifact(RunOptions run, const Output &output, const runtime::Artifact &artifact) {
  const target::GpuTarget *gpu = target::findTarget(artifact.manifest.target, artifact.manifest.card);
  if (!gpu) // the PTX was not compiled by tilec
    gpu = target::findTarget("sm_90a");
  run.device = "sim";
  run.multiprocessors = run.multiprocessors ? run.multiprocessors : int(gpu->numSms);
  Result<runner::DeviceLoader> loader = runner::DeviceLoader::open(run);
  if (!loader)
    return loader.error();
  Result<runner::Variants> variants = runner::Variants::open(run, artifact, *loader);
  if (!variants)
    return variants.error();
  Result<runner::Variants::Taken> taken = variants->take(run);
  if (!taken)
    return taken.error();
  Result<runtime::Artifact> variant = runtime::selectVariant(artifact, taken->index);
  if (!variant)
    return variant.error();

  WatchedRun watched;
  if (Status status = simulate(taken->options, *variant, *gpu, watched); !status)
    return status;
  const CompilerFacts nothing;
  Evidence evidence{.gpu = *gpu, .manifest = variant->manifest, .compiler = nothing};
  evidence.sourceText =
      runner::Sources(runner::sourceFolders(run), variant->manifest.sourceHash).text(variant->manifest.sourceFile);
  evidence.multiprocessors = unsigned(run.multiprocessors);
  if (Result<std::string> ptx = runtime::findPtx(*variant))
    evidence.ptx = std::move(*ptx);
  const Explanation made = describe(std::move(evidence), watched, taken->options, {});
  return write(output, made, std::filesystem::path(run.artifact).filename().string());
}

} // namespace

runner::Action addExplain(CLI::App &app, const RunOptions &start) {
  struct Options {
    RunOptions run;
    Output output;
  };
  auto options = std::make_shared<Options>(Options{start, {}});
  runner::addArtifact(app, options->run);
  runner::addKernelOptions(app, options->run);
  runner::addVariantOptions(app, options->run);
  app.add_option("-o", options->output.file, "Write the page (.html) or its data (.json) to this file")
      ->type_name("FILE");
  app.add_option("--trace", options->output.trace, "Write the modelled timeline for Chrome or Perfetto")
      ->type_name("FILE.json");
  app.add_option("--sms", options->run.multiprocessors, "Multiprocessors of the simulated GPU (default: the target's)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--steps", options->run.steps, "Instructions after which a warp is considered hung");
  runner::addTimeLimit(app, options->run);
  app.add_option("--sources", options->run.sourceFolders,
                 "Folder to search for the kernel's source, besides the working directory and the artifact's folder")
      ->type_name("FOLDER");
  return [options] {
    const std::string &file = options->output.file;
    if (!file.ends_with(".html") && !file.ends_with(".json") && file != "-")
      return runner::reportFailure(
          options->run,
          file.empty() ? makeError(TILE_ERROR_INVALID_ARGUMENT, "no output file; give -o FILE.html or -o FILE.json")
                       : makeError(TILE_ERROR_INVALID_ARGUMENT, "'{}' is neither .html nor .json", file));
    return runner::withArtifact(options->run, [&](const runtime::Artifact &artifact) {
      const Status status = explainArtifact(options->run, options->output, artifact);
      return status ? 0 : runner::reportFailure(options->run, status.error());
    });
  };
}

} // namespace tile::explain
