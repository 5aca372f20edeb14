// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/Device.h"

#include "SimDriver/FatBinary.h"
#include "Simulator/Check/Checker.h"
#include "Simulator/Check/Format.h"
#include "Simulator/Exec/TargetRules.h"
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <thread>

namespace tile::sim {

using runtime::makeError;
using runtime::Status;
using runtime::Success;

namespace {

LaunchConfig describeLaunch(const runtime::LaunchConfig &config, const Function &kernel, uint32_t residentCtas,
                            uint64_t seed) {
  LaunchConfig launch;
  for (int i = 0; i < 3; ++i) // the default, unless the launch specifies it
    launch.cluster[i] = std::max(1u, kernel.requiredCluster[i]);
  launch.grid[0] = config.gridX, launch.grid[1] = config.gridY, launch.grid[2] = config.gridZ;
  launch.block[0] = config.blockX, launch.block[1] = config.blockY, launch.block[2] = config.blockZ;
  for (unsigned i = 0; i < config.attributeCount; ++i)
    if (const runtime::LaunchAttribute &attribute = config.attributes[i];
        attribute.id == runtime::cuda::launchCluster) {
      launch.cluster[0] = attribute.value.cluster.x;
      launch.cluster[1] = attribute.value.cluster.y;
      launch.cluster[2] = attribute.value.cluster.z;
    }
  launch.dynamicShared = config.sharedBytes;
  launch.multiprocessors = numMultiprocessors;
  launch.ctasPerMultiprocessor = residentCtas;
  launch.seed = seed;
  launch.hostThreads = std::max(1u, std::thread::hardware_concurrency());
  return launch;
}

/// The memory through which the thread blocks of a cooperative launch synchronize: grid_workspace in CUDA's
/// cooperative_groups/details/driver_abi.h. Its address is not reused, so it orders no other launch.
class GridWorkspace {
public:
  explicit GridWorkspace(GlobalMemory &memory)
      : memory(memory),
        address(memory.add("the workspace of the grid", reinterpret_cast<std::byte *>(words), sizeof(words))) {}
  ~GridWorkspace() { memory.remove(address); }
  GridWorkspace(const GridWorkspace &) = delete;
  GridWorkspace &operator=(const GridWorkspace &) = delete;

private:
  GlobalMemory &memory;
  uint32_t words[2] = {sizeof(words), 0}; ///< the size, and the barrier

public:
  const uint64_t address;
};

} // namespace

bool isCooperative(const runtime::LaunchConfig &config) {
  return std::any_of(config.attributes, config.attributes + config.attributeCount,
                     [](const runtime::LaunchAttribute &attribute) {
                       return attribute.id == runtime::cuda::launchCooperative && attribute.value.flag != 0;
                     });
}

runtime::Result<std::unique_ptr<LoadedFunction>> findFunction(const LoadedPtx &ptx, const std::string &name) {
  GlobalMemory memory;
  runtime::Result<std::unique_ptr<Program>> program = Program::load(ptx.module, name, memory, &ptx.variables);
  if (!program)
    return program.error();
  auto function = std::make_unique<LoadedFunction>();
  function->ptx = &ptx;
  function->name = name;
  function->staticShared = uint32_t((*program)->staticShared);
  function->constantBytes = uint32_t((*program)->constants.size() - (*program)->parameterBytes);
  function->localBytes = uint32_t((*program)->localBytes);
  for (uint32_t parameter : (*program)->function.parameters) {
    function->parameterBytes.push_back(ptx.module.variables[parameter].size);
    function->parameterOffsets.push_back((*program)->variableAddress(parameter));
  }
  return function;
}

const target::GpuTarget &SimulatedDevices::limits() const {
  const unsigned capability = unsigned(10 * settings.major + settings.minor);
  const target::GpuTarget *found = target::findTarget("sm_90a");
  // The limits are those of the newest target that is not newer than the devices.
  for (const target::GpuTarget *target : target::allTargets())
    if (target->capability <= capability)
      found = target;
  return *found;
}

uint32_t SimulatedDevices::residentCtas(const LoadedFunction &function, uint64_t threads,
                                        uint64_t dynamicShared) const {
  const target::GpuTarget &target = limits();
  const uint64_t shared = dynamicShared + function.staticShared + sharedOfSystem;
  const uint64_t maxThreads = uint64_t(target.maxWarpsPerSm) * target::threadsPerWarp;
  return uint32_t(
      std::max<uint64_t>(1, std::min(target.sharedPerSm / shared, maxThreads / std::max<uint64_t>(1, threads))));
}

runtime::Result<std::unique_ptr<LoadedPtx>> SimulatedDevices::load(int device, const void *image) {
  runtime::Result<std::string> text = findPtx(image, unsigned(10 * settings.major + settings.minor));
  if (!text)
    return runtime::withContext("the simulator needs PTX, which a header contains if it is made with tilec --keep-ptx",
                                text.error());
  runtime::Result<Module> module = parsePtx(std::move(*text));
  if (!module)
    return module.error();
  if (module->target.empty())
    return makeError(TILE_ERROR_INVALID_ARGUMENT, "line 1: the module has no .target");
  if (!settings.runs(module->target))
    return makeError(TILE_ERROR_ARCHITECTURE, "PTX for {} does not run on {}, which TILE_SIM_DEVICE selects",
                     module->target, settings.target);
  if (Status status = checkTarget(*module); !status)
    return status.error();
  if (Status status = inlineCalls(*module); !status)
    return status.error();
  auto loaded = std::make_unique<LoadedPtx>(LoadedPtx{std::move(*module), {}});
  ModuleVariables &variables = loaded->variables;
  const std::vector<Variable> &all = loaded->module.variables;
  variables.bytes.resize(all.size());
  variables.addresses.resize(all.size());
  uint64_t total = 0;
  constexpr uint64_t maxBytes = 1 << 30; // limit for the total size, as in Program::load
  for (size_t i = 0; i < all.size(); ++i) {
    if ((all[i].space != Space::Global && all[i].space != Space::Const) || all[i].isExtern)
      continue;
    total = all[i].size > maxBytes ? maxBytes + 1 : total + all[i].size;
    if (total > maxBytes)
      return makeError(TILE_ERROR_OUT_OF_MEMORY, "the module has more than {} bytes of variables", maxBytes);
    variables.addresses[i] = add(device, all[i].name, all[i].size, all[i].alignment, std::byte(0));
    variables.bytes[i] = find(variables.addresses[i], 0);
  }
  for (size_t i = 0; i < all.size(); ++i)
    if (variables.bytes[i])
      initialize(all[i], variables.addresses, variables.bytes[i]);
  return loaded;
}

uint64_t SimulatedDevices::add(int device, std::string name, size_t bytes, size_t alignment, std::byte fill) {
  std::unique_ptr<std::byte[]> buffer(new (std::nothrow) std::byte[bytes]);
  if (!buffer)
    return 0;
  std::memset(buffer.get(), int(fill), bytes);
  const uint64_t address = memory.add(std::move(name), buffer.get(), bytes, alignment);
  try {
    buffers.emplace(address, std::move(buffer));
    owners.emplace(address, device);
  } catch (...) {
    buffers.erase(address);
    memory.remove(address);
    throw;
  }
  return address;
}

uint64_t SimulatedDevices::allocate(int device, size_t bytes) {
  return add(device, fmt::format("allocation {}", buffers.size()), bytes, 256, std::byte(0xFF));
}

bool SimulatedDevices::release(uint64_t address) {
  if (buffers.erase(address) == 0)
    return false;
  owners.erase(address);
  memory.remove(address);
  return true;
}

std::byte *SimulatedDevices::find(uint64_t address, size_t bytes) const {
  const Allocation *allocation = memory.find(address, bytes);
  return allocation ? allocation->host + (address - allocation->address) : nullptr;
}

Status SimulatedDevices::launch(int device, const runtime::LaunchConfig &config, const LoadedFunction &function,
                                void **arguments, Footprint *footprint) {
  std::optional<GridWorkspace> workspace;
  if (isCooperative(config))
    workspace.emplace(memory);
  GlobalMemory seen = memory; // memory of this device and its peers, and the variables of the module
  for (const auto &[address, owner] : owners)
    if (owner != device && !peers.contains({device, owner}))
      seen.remove(address);
  runtime::Result<std::unique_ptr<Program>> program =
      Program::load(function.ptx->module, function.name, seen, &function.ptx->variables);
  if (!program)
    return program.error();
  LaunchConfig launch = describeLaunch(
      config, (*program)->function,
      residentCtas(function, uint64_t(config.blockX) * config.blockY * config.blockZ, config.sharedBytes),
      settings.order.value_or(0) + numLaunches++);
  launch.isFair = !settings.order;
  launch.gridWorkspace = workspace ? workspace->address : 0;
  launch.parameters.assign((*program)->parameterBytes, std::byte(0));
  const std::vector<uint32_t> &parameters = (*program)->function.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!arguments || !arguments[i])
      return makeError(TILE_ERROR_INVALID_ARGUMENT, "kernel '{}': parameter {} has no argument", function.name, i);
    std::memcpy(launch.parameters.data() + (*program)->variableAddress(parameters[i]), arguments[i],
                function.parameterBytes[i]);
  }

  Reports reports;
  Machine machine(**program, seen, launch, reports);
  std::unique_ptr<Checker> checker;
  if (settings.check != Settings::Check::Off)
    checker = makeHappensBefore(machine, footprint);
  machine.checker = checker.get();
  Status status = machine.run();
  const std::string printed = machine.printed.text();
  std::fwrite(printed.data(), 1, printed.size(), stdout); // the text may contain zero bytes
  if (!status)
    return status.error();
  return judge(reports, function);
}

/// Prints the findings that do not make the launch fail, and returns the others as an error.
Status SimulatedDevices::judge(const Reports &reports, const LoadedFunction &function) const {
  std::string errors, warnings;
  for (const Report &report : reports.all()) {
    const bool isWarning = report.isLatent || (settings.check == Settings::Check::Warn && !report.isFatal);
    (isWarning ? warnings : errors) += formatReport(report, function.ptx->module, SourceText());
  }
  if (!warnings.empty())
    std::fprintf(stderr, "simulator: warning: kernel '%s':\n%s", function.name.c_str(), warnings.c_str());
  if (errors.empty())
    return Success{};
  return makeError(TILE_ERROR_DRIVER, "kernel '{}':\n{}", function.name, errors);
}

} // namespace tile::sim
