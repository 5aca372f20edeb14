// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What @triton.autotune would choose from: the alternatives of one kernel, read from its source without running it.
//
//   @triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (4, 8)], key=["N"])
//
// gives four configurations, {BLOCK=64} with 4 warps first, and the key N. A compilation of one of them adds its
// definitions, warps and stages to those of the request; without any, the first one is compiled.

#pragma once

#include "Frontend/Frontend.h"

namespace tile::frontend {

/// One alternative. It says only what nothing else fixes: no -D, signature, "#: instance" or option.
struct KernelConfiguration {
  /// Constexpr -> its value, as text that CompileRequest::definitions reads back exactly.
  std::map<std::string, std::string> definitions;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  /// It is pruned for some arguments ("early_config_prune" asks for values that are known only at launch), so that the
  /// kernel need not be right with it for all calls. Without a value it serves every call.
  bool isConditional = false;

  bool operator==(const KernelConfiguration &) const = default;
};

/// "#: config": configurations with these values serve only calls for which the condition holds.
struct ConfigurationCondition {
  std::map<std::string, std::string> definitions; ///< as those of a KernelConfiguration; also num_warps and num_stages
  std::string condition;                          ///< expression of the manifest
};

struct KernelConfigurations {
  /// In the order of the source, without duplicates. Empty: the kernel is not tuned, or nothing of it is known.
  std::vector<KernelConfiguration> configurations;
  /// Parameters on whose values the best of them depends, in the order of the source.
  std::vector<std::string> keys;
  std::vector<ConfigurationCondition> conditions;
};

/// Lists the configurations of the kernel that the request names. Values that the request fixes (-D, the signature,
/// warps, stages) drop the configurations that disagree; if all do, the request wins over them. num_ctas, maxnreg and
/// options of other targets change no result, and are left out. What cannot be known without running the host program
/// is left out with a note; errors are those that emitModule() would report too.
/// At most 4096 configurations are listed.
KernelConfigurations listConfigurations(const Module &module, const CompileRequest &request,
                                        DiagnosticEngine &diagnostics);

} // namespace tile::frontend
