// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts by path, for suites and soaks. Each is read once, and its kernels are loaded when they are first used.
#pragma once

#include "Runner/Device/Variants.h"

#include <functional>

namespace tile::runner {

class LoadedArtifacts {
public:
  /// Keeps references to both arguments. The options determine which variants are chosen.
  LoadedArtifacts(const RunOptions &options, const DeviceLoader &loader) : options(options), loader(loader) {}

  Result<Variants *> open(const std::string &path);
  /// Runs `options.artifact` after validating the arguments. Calls `beforeRun` with the device.
  Result<RunReport> run(const RunOptions &options, const std::function<void(Device &)> &beforeRun = {});
  /// Returns the total number of elements of all buffers for a call of the kernel at `path` with these arguments.
  Result<int64_t> countElements(const std::string &path, const std::vector<std::string> &arguments);
  const DeviceLoader &device() const { return loader; }

private:
  struct Loaded {
    std::unique_ptr<runtime::Artifact> artifact; ///< the variants refer to it
    Variants variants;
  };

  const RunOptions &options;
  const DeviceLoader &loader;
  std::map<std::string, Loaded> all;
};

} // namespace tile::runner
