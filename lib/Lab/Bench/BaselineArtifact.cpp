// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Bench/BaselineArtifact.h"

#include "Runner/Device/Variants.h"

namespace tile::runner {

namespace {

/// The kernel of the baseline. Later members refer to earlier members.
struct OtherKernel {
  runtime::Artifact artifact;
  std::unique_ptr<DeviceLoader> loader;
  std::unique_ptr<Variants> variants;
  std::unique_ptr<Variants::Taken> taken;
  std::unique_ptr<Execution> execution;
  std::vector<CudaSession> sessions;
};

Result<Baseline> prepare(const std::string &file, const BaselineRequest &request) {
  auto other = std::make_shared<OtherKernel>();
  RunOptions options = *request.bench->options;
  options.artifact = file;
  options.variant.clear();
  Result<runtime::Artifact> artifact = runtime::readArtifactFile(file);
  if (!artifact)
    return artifact.error();
  other->artifact = std::move(*artifact);
  if (Status status = validateRequest(options, other->artifact.manifest); !status)
    return status.error();
  other->loader = std::make_unique<DeviceLoader>(DeviceLoader::on(options, request.device->cudaContext()));
  Result<Variants> variants = Variants::open(options, other->artifact, *other->loader);
  if (!variants)
    return variants.error();
  other->variants = std::make_unique<Variants>(std::move(*variants));
  Result<Variants::Taken> taken = other->variants->take(options);
  if (!taken)
    return taken.error();
  other->taken = std::make_unique<Variants::Taken>(std::move(*taken));
  Device &device = *other->taken->device;
  Result<Execution> execution = Execution::prepare(other->taken->options, *other->taken->manifest, device);
  if (!execution)
    return execution.error();
  other->execution = std::make_unique<Execution>(std::move(*execution));
  Result<std::vector<DeviceArgument>> arguments = other->execution->freshArguments();
  if (!arguments)
    return arguments.error();
  Baseline baseline;
  const std::string &variant = other->taken->manifest->variant;
  baseline.name = file + (variant.empty() ? "" : " (" + variant + ")");
  for (size_t i = 0; i < request.sessions.size(); ++i) {
    Result<CudaSession> session = device.asCuda()->prepare(*arguments);
    if (!session)
      return session.error();
    other->sessions.push_back(std::move(*session));
  }
  for (CudaSession &session : other->sessions)
    baseline.launches.push_back([&session, grid = other->execution->launchGrid()](runtime::CUstream stream) {
      return session.launch(grid, stream);
    });
  // Compare the first buffer that both kernels write.
  const std::vector<Parameter> &theirs = other->taken->manifest->parameters;
  for (size_t i = 0; i < request.bench->arguments.size() && !baseline.comparedArgument; ++i) {
    const Parameter &parameter = *request.bench->arguments[i].parameter;
    if (!parameter.isPointer || !parameter.buffer || parameter.buffer->role != runtime::BufferRole::Output)
      continue;
    for (size_t j = 0; j < theirs.size(); ++j) {
      const HostBuffer *ours = request.bench->arguments[i].buffer, *buffer = (*arguments)[j].buffer;
      if (theirs[j].name != parameter.name || !buffer || buffer->type() != ours->type() ||
          buffer->layout().strides != ours->layout().strides)
        continue;
      baseline.comparedArgument = i;
      baseline.result = other->sessions.front().address(j);
    }
  }
  baseline.owner = std::move(other);
  return baseline;
}

} // namespace

Result<Baseline> artifactBaseline(const std::string &file, const BaselineRequest &request) {
  Result<Baseline> baseline = prepare(file, request);
  return baseline ? std::move(baseline) : runtime::withContext("--baseline '" + file + "'", baseline.error());
}

} // namespace tile::runner
