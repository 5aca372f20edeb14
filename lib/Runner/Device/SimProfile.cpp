// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Device/SimProfile.h"

#include "Runner/Colours.h"
#include "Runner/Inputs/Npy.h"

#include <nlohmann/json.hpp>

namespace tile::runner {

using runtime::Status;
using runtime::Success;

namespace {

sim::Occupancy occupancyOf(const runtime::Manifest &manifest) {
  const runtime::LaunchInfo &launch = manifest.launch;
  const target::GpuTarget *target = target::findTarget(manifest.target);
  if (!target) // the PTX was not compiled by tilec
    target = target::findTarget("sm_90a");
  return sim::computeOccupancy(*target, static_cast<uint32_t>(launch.registers),
                               static_cast<uint32_t>(launch.threadsPerCta),
                               static_cast<uint32_t>(launch.sharedStatic + launch.sharedDynamic));
}

} // namespace

std::string profileText(const sim::Profiler &profiler, const sim::Module &module, const runtime::Manifest &manifest,
                        Sources sources, bool isPainted) {
  return sim::profileListing(profiler, module, occupancyOf(manifest),
                             module.files.size() > 1 ? sources.text(module.files[1]) : "",
                             isPainted ? paintBad : nullptr);
}

Status appendProfile(const sim::Profiler &profiler, const sim::Module &module, const runtime::Manifest &manifest,
                     const std::string &path) {
  nlohmann::json object = sim::profileToJson(profiler, module, occupancyOf(manifest));
  object["kernel"] = manifest.kernel;
  object["source"] = manifest.sourceFile;
  return appendToFile(path, object.dump() + "\n");
}

} // namespace tile::runner
