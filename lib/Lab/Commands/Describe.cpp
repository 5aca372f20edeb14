// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run describe gemm.cubin --variant=general
// tile-run devices
#include "Lab/Commands/Commands.h"

namespace tile::runner {

Action addDescribe(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<RunOptions>(start);
  addArtifact(app, *options);
  app.add_option("--variant", options->variant, "Describe this variant (default: the first)")->type_name("NAME");
  app.add_option("--target", options->target, "Describe the variant for this target")->type_name("TARGET");
  return [options] {
    return withArtifact(*options, [&](const runtime::Artifact &artifact) {
      size_t index = 0;
      if (!options->variant.empty()) {
        Result<size_t> found = runtime::findVariant(artifact, options->variant, options->target);
        if (!found)
          return reportFailure(*options, found.error());
        index = *found;
      }
      fmt::print("{}\n", toJson(runtime::variantManifest(artifact, index), 2));
      return 0;
    });
  };
}

Action addDevices(CLI::App &, const RunOptions &start) {
  return [start] {
    Result<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
    if (!devices)
      return reportFailure(start, devices.error());
    for (const CudaDeviceInfo &info : *devices)
      fmt::print("cuda:{}  {}  sm_{}{}  {} SMs  {:.1f} GiB  driver for CUDA {}.{}  {}\n", info.ordinal, info.name,
                 info.major, info.minor, info.multiprocessors, static_cast<double>(info.memoryBytes) / (1 << 30),
                 info.driverVersion / 1000, info.driverVersion % 1000 / 10, info.pciBusId);
    return 0;
  };
}

} // namespace tile::runner
