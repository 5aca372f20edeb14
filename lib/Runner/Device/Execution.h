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

/// The host buffers of one kernel. `before` is never passed to a device.
struct HostBuffers {
  std::vector<HostBuffer> before; ///< one per parameter; unused for scalars
  std::vector<HostBuffer> after;
  std::vector<std::optional<TableTarget>> pointsInto; ///< for tables of addresses
  TensorNames names;                                  ///< `before` and the scalars, for expectations
  /// The expected values of an output.
  struct Recorded {
    std::string buffer;
    std::string file;
    HostBuffer contents;
  };
  std::vector<Recorded> recorded;
  std::map<std::string, HostBuffer> ofAllRanks; ///< keyed by the name in expectations: "peers(x)"
};

/// Validates the arguments, --save and --check as far as that is possible without opening a device.
Status validateRequest(const RunOptions &options, const Manifest &manifest);

class Execution {
public:
  /// Prepares an execution, which keeps references to all arguments. `previous` runs before each run of this kernel,
  /// and this kernel's inputs then contain the values that it leaves in buffers of the same names.
  static Result<Execution> prepare(const RunOptions &options, const Manifest &manifest, Device &device,
                                   Execution *previous = nullptr);

  /// Makes the buffers of all ranks available to expectations. `ranks` are the executions of a run on several GPUs,
  /// including this one.
  Status linkPeers(std::span<Execution *const> ranks);

  Status run(RunReport &report);
  // The steps of a run: creating arguments with buffers in their initial state, and checking the contents that a device
  // has left in them.
  Result<std::vector<DeviceArgument>> freshArguments();
  Status finishRun(const RunTiming &timing, RunReport &report);
  /// Writes the outputs named by --save and, for a run on one device, the timeline requested by --trace.
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
  /// Buffers that an earlier kernel leaves for this one: the index of the parameter, and the contents.
  std::vector<std::pair<size_t, const HostBuffer *>> links;
};

} // namespace tile::runner
