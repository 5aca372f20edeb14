// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens the device that the options select.
#include "Runner/Device/SimDevice.h"
#include "Runner/Run.h"

#include <charconv>
#include <cstdio>
#include <filesystem>

namespace tile::runner {

using runtime::Artifact;
using runtime::makeError;
using runtime::Success;

namespace {

constexpr std::string_view simName = "sim";

bool isSim(const RunOptions &options) {
  return options.device == simName;
}

} // namespace

Sources::Folders sourceFolders(const RunOptions &options) {
  return {
      options.sourceFolders, {std::filesystem::path(options.artifact).parent_path().string()}, options.isCompiledHere};
}

namespace {

Result<SimOptions> readSimOptions(const RunOptions &options) {
  SimOptions sim;
  if (options.multiprocessors)
    sim.multiprocessors = options.multiprocessors;
  sim.threads = options.threads;
  sim.steps = options.steps;
  sim.checks = !options.noSimChecks;
  sim.profile = options.profile;
  sim.profileJson = options.profileJson;
  sim.limit = options.limit;
  sim.isPainted = options.colours.results;
  sim.sourceFolders = sourceFolders(options);
  const std::string_view text = options.order, prefix = "seed:";
  if (text.empty())
    return sim;
  const char *end = text.data() + text.size();
  if (text.starts_with(prefix))
    if (auto [last, error] = std::from_chars(text.data() + prefix.size(), end, sim.seed);
        error == std::errc() && last == end)
      return sim;
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "--order={}: expected seed:N with an integer N", options.order);
}

} // namespace

std::string chooseDevice(const RunOptions &options) {
  if (options.device != "auto")
    return options.device;
  if (options.bench)
    return "cuda";
  Result<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
  return devices && !devices->empty() ? "cuda" : std::string(simName);
}

Status checkSimOptions(const RunOptions &options) {
  if (isSim(options))
    return Success{};
  for (auto [name, isGiven] :
       {std::pair("--order", !options.order.empty()), std::pair("--orders", options.orders != 1),
        std::pair("--sms", options.multiprocessors != 0), std::pair("--threads", options.threads != 0),
        std::pair("--steps", options.steps != 0), std::pair("--no-checks", options.noSimChecks),
        std::pair("--profile", options.profile), std::pair("--profile-json", !options.profileJson.empty()),
        std::pair("--sources", !options.sourceFolders.empty())})
    if (isGiven)
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "{} needs --device=sim; the device is {}", name, options.device);
  return Success{};
}

/// Opens the device "cuda" or "cuda:N".
static Result<std::unique_ptr<CudaContext>> openGpu(const std::string &name) {
  if (name == "cuda")
    return CudaContext::open(0);
  int ordinal = -1;
  int length = 0;
  if (std::sscanf(name.c_str(), "cuda:%3d%n", &ordinal, &length) == 1 && static_cast<size_t>(length) == name.size() &&
      ordinal >= 0)
    return CudaContext::open(ordinal);
  return makeError(TILE_ERROR_INVALID_ARGUMENT, "unknown device '{}'; expected auto, cuda, cuda:N or sim", name);
}

Result<DeviceLoader> DeviceLoader::open(const RunOptions &options) {
  DeviceLoader loader;
  loader.options = options;
  loader.options.device = chooseDevice(options);
  if (Status status = checkSimOptions(loader.options); !status)
    return status.error();
  if (isSim(loader.options))
    return loader;
  Result<std::unique_ptr<CudaContext>> context = openGpu(loader.options.device);
  if (!context)
    return context.error();
  loader.context = std::move(*context);
  return loader;
}

DeviceLoader DeviceLoader::on(const RunOptions &options, CudaContext &context) {
  DeviceLoader loader;
  loader.options = options;
  loader.context = std::shared_ptr<CudaContext>(std::shared_ptr<void>(), &context); // non-owning
  return loader;
}

int DeviceLoader::multiprocessors() const {
  if (context)
    return context->info().multiprocessors;
  return options.multiprocessors ? options.multiprocessors : SimOptions().multiprocessors;
}

std::string DeviceLoader::name() const {
  return context ? context->name() : std::string(simName);
}

Result<std::unique_ptr<Device>> DeviceLoader::load(const Artifact &artifact) const {
  if (!context) {
    Result<SimOptions> sim = readSimOptions(options);
    if (!sim)
      return sim.error();
    return openSimDevice(artifact, *sim);
  }
  Result<std::unique_ptr<CudaDevice>> device = CudaDevice::load(*context, artifact);
  if (!device)
    return device.error();
  (*device)->overlapLaunches(options.overlap);
  return std::unique_ptr<Device>(std::move(*device));
}

} // namespace tile::runner
