// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the decorators that set compile-time parameters: @triton.autotune and @triton.heuristics.

#pragma once

#include "Frontend/Configurations.h"
#include "Frontend/Sema/KernelParameter.h"
#include "Frontend/Sema/Part.h"
#include "Frontend/Sema/Tuning.h"

namespace tile::frontend {

class Tuner : Part {
public:
  using Part::Part;
  void applyDecorators(const FunctionStmt &kernel, ResolvedParameters &parameters);
  std::optional<std::string> definitionOf(const SymValue &value);
  KernelConfigurations listTuned();

  std::vector<UnknownHost> unknownHosts;

private:
  std::optional<bool> divisibility(const Expr &condition, const std::string &arguments,
                                   const ResolvedParameters &parameters);
  void applyHeuristics(const CallExpr &decorator, ResolvedParameters &parameters);
  void prune(HostReader &reader, const Expr &rules, const ResolvedParameters &parameters,
             std::vector<SymValue> &configurations);
  Tuning readAutotune(const FunctionStmt &kernel, const CallExpr &decorator, const ResolvedParameters &parameters);
  void applyAutotune(const FunctionStmt &kernel, const CallExpr &decorator, ResolvedParameters &parameters);

  std::vector<Tuning> tunings; // innermost decorator first
  std::map<std::string, std::optional<SymValue>> readableTexts;
};

} // namespace tile::frontend
