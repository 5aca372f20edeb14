// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/MeasureRun.h"

#include "Runner/Device/Execution.h"

namespace tile::runner {

using runtime::makeError;

BenchRequest startBench(const RunOptions &options) {
  BenchRequest request;
  request.options = &options;
  request.rounds = options.rounds;
  request.useGraphs = options.graph;
  request.isCold = options.l2.empty() ? !options.graph : options.l2 == "cold";
  request.measuresEnergy = options.energy;
  request.baselines = options.baselines;
  request.cublas = options.cublas;
  request.isPrecise = options.preciseBaseline;
  return request;
}

Result<BenchResult> measureRun(const RunOptions &options, CudaDevice &device, Execution &execution) {
  Result<std::vector<DeviceArgument>> arguments = execution.freshArguments();
  if (!arguments)
    return arguments.error();
  BenchRequest request = startBench(options);
  request.label = options.label;
  request.argumentText = execution.values().summary(execution.kernel());
  request.manifest = &execution.kernel();
  request.grid = execution.launchGrid();
  request.arguments = *arguments;
  request.names = &execution.names();
  if (!options.flops.empty()) {
    Result<std::vector<int64_t>> flops = execution.values().evaluate(std::vector{options.flops}, execution.kernel());
    if (!flops)
      return runtime::withContext(fmt::format("--flops={}", options.flops), flops.error());
    if (flops->front() <= 0)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "--flops={} is {}, but must be positive", options.flops,
                       flops->front());
    request.flops = static_cast<double>(flops->front());
  }
  return runBench(device, request);
}

} // namespace tile::runner
