// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Device/SimDevice.h"

#include "Runner/Device/CudaDevice.h"
#include "Runner/Device/SimProfile.h"
#include "Runtime/Kernel.h"
#include "SimDriver/EncodeTiled.h"
#include "Simulator/Check/Format.h"
#include "Simulator/Exec/Async/TensorMap.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/InlineCalls.h"
#include "Simulator/Ptx/Parser.h"

#include <cstdio>
#include <cstring>
#include <thread>

namespace tile::runner {

using runtime::CUresult;
using runtime::makeError;
using runtime::Success;

namespace {

CUresult errorName(CUresult, const char **name) {
  *name = "invalid value";
  return runtime::cuda::success;
}

CUresult errorText(CUresult, const char **text) {
  *text = sim::lastMapError().c_str();
  return runtime::cuda::success;
}

/// Makes a driver table that has only the functions needed to lay out the arguments.
std::unique_ptr<runtime::Driver> makeDriver() {
  auto driver = std::make_unique<runtime::Driver>();
  driver->tensorMapEncodeTiled = sim::encodeTiled;
  driver->getErrorName = errorName;
  driver->getErrorString = errorText;
  return driver;
}

std::string formatReports(const std::vector<sim::Report> &reports, const sim::Module &module, Sources sources) {
  constexpr size_t maxReports = 20;
  sim::SourceText source;
  source.line = [&](const std::string &name, uint32_t number) { return sources.line(name, number); };
  std::string text;
  for (size_t i = 0; i < reports.size() && i < maxReports; ++i)
    text += sim::formatReport(reports[i], module, source);
  if (reports.size() > maxReports)
    text += fmt::format("and {} more\n", reports.size() - maxReports);
  if (!text.empty())
    text.pop_back(); // the error message adds this newline
  return text;
}

/// Returns the error with a status code that blames the artifact rather than the call.
Error inPtx(const Error &error) {
  return makeError(TILE_ERROR_UNSUPPORTED, "the PTX: {}", error.message);
}

class SimDevice : public Device {
public:
  SimDevice(sim::Module module, const SimOptions &options)
      : module(std::move(module)), options(options), nextSeed(options.seed) {
    runtime.driver = makeDriver();
  }

  Status load(const runtime::Artifact &artifact) {
    const std::string &entry = artifact.manifest.entry;
    const sim::Function *function = module.findEntry(entry);
    if (!function)
      return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the PTX has no kernel '{}'", entry);
    parameters = function->parameters;
    // From here on, only the manifest is needed.
    runtime::Artifact description;
    description.manifest = artifact.manifest;
    Result<std::unique_ptr<tile_kernel>> made = runtime::makeKernel(&runtime, std::move(description));
    if (!made)
      return made.error();
    kernel = std::move(*made);
    return Success{};
  }

  std::string name() const override { return "sim"; }
  int multiprocessorCount() const override { return options.multiprocessors; }
  std::string lastRun() const override {
    return nextSeed == options.seed ? "" : fmt::format("--order=seed:{}", nextSeed - 1);
  }

  Result<RunTiming> run(const runtime::Manifest &manifest, const Grid &grid,
                        std::span<DeviceArgument> arguments) override {
    std::vector<DeviceArgument> alone(arguments.begin(), arguments.end());
    return runOnRanks(manifest, grid, {&alone, 1});
  }

  Result<RunTiming> runOnRanks(const runtime::Manifest &manifest, const Grid &grid,
                               std::span<std::vector<DeviceArgument>> ranks) override {
    sim::GlobalMemory memory;
    std::vector<std::vector<uint64_t>> values;
    std::vector<std::span<const uint64_t>> addresses;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      values.push_back(addBuffers(ranks[rank], memory, ranks.size() == 1 ? "" : fmt::format(" of rank {}", rank)));
    for (const std::vector<uint64_t> &ofRank : values)
      addresses.push_back(ofRank);
    std::vector<std::unique_ptr<Addressed>> addressed;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      addressed.push_back(std::make_unique<Addressed>(ranks[rank], Addresses{addresses[rank], addresses}));
    const uint64_t seed = nextSeed++;

    int64_t blocks[3];
    if (const tile_status status = runtime::chooseBlocks(*kernel, grid.data(), options.multiprocessors, blocks);
        status != TILE_OK)
      return lastRuntimeError(status);
    std::vector<LaunchOfRank> launches(ranks.size());
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (Status status = launches[rank].check(*kernel, options.multiprocessors, values[rank]); !status)
        return status.error();
    if (blocks[0] == 0 || blocks[1] == 0 || blocks[2] == 0)
      return RunTiming{};
    for (LaunchOfRank &launch : launches)
      if (Status status = launch.fill(*kernel, options.multiprocessors, grid, memory); !status)
        return status.error();

    Result<std::unique_ptr<sim::Program>> program = sim::Program::load(module, manifest.entry, memory);
    if (!program)
      return inPtx(program.error());
    sim::LaunchConfig config = makeConfig(manifest.launch, blocks, seed);
    config.peerParameters.resize(ranks.size() - 1);
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (Status status = layOutParameters(**program, launches[rank].hidden,
                                           rank == 0 ? config.parameters : config.peerParameters[rank - 1]);
          !status)
        return status.error();
    sim::Observer *watching = options.watcher ? &options.watcher->begin(**program, ranks[0], values[0]) : nullptr;
    return simulate(**program, memory, config, watching);
  }

private:
  /// The arguments of a rank, including those that a launch adds.
  struct LaunchOfRank {
    std::vector<void *> pointers; ///< pointers to the values of the arguments
    runtime::ArgumentSlots slots;
    std::vector<std::byte> scratch;
    runtime::HiddenArguments hidden;

    /// Checks the arguments as a launch does. `values` must outlive this object.
    Status check(tile_kernel &kernel, int multiprocessors, std::vector<uint64_t> &values) {
      for (uint64_t &value : values)
        pointers.push_back(&value);
      slots = runtime::readSlots(kernel, pointers.data(), multiprocessors);
      const tile_status status = runtime::checkAssumptions(kernel, pointers.data(), slots);
      return status == TILE_OK ? Status(Success{}) : Status(lastRuntimeError(status));
    }
    Status fill(tile_kernel &kernel, int multiprocessors, const Grid &grid, sim::GlobalMemory &memory) {
      scratch.resize(runtime::scratchBytes(kernel, multiprocessors));
      hidden.scratch = scratch.empty() ? 0 : memory.add("scratch memory", scratch.data(), scratch.size());
      const tile_status status = runtime::fillHiddenArguments(kernel, pointers.data(), slots, grid.data(), hidden);
      return status == TILE_OK ? Status(Success{}) : Status(lastRuntimeError(status));
    }
  };

  /// Adds the buffers to the memory. Returns one value per argument: the address of a buffer, or the bits of a scalar.
  static std::vector<uint64_t> addBuffers(std::span<DeviceArgument> arguments, sim::GlobalMemory &memory,
                                          const std::string &owner) {
    std::vector<uint64_t> values;
    for (const DeviceArgument &argument : arguments) {
      values.push_back(argument.bits);
      if (!argument.buffer)
        continue;
      const bool isOutput =
          argument.parameter->buffer && argument.parameter->buffer->role == runtime::BufferRole::Output;
      values.back() =
          memory.add(argument.parameter->name + owner, reinterpret_cast<std::byte *>(argument.buffer->data()),
                     argument.buffer->dataBytes(), 256, /*initialized=*/!isOutput, argument.buffer->offsetBytes());
    }
    return values;
  }

  Sources sources() const { return Sources(options.sourceFolders, kernel->artifact.manifest.sourceHash); }

  sim::LaunchConfig makeConfig(const runtime::LaunchInfo &launch, const int64_t (&blocks)[3], uint64_t seed) const {
    sim::LaunchConfig config;
    for (int i = 0; i < 3; ++i) {
      config.grid[i] = static_cast<uint32_t>(blocks[i]);
      config.cluster[i] = static_cast<uint32_t>(launch.cluster[i]);
    }
    config.block[0] = static_cast<uint32_t>(launch.threadsPerCta);
    config.dynamicShared = static_cast<uint32_t>(launch.sharedDynamic);
    config.multiprocessors = static_cast<uint32_t>(options.multiprocessors);
    config.ctasPerMultiprocessor = static_cast<uint32_t>(launch.ctasPerSm);
    config.seed = seed;
    if (options.steps)
      config.stepLimit = options.steps;
    config.hostThreads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    return config;
  }

  /// Writes the arguments to the offsets of the entry's parameters.
  Status layOutParameters(const sim::Program &program, const runtime::HiddenArguments &hidden,
                          std::vector<std::byte> &bytes) const {
    const runtime::Manifest &manifest = kernel->artifact.manifest;
    const size_t count = manifest.parameters.size() + manifest.tensorMaps.size() +
                         (manifest.launch.persistent ? 3 : 0) + (kernel->scratch ? 1 : 0);
    if (parameters.size() != count)
      return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "the kernel has {} parameters in the PTX, {} in the manifest",
                       parameters.size(), count);
    bytes.assign(program.parameterBytes, std::byte(0));
    for (size_t i = 0; i < count; ++i) {
      const sim::Variable &variable = module.variables[parameters[i]];
      const uint64_t size =
          i < manifest.parameters.size()
              ? manifest.parameters[i].argumentSize()
              : (i < manifest.parameters.size() + manifest.tensorMaps.size() ? sim::tensorMapBytes : variable.size);
      if (variable.size != size)
        return makeError(TILE_ERROR_NOT_AN_ARTIFACT, "parameter {} has {} bytes in the PTX, {} in the manifest", i,
                         variable.size, size);
      std::memcpy(bytes.data() + program.variableAddress(parameters[i]), hidden.all[i], size);
    }
    return Success{};
  }

  /// Runs the machine with a progress line, which is erased before the kernel's output is printed.
  Status runWatched(sim::Machine &machine) const {
    LongWork work("simulation", options.limit);
    machine.shouldContinue = [&](uint64_t ended, uint64_t clusters) {
      return work.reach(double(ended), double(clusters));
    };
    Status status = machine.run();
    if (work.wasStopped())
      return work.error();
    return status;
  }

  Result<RunTiming> simulate(const sim::Program &program, sim::GlobalMemory &memory, const sim::LaunchConfig &config,
                             sim::Observer *watching) {
    sim::Reports reports;
    sim::Machine machine(program, memory, config, reports);
    std::unique_ptr<sim::Checker> checker;
    if (options.checks) {
      checker = sim::makeHappensBefore(machine);
      machine.checker = checker.get();
    }
    machine.observer = watching;
    std::optional<sim::Profiler> profiler;
    if (options.profile || !options.profileJson.empty()) {
      profiler.emplace(program.function);
      machine.observer = &*profiler;
    }
    Status status = runWatched(machine);
    const std::string printed = machine.printed.text();
    std::fwrite(printed.data(), 1, printed.size(), stdout); // may contain zero bytes
    if (!status)
      return status.error();
    if (profiler) {
      const runtime::Manifest &manifest = kernel->artifact.manifest;
      if (options.profile)
        std::fputs(profileText(*profiler, module, manifest, sources(), options.isPainted).c_str(), stdout);
      if (!options.profileJson.empty())
        if (Status written = appendProfile(*profiler, module, manifest, options.profileJson); !written)
          return written.error();
    }
    const std::vector<sim::Report> found = reports.all();
    if (found.empty())
      return RunTiming{};
    return makeError(TILE_ERROR_DRIVER, "kernel '{}' has {} under {}:\n{}", kernel->artifact.manifest.kernel,
                     found.size() == 1 ? "a bug" : fmt::format("{} bugs", found.size()), lastRun(),
                     formatReports(found, module, sources()));
  }

  sim::Module module;
  SimOptions options;
  uint64_t nextSeed;
  std::vector<uint32_t> parameters; ///< parameters of the entry: indices into Module::variables
  tile_runtime runtime;
  std::unique_ptr<tile_kernel> kernel;
};

} // namespace

Result<std::unique_ptr<Device>> openSimDevice(const runtime::Artifact &artifact, const SimOptions &options) {
  Result<std::string> ptx = runtime::findPtx(artifact);
  if (!ptx)
    return ptx.error();
  Result<sim::Module> module = sim::parsePtx(*ptx);
  if (!module)
    return inPtx(module.error());
  if (Status status = sim::inlineCalls(*module); !status)
    return inPtx(status.error());
  auto device = std::make_unique<SimDevice>(std::move(*module), options);
  if (Status status = device->load(artifact); !status)
    return status.error();
  return std::unique_ptr<Device>(std::move(device));
}

} // namespace tile::runner
