// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels by the paths of their artifacts, each read once and loaded when it is first needed: what suites and soaks
// run.
#pragma once

#include "Runner/Device/Variants.h"

#include <functional>

namespace tile::runner {

class LoadedArtifacts {
public:
  /// Keeps references to both. The options say how variants are chosen.
  LoadedArtifacts(const RunOptions &options, const DeviceLoader &loader) : options(options), loader(loader) {}

  Result<Variants *> open(const std::string &path);
  /// What `options.artifact` gives, after a look at the arguments. `beforeRun` sees the device.
  Result<RunReport> run(const RunOptions &options, const std::function<void(Device &)> &beforeRun = {});
  /// Of all buffers of a call of `path`.
  Result<int64_t> countElements(const std::string &path, const std::vector<std::string> &arguments);
  const DeviceLoader &device() const { return loader; }

private:
  struct Loaded {
    std::unique_ptr<runtime::Artifact> artifact; ///< the variants point at it
    Variants variants;
  };

  const RunOptions &options;
  const DeviceLoader &loader;
  std::map<std::string, Loaded> all;
};

} // namespace tile::runner
