// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimDriver/Device.h"

#include "Runtime/ElfSection.h"
#include "Simulator/Check/Checker.h"
#include "Simulator/Check/Format.h"
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <thread>

namespace tile::sim {

using runtime::makeError;
using runtime::Status;
using runtime::Success;

namespace {

/// The driver API passes no size. The ELF files of tilec end with their section header table.
runtime::Bytes elfBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  return {static_cast<const uint8_t *>(image), header.e_shoff + size_t(header.e_shentsize) * header.e_shnum};
}

runtime::Result<std::string_view> findText(const void *image) {
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0)
    return std::string_view(static_cast<const char *>(image));
  return runtime::findElfSection(elfBytes(image), runtime::ptxSectionName);
}

LaunchConfig describeLaunch(const runtime::LaunchConfig &config, const LoadedFunction &function, uint64_t seed) {
  LaunchConfig launch;
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
  constexpr uint64_t mostThreads = 2048;
  const uint64_t shared = uint64_t(config.sharedBytes) + function.staticShared + sharedOfSystem;
  const uint64_t threads = std::max<uint64_t>(1, uint64_t(config.blockX) * config.blockY * config.blockZ);
  launch.ctasPerMultiprocessor =
      uint32_t(std::max<uint64_t>(1, std::min(sharedOfMultiprocessor / shared, mostThreads / threads)));
  launch.seed = seed;
  launch.hostThreads = std::max(1u, std::thread::hardware_concurrency());
  return launch;
}

} // namespace

runtime::Result<std::unique_ptr<LoadedPtx>> loadPtx(const void *image) {
  runtime::Result<std::string_view> text = findText(image);
  if (!text)
    return runtime::withContext("the simulator runs PTX (in a header with tilec --keep-ptx)", text.error());
  runtime::Result<Module> module = parsePtx(std::string(*text));
  if (!module)
    return module.error();
  if (Status status = inlineCalls(*module); !status)
    return status.error();
  return std::make_unique<LoadedPtx>(LoadedPtx{std::move(*module)});
}

runtime::Result<std::unique_ptr<LoadedFunction>> findFunction(const LoadedPtx &ptx, const std::string &name) {
  GlobalMemory memory;
  runtime::Result<std::unique_ptr<Program>> program = Program::load(ptx.module, name, memory);
  if (!program)
    return program.error();
  auto function = std::make_unique<LoadedFunction>(LoadedFunction{&ptx, name, uint32_t((*program)->staticShared), {}});
  for (uint32_t parameter : (*program)->function.parameters)
    function->parameterBytes.push_back(ptx.module.variables[parameter].size);
  return function;
}

uint64_t SimulatedDevices::allocate(int device, size_t bytes) {
  std::unique_ptr<std::byte[]> buffer(new (std::nothrow) std::byte[bytes]);
  if (!buffer)
    return 0;
  std::memset(buffer.get(), 0xFF, bytes);
  const uint64_t address = memory.add(fmt::format("allocation {}", buffers.size()), buffer.get(), bytes);
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
                                void **arguments) {
  GlobalMemory seen = memory; // of peers, too; plus the variables of the module
  for (const auto &[address, owner] : owners)
    if (owner != device && !peers.contains({device, owner}))
      seen.remove(address);
  runtime::Result<std::unique_ptr<Program>> program = Program::load(function.ptx->module, function.name, seen);
  if (!program)
    return program.error();
  LaunchConfig launch = describeLaunch(config, function, numLaunches++);
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
  std::unique_ptr<Checker> checker = makeHappensBefore(machine);
  machine.checker = checker.get();
  Status status = machine.run();
  const std::string printed = machine.printed.text();
  std::fwrite(printed.data(), 1, printed.size(), stdout); // the text may contain zero bytes
  if (!status)
    return status.error();
  std::string text;
  for (const Report &report : reports.all())
    text += formatReport(report, function.ptx->module, SourceText());
  if (text.empty())
    return Success{};
  return makeError(TILE_ERROR_DRIVER, "kernel '{}':\n{}", function.name, text);
}

} // namespace tile::sim
