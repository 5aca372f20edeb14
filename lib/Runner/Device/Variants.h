// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants of an artifact on a device. Chooses the variant for a call as a launch through libtilert does, and loads
// each variant when it is first used.
//
//   Result<Variants> variants = Variants::open(options, artifact, loader);
//   Result<Variants::Taken> taken = variants->take(options);      arguments are those of the first variant
//   runKernel(taken->options, *taken->manifest, *taken->device, name);
//
// An artifact with one kernel has one variant.
#pragma once

#include "Runner/Run.h"
#include "Runtime/Choice.h"

namespace tile::runner {

/// The values of a call for the parameters of the first variant. Buffers have placeholder addresses with the same
/// alignment as their final addresses.
class CallValues {
public:
  static Result<CallValues> bind(const RunOptions &options, const Manifest &general, int multiprocessors);

  CallValues(CallValues &&) = default;

  /// Returns a call that lives as long as this object.
  runtime::Call call() const { return {pointers.data(), grid.empty() ? nullptr : grid.data()}; }
  const Bindings &bindings() const { return bound; }

private:
  explicit CallValues(Bindings bindings) : bound(std::move(bindings)) {}
  Bindings bound;
  std::vector<uint64_t> values;
  std::vector<void *> pointers; ///< pointers to `values`
  std::vector<int64_t> grid;    ///< the grid given by the caller; empty: each variant's own grid
};

class Variants {
public:
  /// Opens the variants. Keeps references to the artifact and the loader. Tuning tables for other artifacts or devices
  /// are reported on stderr and ignored.
  static Result<Variants> open(const RunOptions &options, const runtime::Artifact &artifact,
                               const DeviceLoader &loader);

  struct Taken {
    size_t index = 0;
    const Manifest *manifest = nullptr;
    Device *device = nullptr;
    RunOptions options; ///< the options with arguments for this variant's parameters
  };
  /// Loads the variant `options.variant`, or the one chosen for the call. If no variant accepts the call, the error
  /// gives the reason for each of them.
  Result<Taken> take(const RunOptions &options);
  /// Returns the index of the chosen variant without loading it.
  Result<size_t> choose(const RunOptions &options) const;

  Result<Device *> load(size_t index);
  const runtime::Artifact &artifact() const { return *source; }
  const runtime::Chooser &chooser() const { return *choices; }
  const runtime::DeviceVariants &onDevice() const { return device; }
  int multiprocessors() const { return device.multiprocessors; }

private:
  Variants(const runtime::Artifact &artifact, const DeviceLoader &loader) : source(&artifact), loader(&loader) {}
  Result<size_t> choose(const RunOptions &options, const runtime::Call &call) const;
  Result<size_t> findNamed(const std::string &name) const;

  const runtime::Artifact *source;
  const DeviceLoader *loader;
  std::string target; ///< the target of the simulated variants; empty: a GPU
  std::unique_ptr<runtime::Chooser> choices;
  runtime::DeviceVariants device;
  std::map<size_t, std::unique_ptr<Device>> loaded;
};

/// Converts `assignments` for the first variant's parameters to assignments for another variant. Parameters that the
/// other variant lacks get their evaluated values, like constants.
std::vector<std::string> argumentsFor(const Manifest &variant, const Manifest &general, const Bindings &bindings,
                                      const std::vector<std::string> &assignments);

} // namespace tile::runner
