// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with its arguments bound and its buffers filled, on a device that has loaded it.
//
//   Result<Execution> execution = Execution::prepare(options, manifest, device);
//   execution->run(report);        once, on fresh buffers; stores its results in the report
//   execution->output("c");        contents after the last run
#pragma once

#include "Runner/Inputs/Arguments.h"
#include "Runner/Options.h"
#include "Runner/Results/Report.h"

namespace tile::runner {

/// Host buffers of one kernel. `before` is never passed to a device.
struct HostBuffers {
  std::vector<HostBuffer> before; ///< one per parameter; unused for scalars
  std::vector<HostBuffer> after;
  std::vector<std::optional<TableTarget>> pointsInto; ///< for tables of addresses
  TensorNames names;                                  ///< `before` and the scalars, for expectations
  /// Expected values of an output.
  struct Recorded {
    std::string buffer;
    std::string file;
    HostBuffer contents;
  };
  std::vector<Recorded> recorded;
  std::map<std::string, HostBuffer> ofAllRanks; ///< by name in expectations: "peers(x)"
};

/// Validates the arguments, --save and --check as far as possible without opening a device.
Status validateRequest(const RunOptions &options, const Manifest &manifest);

class Execution {
public:
  /// Prepares an execution, which keeps references to all arguments. `previous` runs before each run of this kernel,
  /// whose inputs of the same names then have the values that it leaves.
  static Result<Execution> prepare(const RunOptions &options, const Manifest &manifest, Device &device,
                                   Execution *previous = nullptr);

  /// For an execution of a run on several GPUs: gives expectations the buffers of all ranks, of which this is one.
  Status linkPeers(std::span<Execution *const> ranks);

  Status run(RunReport &report);
  // The steps of a run: arguments with buffers in the state before it, and checks of what a device has left there.
  Result<std::vector<DeviceArgument>> freshArguments();
  Status finishRun(const RunTiming &timing, RunReport &report);
  /// Writes the outputs named by --save, and of a run on one device the timeline of --trace.
  Status saveOutputs() const;

  const HostBuffer &output(const std::string &name) const;
  const TensorNames &names() const { return buffers.names; }
  const Bindings &values() const { return bindings; }
  const Grid &launchGrid() const { return grid; }
  const Manifest &kernel() const { return *manifest; }

private:
  Execution(const RunOptions &options, const Manifest &manifest, Device &device, Bindings bindings)
      : options(&options), manifest(&manifest), device(&device), bindings(std::move(bindings)) {}
  Status linkPrevious();
  Status runPrevious(RunReport &report);
  Status check(RunReport &report) const;
  std::vector<std::string> unwrittenOutputs() const;

  const RunOptions *options;
  const Manifest *manifest;
  Device *device;
  Bindings bindings;
  Grid grid = {1, 1, 1};
  HostBuffers buffers;
  std::vector<NamedText> saves;
  Execution *previous = nullptr;
  /// Buffers that this kernel reads and an earlier one leaves: index of the parameter, its contents.
  std::vector<std::pair<size_t, const HostBuffer *>> links;
};

} // namespace tile::runner
