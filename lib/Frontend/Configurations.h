// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The configurations that a kernel's @triton.autotune decorator lists, read from the source without running it.
//
//   @triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (4, 8)], key=["N"])
//
// This example has four configurations, of which the first is {BLOCK=64} with 4 warps, and the key N. To compile one of
// them, its definitions, warps and stages are added to those of the request. By default, the first one is compiled.

#pragma once

#include "Frontend/Frontend.h"

namespace tile::frontend {

/// One configuration. It contains only values that are not fixed by -D, the signature, an "#: instance" or an option.
struct KernelConfiguration {
  /// Constexpr values by name, as text that CompileRequest::definitions parses to the same value.
  std::map<std::string, std::string> definitions;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  /// True if "early_config_prune" may reject the configuration because of values that are known only at launch. The
  /// kernel may then be wrong for some calls with this configuration. If false, it must be correct for all calls.
  bool isConditional = false;

  bool operator==(const KernelConfiguration &) const = default;
};

/// "#: config": configurations with these values may be used only for calls that satisfy the condition.
struct ConfigurationCondition {
  std::map<std::string, std::string> definitions; ///< as in KernelConfiguration; also num_warps and num_stages
  std::string condition;                          ///< expression in the manifest's language
};

struct KernelConfigurations {
  /// In source order, without duplicates. Empty if the kernel is not tuned or no configuration could be evaluated.
  std::vector<KernelConfiguration> configurations;
  /// Parameters on whose values the best configuration depends, in source order.
  std::vector<std::string> keys;
  std::vector<ConfigurationCondition> conditions;
  bool isComplete = true; ///< false if some configurations could not be evaluated
};

/// Lists the configurations of the kernel that the request names. Values that the request fixes (-D, the signature,
/// warps, stages) exclude configurations with other values; if they exclude all, the request takes precedence.
/// num_ctas, maxnreg and options for other targets do not affect results and are dropped. Values that cannot be
/// determined without running the host program are skipped with a note. All reported errors are errors that
/// emitModule() would report, too. Lists at most 4096 configurations.
KernelConfigurations listConfigurations(const Module &module, const CompileRequest &request,
                                        DiagnosticEngine &diagnostics);

} // namespace tile::frontend
