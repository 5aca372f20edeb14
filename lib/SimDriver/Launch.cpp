// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel launches, and occupancy queries.
#include "SimDriver/State.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

using namespace tile;
using namespace tile::runtime;
using namespace tile::sim;

namespace {

/// Unpacks the argument `extra` of cuLaunchKernel (CUDA driver API): a list of names and values that describes one
/// buffer with all parameters.
std::optional<std::vector<void *>> unpackExtra(void **extra, const LoadedFunction &function) {
  void *const end = nullptr, *const bufferPointer = reinterpret_cast<void *>(1),
              *const bufferSize = reinterpret_cast<void *>(2);
  std::byte *buffer = nullptr;
  size_t bytes = 0;
  for (size_t i = 0; extra[i] != end; i += 2) {
    if (extra[i] == bufferPointer)
      buffer = static_cast<std::byte *>(extra[i + 1]);
    else if (extra[i] == bufferSize)
      bytes = *static_cast<size_t *>(extra[i + 1]);
    else
      return std::nullopt;
  }
  std::vector<void *> arguments;
  for (size_t i = 0; i < function.parameterBytes.size(); ++i) {
    if (!buffer || function.parameterOffsets[i] + function.parameterBytes[i] > bytes)
      return std::nullopt;
    arguments.push_back(buffer + function.parameterOffsets[i]);
  }
  return arguments;
}

/// Returns true unless the launch needs more dynamic shared memory than the function has opted in to; in that case
/// prints the reason.
bool hasOptedIn(const runtime::LaunchConfig &config, const LoadedFunction &function) {
  const uint64_t needed = uint64_t(config.sharedBytes) + function.staticShared;
  if (needed <= sharedWithoutOptIn || config.sharedBytes <= function.maxDynamicShared)
    return true;
  std::fprintf(stderr,
               "simulator: kernel '%s' is launched with %u bytes of dynamic and %u of static shared memory; more than "
               "%u need the attribute MAX_DYNAMIC_SHARED_SIZE_BYTES, which is %u\n",
               function.name.c_str(), config.sharedBytes, function.staticShared, sharedWithoutOptIn,
               function.maxDynamicShared);
  return false;
}

/// Returns true unless a cooperative launch has more thread blocks than run at the same time; in that case prints how
/// many do.
bool fitsAtOnce(const runtime::LaunchConfig &config, const LoadedFunction &function) {
  const uint64_t ctas = uint64_t(config.gridX) * config.gridY * config.gridZ;
  const uint64_t threads = uint64_t(config.blockX) * config.blockY * config.blockZ;
  const uint64_t resident =
      uint64_t(numMultiprocessors) * state().devices.residentCtas(function, threads, config.sharedBytes);
  if (!isCooperative(config) || ctas <= resident)
    return true;
  std::fprintf(stderr,
               "simulator: the cooperative launch of kernel '%s' has %llu thread blocks; at most %llu of them run at "
               "the same time\n",
               function.name.c_str(), static_cast<unsigned long long>(ctas), static_cast<unsigned long long>(resident));
  return false;
}

/// Launches a kernel immediately, or records a step of the graph if the stream is being captured.
CUresult launchOrKeep(const runtime::LaunchConfig &config, CUfunction function, void **arguments, void **extra) {
  LoadedFunction *found = findFunction(function);
  if (!found)
    return invalidHandle;
  const LoadedFunction &known = *found;
  std::optional<std::vector<void *>> unpacked;
  if (!arguments && extra) {
    unpacked = unpackExtra(extra, known);
    if (!unpacked)
      return invalidValue;
    arguments = unpacked->data();
  }
  if (!hasOptedIn(config, known))
    return invalidValue;
  if (!fitsAtOnce(config, known))
    return cooperativeTooLarge;
  const auto launch = [&known, device = currentDevice()](const runtime::LaunchConfig &config, void **arguments) {
    StreamOperation *operation = state().operation;
    nameOperation(fmt::format("kernel '{}'", known.name));
    Status status =
        state().devices.launch(device, config, known, arguments, operation ? &operation->footprint : nullptr);
    return status ? success : fail(launchFailed, status.error());
  };
  if (!state().captures.isCaptured(config.stream))
    return execute({currentDevice(), config.stream}, [&] { return launch(config, arguments); });
  std::vector<LaunchAttribute> attributes(config.attributes, config.attributes + config.attributeCount);
  std::vector<std::vector<std::byte>> bytes;
  for (size_t i = 0; i < known.parameterBytes.size(); ++i) {
    if (!arguments || !arguments[i])
      return invalidValue;
    const auto *value = static_cast<const std::byte *>(arguments[i]);
    bytes.emplace_back(value, value + known.parameterBytes[i]);
  }
  return executeOrKeep(config.stream, [launch, config = config, attributes, bytes]() mutable {
    std::vector<void *> addresses;
    for (std::vector<std::byte> &value : bytes)
      addresses.push_back(value.data());
    config.attributes = attributes.data();
    return launch(config, addresses.data());
  });
}

} // namespace

EXPORT CUresult cuLaunchKernelEx(const runtime::LaunchConfig *config, CUfunction function, void **arguments,
                                 void **extra) {
  if (currentDevice() < 0)
    return invalidContext;
  if (!config || config->gridX == 0 || config->gridY == 0 || config->gridZ == 0 ||
      (config->attributeCount && !config->attributes))
    return invalidValue;
  return locked([=] { return launchOrKeep(*config, function, arguments, extra); });
}
EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                               void **arguments, void **extra) {
  const runtime::LaunchConfig config = {gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, arguments, extra);
}
EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                          unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                                          CUstream stream, void **arguments) {
  LaunchAttribute cooperative;
  cooperative.id = cuda::launchCooperative;
  cooperative.value.flag = 1;
  const runtime::LaunchConfig config = {gridX,  gridY,       gridZ,  blockX,       blockY,
                                        blockZ, sharedBytes, stream, &cooperative, 1};
  return cuLaunchKernelEx(&config, function, arguments, nullptr);
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, CUfunction function, int threads,
                                                                     size_t dynamicShared, unsigned) {
  const std::lock_guard lock(state().mutex);
  const LoadedFunction *known = findFunction(function);
  if (!known || !count || threads <= 0)
    return known ? invalidValue : invalidHandle;
  const bool fits = dynamicShared + known->staticShared <= state().devices.limits().maxSharedPerCta;
  *count = fits ? int(state().devices.residentCtas(*known, uint64_t(threads), dynamicShared)) : 0;
  return success;
}
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function, int threads,
                                                            size_t dynamicShared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, dynamicShared, 0);
}
EXPORT CUresult cuOccupancyMaxActiveClusters(int *count, CUfunction function, const runtime::LaunchConfig *config) {
  if (!count || !config)
    return invalidValue;
  uint64_t size = 1;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (const auto &cluster = config->attributes[i].value.cluster; config->attributes[i].id == cuda::launchCluster)
      size = std::max<uint64_t>(1, uint64_t(cluster.x) * cluster.y * cluster.z);
  int resident = 0;
  const CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &resident, function, int(config->blockX * config->blockY * config->blockZ), config->sharedBytes, 0);
  *count = int(uint64_t(resident) * numMultiprocessors / size);
  return result;
}
EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction, const runtime::LaunchConfig *) {
  if (!size)
    return invalidValue;
  *size = 8; // the size that is portable to all devices
  return success;
}
