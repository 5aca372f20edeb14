// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with its arguments bound and its buffers filled, on a device that has loaded it.
//
//   Result<Execution> execution = Execution::prepare(options, manifest, device);
//   execution->run(report);        once, on fresh buffers; what it finds goes into the report
//   execution->output("c");        as the last run left it
#pragma once

#include "Runner/Inputs/Arguments.h"
#include "Runner/Options.h"
#include "Runner/Results/Report.h"

namespace tile::runner {

/// Host buffers of one kernel: `before` is never given to a device.
struct HostBuffers {
  std::vector<HostBuffer> before; ///< one per parameter; unused for scalars
  std::vector<HostBuffer> after;
  std::vector<std::optional<size_t>> pointsInto; ///< of tables of addresses
  TensorNames names;                             ///< `before` and the scalars, for expectations
  /// What outputs are compared with.
  struct Recorded {
    std::string buffer;
    std::string file;
    HostBuffer contents;
  };
  std::vector<Recorded> recorded;
};

/// Whether the arguments, --save and --check fit the kernel: what can be said without opening a device.
Status validateRequest(const RunOptions &options, const Manifest &manifest);

class Execution {
public:
  /// Keeps references to all three.
  static Result<Execution> prepare(const RunOptions &options, const Manifest &manifest, Device &device);

  Status run(RunReport &report);
  /// Arguments with the buffers as they were before a run.
  Result<std::vector<DeviceArgument>> freshArguments();
  /// Writes what --save names.
  Status saveOutputs() const;

  const HostBuffer &output(const std::string &name) const;
  const TensorNames &names() const { return buffers.names; }
  const Bindings &values() const { return bindings; }
  const Grid &launchGrid() const { return grid; }
  const Manifest &kernel() const { return *manifest; }

private:
  Execution(const RunOptions &options, const Manifest &manifest, Device &device, Bindings bindings)
      : options(&options), manifest(&manifest), device(&device), bindings(std::move(bindings)) {}
  Status check(RunReport &report) const;
  std::vector<std::string> unwrittenOutputs() const;

  const RunOptions *options;
  const Manifest *manifest;
  Device *device;
  Bindings bindings;
  Grid grid = {1, 1, 1};
  HostBuffers buffers;
  std::vector<NamedText> saves;
};

} // namespace tile::runner
