// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines the warps, stages, cluster and schedule of the kernel, and chooses those that the kernel leaves open.

#pragma once

#include "Frontend/Sema/KernelParameter.h"
#include "Frontend/Sema/Part.h"

namespace tile::frontend {

class Choices : Part {
public:
  using Part::Part;
  bool isLeftOpen(const Parameter &parameter);
  void allowOpenSizes(const FunctionStmt &kernel, const std::vector<KernelParameter> &parameters);
  bool chooseOpen(const FunctionStmt &kernel, std::vector<KernelParameter> &parameters);
  void selectOptions(const FunctionStmt &kernel, const InstanceDirective *instance);

  std::optional<int> tunedWarps, tunedStages; // from the autotuner's configuration
  std::optional<int> numWarps, numStages;     // may be `leftOpen` until they are chosen
  std::optional<ClusterShape> cluster;        // may be open, too
  std::optional<Schedule> schedule;           // may be open, too

private:
  bool describeGemm(const DirectiveSet &directives, const std::map<std::string, KernelParameter> &parameters,
                    OpenGemm &gemm);
};

} // namespace tile::frontend
