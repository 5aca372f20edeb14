// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The configurations of @triton.autotune: the alternatives of one kernel, read from its source without running it.
//
//   @triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (4, 8)], key=["N"])
//
// This gives four configurations, {BLOCK=64} with 4 warps first, and the key N. A compilation of one of them adds its
// definitions, warps and stages to those of the request. By default the first one is compiled.

#pragma once

#include "Frontend/Frontend.h"

namespace tile::frontend {

/// One alternative. It only contains values that are not fixed by -D, the signature, an "#: instance" or an option.
struct KernelConfiguration {
  /// Constexpr values by name, as text that CompileRequest::definitions parses to the same value.
  std::map<std::string, std::string> definitions;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  /// True if "early_config_prune" depends on values that are only known at launch, so the kernel need not be correct
  /// with it for all calls. Otherwise it serves every call.
  bool isConditional = false;

  bool operator==(const KernelConfiguration &) const = default;
};

/// "#: config": configurations with these values only serve calls that satisfy the condition.
struct ConfigurationCondition {
  std::map<std::string, std::string> definitions; ///< as in KernelConfiguration; also num_warps and num_stages
  std::string condition;                          ///< expression in the manifest's language
};

struct KernelConfigurations {
  /// In source order, without duplicates. Empty if the kernel is not tuned, or nothing is known.
  std::vector<KernelConfiguration> configurations;
  /// Parameters on whose values the best configuration depends, in source order.
  std::vector<std::string> keys;
  std::vector<ConfigurationCondition> conditions;
  bool isComplete = true; ///< false: some configurations could not be evaluated
};

/// Lists the configurations of the kernel that the request names. Values that the request fixes (-D, the signature,
/// warps, stages) exclude configurations that disagree; if all do, the request takes precedence. num_ctas, maxnreg and
/// options of other targets do not affect results and are dropped. Values that cannot be determined without running the
/// host program are skipped with a note; errors are those that emitModule() would also report. Lists at most 4096
/// configurations.
KernelConfigurations listConfigurations(const Module &module, const CompileRequest &request,
                                        DiagnosticEngine &diagnostics);

} // namespace tile::frontend
