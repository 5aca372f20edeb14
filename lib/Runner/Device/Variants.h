// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants of an artifact on a device: which of them a call takes, as a launch through libtilert chooses, each
// loaded when it is first needed.
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

/// Values as a launch has them, for the parameters of the first variant. Buffers have made-up addresses that are
/// aligned, or not, as theirs will be.
class CallValues {
public:
  static Result<CallValues> bind(const RunOptions &options, const Manifest &general, int multiprocessors);

  CallValues(CallValues &&) = default;

  /// Lives as long as this.
  runtime::Call call() const { return {pointers.data(), grid.empty() ? nullptr : grid.data()}; }
  const Bindings &bindings() const { return bound; }

private:
  explicit CallValues(Bindings bindings) : bound(std::move(bindings)) {}
  Bindings bound;
  std::vector<uint64_t> values;
  std::vector<void *> pointers; ///< to `values`
  std::vector<int64_t> grid;    ///< the caller's own; empty: each variant's
};

class Variants {
public:
  /// Keeps references to the artifact and the loader. Tuning tables that are not for this artifact on this device are
  /// said on stderr, and not used.
  static Result<Variants> open(const RunOptions &options, const runtime::Artifact &artifact,
                               const DeviceLoader &loader);

  struct Taken {
    size_t index = 0;
    const Manifest *manifest = nullptr;
    Device *device = nullptr;
    RunOptions options; ///< with arguments for this variant's parameters
  };
  /// `options.variant`, or what the call takes; an error says what fails of each variant.
  Result<Taken> take(const RunOptions &options);
  /// Its number, without loading it.
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
  std::string target; ///< of the simulator's variants; empty: a GPU
  std::unique_ptr<runtime::Chooser> choices;
  runtime::DeviceVariants device;
  std::map<size_t, std::unique_ptr<Device>> loaded;
};

/// `assignments` for the first variant's parameters, for a variant that may lack some: these then have values, as
/// constants are given.
std::vector<std::string> argumentsFor(const Manifest &variant, const Manifest &general, const Bindings &bindings,
                                      const std::vector<std::string> &assignments);

} // namespace tile::runner
