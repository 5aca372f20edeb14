// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the directives of the kernel, and describes its launch.

#pragma once

#include "Frontend/Sema/KernelParameter.h"
#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class Launch : Part {
public:
  using Part::Part;
  LaunchAttr launchAttribute(const FunctionStmt &kernel, const InstanceDirective *instance);
  bool checkDirectives(const FunctionStmt &kernel, const std::vector<KernelParameter> &parameters);

private:
  std::map<std::string, std::string> namesOtherThanIntegers(const FunctionStmt &kernel,
                                                            const std::vector<KernelParameter> &parameters);
  void checkConfig(const ConfigDirective &config, const FunctionStmt &kernel,
                   const std::vector<KernelParameter> &parameters);
  void checkConfigExists(const ConfigDirective &config);
  double evaluateTolerance(const ExpectDirective &directive);
  Grid gridOf(const FunctionStmt &kernel, const InstanceDirective *instance);
  Grid gridOfHost(const FunctionStmt &kernel); // SemaLaunch.cpp
};

/// Returns the kernels that run before this one (`#: after`), in the order in which they run.
std::vector<const FunctionStmt *> functionsBefore(const Module &module, const FunctionStmt &kernel);

} // namespace tile::frontend
