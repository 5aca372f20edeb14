// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels by the paths of their artifacts, each read once and loaded on first use, for suites and soaks.
#pragma once

#include "Runner/Device/Variants.h"

#include <functional>

namespace tile::runner {

class LoadedArtifacts {
public:
  /// Keeps references to both. The options determine the choice of variants.
  LoadedArtifacts(const RunOptions &options, const DeviceLoader &loader) : options(options), loader(loader) {}

  Result<Variants *> open(const std::string &path);
  /// Runs `options.artifact` after validating the arguments. `beforeRun` is called with the device.
  Result<RunReport> run(const RunOptions &options, const std::function<void(Device &)> &beforeRun = {});
  /// Returns the total elements of all buffers of a call of `path`.
  Result<int64_t> countElements(const std::string &path, const std::vector<std::string> &arguments);
  const DeviceLoader &device() const { return loader; }

private:
  struct Loaded {
    std::unique_ptr<runtime::Artifact> artifact; ///< referenced by the variants
    Variants variants;
  };

  const RunOptions &options;
  const DeviceLoader &loader;
  std::map<std::string, Loaded> all;
};

} // namespace tile::runner
