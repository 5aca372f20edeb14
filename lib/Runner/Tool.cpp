// What tile-run does after its options are parsed: list devices, describe an artifact, run a suite, soak or
// run one kernel.
#include "Runner/Soak.h"
#include "Runner/Suite.h"

namespace tile::runner {
namespace {

int listDevices(const RunOptions &options) {
  Result<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
  if (!devices)
    return reportFailure(options, devices.error());
  for (const CudaDeviceInfo &info : *devices)
    fmt::print("cuda:{}  {}  sm_{}{}  {} SMs  {:.1f} GiB  driver for CUDA {}.{}  {}\n", info.ordinal, info.name,
               info.major, info.minor, info.multiprocessors, static_cast<double>(info.memoryBytes) / (1 << 30),
               info.driverVersion / 1000, info.driverVersion % 1000 / 10, info.pciBusId);
  return 0;
}

} // namespace

int runTool(const RunOptions &options) {
  if (options.listDevices)
    return listDevices(options);
  if (!options.suite.empty())
    return runSuite(options);
  if (options.artifact.empty())
    return reportFailure(options, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT,
                                                     "no artifact; expected a cubin or PTX file made by tilec"));
  Result<runtime::Artifact> artifact = runtime::readArtifactFile(options.artifact);
  if (!artifact)
    return reportFailure(options, artifact.error());
  if (options.describe) {
    fmt::print("{}\n", toJson(artifact->manifest, 2));
    return 0;
  }
  if (options.soakSeconds > 0)
    return runSoak(options, *artifact);
  return runArtifact(options, *artifact);
}

} // namespace tile::runner
