// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A variant of an artifact, and the calls with which it is tested.
#pragma once

#include "Lab/Verify/PtxUses.h"
#include "Lab/Verify/Trials.h"
#include "Lab/Verify/Verdict.h"
#include "Runner/Run.h"
#include "Runtime/Choice.h"

namespace tile::runner {

struct TestedVariant {
  runtime::Artifact artifact; ///< the artifact with only this variant
  TrialPlan plan;
  PtxUses uses;
  /// calls that satisfy its conditions
  Admission admits;
  /// arguments of the variant's parameters
  std::function<std::vector<std::string>(const std::vector<std::string> &arguments)> adapt;

  const Manifest &manifest() const { return artifact.manifest; }
  Verdict startVerdict() const;
  /// Returns the options with the arguments of a call.
  RunOptions optionsFor(const TrialCall &call, const RunOptions &options) const;
  /// Returns "gemm.cubin M=65 N=1 --variant=general --seed=7".
  std::string commandFor(const TrialCall &call, const RunOptions &options) const;
};

/// Checks the arguments that a command fixes or gives ranges for: names, values and constants of the kernel.
Status checkGivenArguments(const std::vector<std::string> &given, const Manifest &manifest);

/// The variants of an artifact.
class TestedVariants {
public:
  /// Selects the variants that `options.variant` and `options.target` name, or all variants. The artifact must outlive
  /// this object. `multiprocessors` is the number of multiprocessors of the device.
  static Result<TestedVariants> open(const RunOptions &options, const runtime::Artifact &artifact, int multiprocessors);

  size_t size() const { return indices.size(); }
  /// Fails if the variant has no PTX, or no sizes can be planned.
  Result<std::unique_ptr<TestedVariant>> load(size_t number) const;
  const Manifest &manifest(size_t number) const { return chooser->manifest(indices[number]); }

private:
  TestedVariants(const RunOptions &options, const runtime::Artifact &artifact, int multiprocessors)
      : options(&options), source(&artifact), multiprocessors(multiprocessors) {}

  const RunOptions *options;
  const runtime::Artifact *source;
  int multiprocessors;
  std::shared_ptr<runtime::Chooser> chooser;
  std::vector<size_t> indices; ///< indices of the selected variants
};

} // namespace tile::runner
