// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attributes of the simulated devices. TILE_SIM_DEVICE selects the compute capability, which determines the limits.
#include "SimDriver/State.h"

#include <cstring>

using namespace tile;
using namespace tile::runtime;
using namespace tile::sim;

EXPORT CUresult cuDeviceGetCount(int *count) {
  *count = numDevices;
  return success;
}
EXPORT CUresult cuDeviceGet(CUdevice *result, int ordinal) {
  *result = ordinal;
  return isDevice(ordinal) ? success : cuda::errorInvalidDevice;
}
EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  const std::lock_guard lock(state().mutex);
  const std::string &target = state().devices.settings.target;
  std::snprintf(name, static_cast<size_t>(length), "tile simulator%s%s", target.empty() ? "" : " of ", target.c_str());
  return success;
}
EXPORT CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  std::snprintf(text, static_cast<size_t>(length), "0000:00:%02x.0", device);
  return success;
}
/// A CUuid has 16 bytes. The simulator uses a name and the ordinal of the device.
EXPORT CUresult cuDeviceGetUuid_v2(void *uuid, CUdevice device) {
  if (!uuid || !isDevice(device))
    return isDevice(device) ? invalidValue : cuda::errorInvalidDevice;
  char bytes[16] = "tile simulator";
  bytes[15] = static_cast<char>(device);
  std::memcpy(uuid, bytes, sizeof(bytes));
  return success;
}
EXPORT CUresult cuDeviceGetUuid(void *uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
EXPORT CUresult cuDeviceGetLuid(char *luid, unsigned *nodeMask, CUdevice) {
  if (!luid || !nodeMask)
    return invalidValue;
  std::memset(luid, 0, 8);
  *nodeMask = 0;
  return success;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = deviceBytes;
  return success;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  if (!value)
    return invalidValue;
  if (!isDevice(device))
    return cuda::errorInvalidDevice;
  const std::lock_guard lock(state().mutex);
  const Settings &settings = state().devices.settings;
  const target::GpuTarget &limits = state().devices.limits();
  // Attributes are those of CUdevice_attribute (CUDA driver API). All attributes that are not listed are 0.
  const struct {
    int attribute;
    uint32_t value;
  } attributes[] = {{cuda::attributeMaxThreadsPerBlock, 1024},
                    {2, 1024}, // maximum threads per block along x, y and z
                    {3, 1024},
                    {4, 64},
                    {5, 2147483647}, // maximum thread blocks per grid along x, y and z
                    {6, 65535},
                    {7, 65535},
                    {8, sharedWithoutOptIn},
                    {9, 64 << 10},                // constant memory
                    {10, 32},                     // warp size
                    {11, 2147483647},             // pitch
                    {12, target::registersPerSm}, // registers per thread block
                    {cuda::attributeClockRate, 1000000},
                    {14, 512}, // texture alignment
                    {cuda::attributeMultiprocessorCount, numMultiprocessors},
                    {19, 1},                // can map host memory
                    {31, 1},                // concurrent kernels
                    {34, uint32_t(device)}, // PCI device
                    {cuda::attributeMemoryClockRate, 1000000},
                    {cuda::attributeMemoryBusBits, 1024},
                    {cuda::attributeL2Bytes, 50 << 20},
                    {39, limits.maxWarpsPerSm * target::threadsPerWarp}, // maximum threads per multiprocessor
                    {40, 1},                                             // number of copy engines
                    {41, 1},                                             // unified addressing
                    {cuda::attributeComputeMajor, uint32_t(settings.major)},
                    {cuda::attributeComputeMinor, uint32_t(settings.minor)},
                    {78, 1}, // stream priorities
                    {81, limits.sharedPerSm},
                    {82, target::registersPerSm},
                    {95, 1}, // cooperative launches
                    {cuda::attributeMaxSharedOptin, limits.maxSharedPerCta},
                    {106, limits.maxCtasPerSm},
                    {111, sharedOfSystem},
                    {115, 1},                                               // stream-ordered memory pools
                    {120, uint32_t(limits.has(target::Feature::Clusters))}, // cluster launches
                    {127, uint32_t(limits.has(target::Feature::Tma))}};     // tensor maps
  *value = 0;
  for (const auto &known : attributes)
    if (known.attribute == attribute)
      *value = static_cast<int>(known.value);
  return success;
}
EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice) {
  const std::lock_guard lock(state().mutex);
  *major = state().devices.settings.major;
  *minor = state().devices.settings.minor;
  return success;
}
EXPORT CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *, int, unsigned, CUdevice) {
  return notSupported;
}
