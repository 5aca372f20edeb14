// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Settings of the simulated driver. Programs run on it unchanged, so the settings are environment variables:
//
//   TILE_SIM_DEVICE=sm_100a   The devices have this compute capability, and load only modules that such a GPU can run.
//                             Default: they report sm_90, but run modules of every target.
//   TILE_SIM_CHECK=warn       Findings are printed, but do not make launches fail. `off` disables the checks, which is
//                             faster. Default: `fail`, with which findings make launches fail, except for code that
//                             works on all known GPUs.
//   TILE_SIM_ORDER=7          This seed determines the order of events; each launch uses the next seed. Default: all
//                             warps take turns, as on a GPU.
#pragma once

#include "Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tile::sim {

struct Settings {
  enum class Check : uint8_t { Fail, Warn, Off } check = Check::Fail;
  std::string target;            ///< empty: the devices run modules of every target
  int major = 9, minor = 0;      ///< compute capability
  std::optional<uint64_t> order; ///< seed of the first launch; nullopt: a fair schedule

  /// Reads the settings from the values of the three variables; null or "" selects the default.
  static runtime::Result<Settings> read(const char *target, const char *check, const char *order);
  /// Returns true if a device with these settings can run a module for `moduleTarget`.
  bool runs(std::string_view moduleTarget) const;
};

} // namespace tile::sim
