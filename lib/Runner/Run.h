// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel according to the options: binds arguments, runs, detects damage, checks, measures, saves, reports.
//
// The subcommands of `tile-run` are in Commands/. `tilec run` calls runArtifact for a GPU or the simulator, and
// runOnDevice for another device (the interpreter). All of them print to stdout and stderr and return the process's
// exit code (see exitCodeHelp).
#pragma once

#include "Runner/Device/CudaDevice.h"
#include "Runner/Device/EarlierKernels.h"
#include "Runner/Results/Sources.h"
#include "Runtime/Artifact.h"

namespace tile::runner {

/// Runs the kernel without printing. `artifactName` is for the report.
/// `earlier` kernels run before.
Result<RunReport> runKernel(const RunOptions &options, const runtime::Manifest &manifest, Device &device,
                            const std::string &artifactName, const EarlierKernels &earlier = {});

// The steps of runKernel.
RunReport startReport(const Execution &execution, const Device &device, const std::string &artifactName);
/// Repeats as often as the options specify, or until a run fails; then saves.
Status runRepeatedly(const RunOptions &options, Execution &execution, const Device &device, RunReport &report);
Status requireGpu(Device &device);

int runOnDevice(const RunOptions &options, const runtime::Manifest &manifest, Device &device,
                const EarlierKernels &earlier = {});
/// Runs on the device that the options select, after `earlier` artifacts.
int runArtifact(const RunOptions &options, const runtime::Artifact &artifact,
                std::span<const runtime::Artifact> earlier = {});

/// Prints `program: error: message` and returns the exit code for the error: 2 for wrong usage, otherwise 1.
int reportFailure(const RunOptions &options, const Error &error);

/// Returns a limit that ends the process if the run takes longer than --time-limit, except on a GPU.
std::unique_ptr<HardLimit> enforceLimit(const RunOptions &options);

/// Prints `program: warning: message`.
void reportWarning(const RunOptions &options, const std::string &message);

/// Returns the final exit code of a program that would end with `code`: another one, with a message, if standard output
/// could not be written completely.
int finishOutput(const std::string &program, int code);

/// Returns `options.device` with "auto" resolved: "cuda" if there is a GPU or for measurements, otherwise "sim".
std::string chooseDevice(const RunOptions &options);

/// Returns the folders with sources that reports show.
Sources::Folders sourceFolders(const RunOptions &options);

/// Fails if an option of the simulator is given for another device.
Status checkSimOptions(const RunOptions &options);

/// Loads kernels on the device of the options: a GPU, or one simulator per kernel.
class DeviceLoader {
public:
  static Result<DeviceLoader> open(const RunOptions &options);
  /// Returns a loader for an open GPU, which must outlive it.
  static DeviceLoader on(const RunOptions &options, CudaContext &context);
  /// Loads one variant.
  Result<std::unique_ptr<Device>> load(const runtime::Artifact &artifact) const;
  /// Returns null for the simulator.
  CudaContext *cuda() const { return context.get(); }
  const CudaDeviceInfo *gpu() const { return context ? &context->info() : nullptr; }
  int multiprocessors() const;
  /// Returns "cuda:0 NVIDIA H200" or "sim".
  std::string name() const;

private:
  RunOptions options;
  std::shared_ptr<CudaContext> context; ///< null: the simulator
};

/// Prints one report in the chosen format and appends it to --bench-json. `isFirst`: prints headers first.
Status printReport(const RunOptions &options, const RunReport &report, bool isFirst);

} // namespace tile::runner
