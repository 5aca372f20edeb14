// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Architecture names (`sm_90a`) and the devices that can run them.
//
//   cubin  sm_80    devices 8.x, x >= 0, of the same major version
//   cubin  sm_90a   exactly 9.0 ("architecture-specific")
//   cubin  sm_100f  10.x, x >= 0 ("family-specific"; CUDA programming guide, compute capabilities)
//   PTX    sm_80    any device from 8.0 on; with a suffix, the same devices as a cubin
//
// A name may also denote a device: sm_90 then has only the properties common to all devices of 9.0, so it runs neither
// architecture-specific nor family-specific code.
#pragma once

#include "Runtime/Result.h"

#include <string_view>

namespace tile::runtime {

struct Target {
  int major = 0;
  int minor = 0;
  char suffix = 0; ///< 'a', 'f' or 0
};

Result<Target> parseTarget(std::string_view name);

/// Fails with TILE_ERROR_ARCHITECTURE and an explanation if the device cannot run the artifact.
Status checkTarget(std::string_view targetName, bool isPtx, int deviceMajor, int deviceMinor);
/// Checks a device that is denoted by a name.
Status checkTarget(std::string_view targetName, bool isPtx, std::string_view deviceName);

} // namespace tile::runtime
