// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Device/LoadedArtifacts.h"

namespace tile::runner {

using runtime::Artifact;

Result<Variants *> LoadedArtifacts::open(const std::string &path) {
  auto found = all.find(path);
  if (found == all.end()) {
    Result<Artifact> artifact = runtime::readArtifactFile(path);
    if (!artifact)
      return artifact.error();
    auto owner = std::make_unique<Artifact>(std::move(*artifact));
    RunOptions its = options;
    its.artifact = path;
    Result<Variants> variants = Variants::open(its, *owner, loader);
    if (!variants)
      return variants.error();
    found = all.emplace(path, Loaded{std::move(owner), std::move(*variants)}).first;
  }
  return &found->second.variants;
}

Result<RunReport> LoadedArtifacts::run(const RunOptions &request, const std::function<void(Device &)> &beforeRun) {
  Result<Variants *> variants = open(request.artifact);
  if (!variants)
    return variants.error();
  if (Status status = validateRequest(request, (*variants)->artifact().manifest); !status)
    return status.error();
  Result<Variants::Taken> taken = (*variants)->take(request);
  if (!taken)
    return taken.error();
  if (beforeRun)
    beforeRun(*taken->device);
  return runKernel(taken->options, *taken->manifest, *taken->device, request.artifact);
}

Result<int64_t> LoadedArtifacts::countElements(const std::string &path, const std::vector<std::string> &arguments) {
  Result<Variants *> variants = open(path);
  if (!variants)
    return variants.error();
  const Manifest &manifest = (*variants)->artifact().manifest;
  Result<Bindings> bindings = Bindings::bind(manifest, arguments, 1);
  if (!bindings)
    return bindings.error();
  int64_t total = 0;
  for (const Parameter &parameter : manifest.parameters) {
    if (!parameter.buffer)
      continue;
    Result<std::vector<int64_t>> shape = bindings->evaluate(parameter.buffer->shape, manifest);
    if (!shape)
      return shape.error();
    int64_t elements = 1;
    for (int64_t extent : *shape)
      if (__builtin_mul_overflow(elements, extent, &elements))
        return INT64_MAX;
    if (__builtin_add_overflow(total, elements, &total))
      return INT64_MAX;
  }
  return total;
}

} // namespace tile::runner
