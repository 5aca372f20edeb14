// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel as the options specify: binds arguments, runs the kernel, detects memory corruption, compares with the
// reference, measures, saves outputs and reports.
//
// The subcommands of `tile-run` are in lib/Lab. `tilec run` calls runArtifact for a GPU or the simulator, and
// runOnDevice for another device (the interpreter). These functions print to stdout and stderr and return the exit code
// of the process (see exitCodeHelp).
#pragma once

#include "Runner/Device/CudaDevice.h"
#include "Runner/Device/EarlierKernels.h"
#include "Runner/Results/Sources.h"
#include "Runtime/Artifact.h"

namespace tile::runner {

/// Runs the kernel without printing. `artifactName` is used in the report. The `earlier` kernels run before this one.
Result<RunReport> runKernel(const RunOptions &options, const runtime::Manifest &manifest, Device &device,
                            const std::string &artifactName, const EarlierKernels &earlier = {});

// The steps of runKernel.
RunReport startReport(const Execution &execution, const Device &device, const std::string &artifactName);
/// Repeats the run as often as the options specify, or until a run fails; then saves outputs.
Status runRepeatedly(const RunOptions &options, Execution &execution, const Device &device, RunReport &report);
Status requireGpu(Device &device);

int runOnDevice(const RunOptions &options, const runtime::Manifest &manifest, Device &device,
                const EarlierKernels &earlier = {});
/// Runs the artifact on the device that the options select, after the `earlier` artifacts.
int runArtifact(const RunOptions &options, const runtime::Artifact &artifact,
                std::span<const runtime::Artifact> earlier = {});

/// Prints `program: error: message` and returns the exit code for the error: 2 for usage errors, otherwise 1.
int reportFailure(const RunOptions &options, const Error &error);

/// Returns a limit that ends the process if the run takes longer than --time-limit. A run on a GPU has no such limit.
std::unique_ptr<HardLimit> enforceLimit(const RunOptions &options);
/// Returns the same limit for work on the host that precedes a run, such as compiling, whatever the device.
std::unique_ptr<HardLimit> enforceLimitOnHost(const RunOptions &options);

/// Prints `program: warning: message`.
void reportWarning(const RunOptions &options, const std::string &message);

/// Returns the final exit code of a program that would end with `code`. If standard output could not be written
/// completely, prints a message and returns another code.
int finishOutput(const std::string &program, int code);

/// Returns `options.device`. Resolves "auto" to "cuda" if there is a GPU or if the run is measured, otherwise to "sim".
std::string chooseDevice(const RunOptions &options);

/// Returns the folders with sources that may be shown in reports.
Sources::Folders sourceFolders(const RunOptions &options);

/// Fails if a simulator option is given for another device.
Status checkSimOptions(const RunOptions &options);

/// Loads kernels on the device that the options select: one GPU for all kernels, or one simulator per kernel.
class DeviceLoader {
public:
  static Result<DeviceLoader> open(const RunOptions &options);
  /// Returns a loader for an open GPU. The context must outlive the loader.
  static DeviceLoader on(const RunOptions &options, CudaContext &context);
  /// Loads one variant.
  Result<std::unique_ptr<Device>> load(const runtime::Artifact &artifact) const;
  /// Returns the GPU's context, or null for the simulator.
  CudaContext *cuda() const { return context.get(); }
  const CudaDeviceInfo *gpu() const { return context ? &context->info() : nullptr; }
  int multiprocessors() const;
  /// Returns "cuda:0 NVIDIA H200" or "sim".
  std::string name() const;

private:
  RunOptions options;
  std::shared_ptr<CudaContext> context; ///< null for the simulator
};

/// Prints one report in the chosen format and appends it to the --bench-json file. If `isFirst`, prints headers first.
Status printReport(const RunOptions &options, const RunReport &report, bool isFirst);

} // namespace tile::runner
