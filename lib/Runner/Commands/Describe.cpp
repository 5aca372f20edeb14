// tile-run describe gemm.cubin
// tile-run devices
#include "Runner/Commands/Commands.h"

namespace tile::runner {

Action addDescribe(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<RunOptions>(start);
  addArtifact(app, *options);
  return [options] {
    return withArtifact(*options, [](const runtime::Artifact &artifact) {
      fmt::print("{}\n", toJson(artifact.manifest, 2));
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
