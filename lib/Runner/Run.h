// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel according to the options: bind arguments, run, look for damage, check, measure, save, report.
//
// The subcommands of `tile-run` are in Commands/; `tilec run` calls runArtifact for a GPU or the simulator, and
// runOnDevice for a device of its own (the interpreter). All of them print to stdout and stderr and return the
// process's exit code (see exitCodeHelp).
#pragma once

#include "Runner/Device/Execution.h"
#include "Runner/Results/Sources.h"
#include "Runtime/Artifact.h"

namespace tile::runner {

/// The core, without any printing. `artifactName` is for the report.
Result<RunReport> runKernel(const RunOptions &options, const runtime::Manifest &manifest, Device &device,
                            const std::string &artifactName);

// The steps of runKernel.
RunReport startReport(const Execution &execution, const Device &device, const std::string &artifactName);
/// As often as the options say, or up to a run that fails; then saves.
Status runRepeatedly(const RunOptions &options, Execution &execution, const Device &device, RunReport &report);
Status requireGpu(Device &device);
/// How to measure.
BenchRequest startBench(const RunOptions &options);

int runOnDevice(const RunOptions &options, const runtime::Manifest &manifest, Device &device);
/// On the device that the options name.
int runArtifact(const RunOptions &options, const runtime::Artifact &artifact);

/// Prints `program: error: message` and returns the exit code for the error: 2 for wrong usage, else 1.
int reportFailure(const RunOptions &options, const Error &error);

/// Prints `program: warning: message`.
void reportWarning(const RunOptions &options, const std::string &message);

/// Exit code of a program that would end with `code`: another one, with a message, if standard output is incomplete.
int finishOutput(const std::string &program, int code);

/// `options.device` with "auto" replaced: "cuda" where there is a GPU, or to measure; else "sim".
std::string chooseDevice(const RunOptions &options);

/// Where the sources are searched that reports show.
Sources::Folders sourceFolders(const RunOptions &options);

/// Fails where an option of the simulator is given for another device.
Status checkSimOptions(const RunOptions &options);

/// The device of the options, ready to take kernels: a GPU, or a simulator for each.
class DeviceLoader {
public:
  static Result<DeviceLoader> open(const RunOptions &options);
  /// On a GPU that is open, and stays so.
  static DeviceLoader on(const RunOptions &options, CudaContext &context);
  /// One variant.
  Result<std::unique_ptr<Device>> load(const runtime::Artifact &artifact) const;
  /// Null: the simulator.
  CudaContext *cuda() const { return context.get(); }
  const CudaDeviceInfo *gpu() const { return context ? &context->info() : nullptr; }
  int multiprocessors() const;
  /// "cuda:0 NVIDIA H200", "sim"
  std::string name() const;

private:
  RunOptions options;
  std::shared_ptr<CudaContext> context; ///< null: the simulator
};

/// Prints one report in the chosen format and appends it to --bench-json. `isFirst`: headers first.
Status printReport(const RunOptions &options, const RunReport &report, bool isFirst);

} // namespace tile::runner
