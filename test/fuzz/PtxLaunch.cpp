// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxLaunch.h"

#include "Simulator/Check/Checker.h"
#include "Simulator/Check/Format.h"
#include "Simulator/Exec/Async/TensorMap.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Profile/Profiler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tile::fuzz {

using namespace sim;

namespace {

/// The share of libFuzzer's memory limit for buffers, module variables, registers and local memory of one input.
constexpr uint64_t maxBytes = 64 << 20;
constexpr size_t bufferBytes = 1024;

class Launch {
public:
  /// `isTame`: with valid buffers for all arguments; otherwise with arbitrary values.
  Launch(const Module &module, const Function &function, uint64_t seed, bool isTame)
      : module(module), function(function), isTame(isTame), random(seed) {
    for (std::vector<std::byte> &buffer : buffers) {
      buffer.resize(bufferBytes);
      for (std::byte &byte : buffer)
        byte = std::byte(random.below(4) ? 0 : random.next());
      addresses.push_back(memory.add("buffer", buffer.data(), buffer.size(), 256, random.below(2)));
    }
  }

  void run() {
    runtime::Result<std::unique_ptr<Program>> program = Program::load(module, function.name, memory);
    if (!program)
      return requireText(program.error().message);
    chooseGrid();
    for (uint32_t parameter : function.parameters)
      addArgument(**program, module.variables[parameter]);
    config.parameters.resize((*program)->parameterBytes);
    const uint64_t threads = uint64_t(config.block[0]) * config.block[1] * config.block[2];
    const uint64_t ofThread = (*program)->localBytes + (*program)->registerBytes / warpSize;
    const uint64_t ctas = uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2] * config.multiprocessors;
    if (ofThread > maxBytes || threads > 1024 || ctas > 64 || ofThread * (threads + warpSize) * ctas > maxBytes)
      return;
    simulate(**program);
  }

private:
  /// Requires a message for each rejection and report; PTX_SHOW=1 prints it.
  static void requireText(const std::string &message) {
    static const bool isShown = std::getenv("PTX_SHOW") != nullptr;
    if (isShown)
      std::fprintf(stderr, "%s\n", message.c_str());
    if (!message.empty())
      return;
    std::fprintf(stderr, "PtxLaunch: an error without a message\n");
    abort();
  }

  void simulate(const Program &program) {
    Reports reports;
    Machine machine(program, memory, config, reports);
    std::unique_ptr<Checker> checker;
    if (random.below(4)) {
      checker = makeHappensBefore(machine);
      machine.checker = checker.get();
    }
    Profiler profiler(program.function);
    if (random.below(4) == 0)
      machine.observer = &profiler;
    uint64_t turns = 0;
    machine.shouldContinue = [&](uint64_t, uint64_t) { return ++turns < 200; };
    if (runtime::Status status = machine.run(); !status)
      requireText(status.error().message);
    for (const Report &report : reports.all())
      requireText(formatReport(report, module, SourceText()));
    if (machine.printed.text().size() > PrintBuffer::capacity + 4096)
      abort();
  }

  void chooseGrid() {
    constexpr uint32_t sizes[] = {1, 1, 2, 3, 4}, threads[] = {1, 32, 33, 64, 128, 256};
    for (int axis = 0; axis < 3; ++axis) {
      config.cluster[axis] = function.requiredCluster[axis] ? function.requiredCluster[axis] : 1;
      config.grid[axis] = std::min<uint32_t>(config.cluster[axis], 64) * (axis == 0 ? sizes[random.below(5)] : 1);
      config.block[axis] = function.requiredThreads[axis] ? function.requiredThreads[axis] : 1;
    }
    if (!function.requiredThreads[0])
      config.block[0] = threads[random.below(6)];
    if (random.below(4) == 0 && !function.requiredCluster[0]) {
      config.cluster[0] = 2;
      config.grid[0] *= 2;
    }
    constexpr uint32_t shared[] = {0, 0, 1024, 16384, 1 << 20};
    config.dynamicShared = shared[random.below(isTame ? 2 : 5)];
    config.multiprocessors = 1 + random.below(3);
    config.seed = random.next();
    config.stepLimit = 1000;
    config.idleLimit = 1000;
  }

  /// Returns an address in or near a buffer, an extreme value of the type, or an arbitrary value.
  uint64_t number() {
    const uint64_t address = addresses[random.below(addresses.size())];
    if (isTame)
      return address;
    constexpr uint64_t edges[] = {0,
                                  1,
                                  uint64_t(-1),
                                  uint64_t(-32),
                                  uint64_t(1) << 63,
                                  uint64_t(1) << 31,
                                  uint64_t(1) << 32,
                                  sharedWindow,
                                  sharedWindow + sharedBase,
                                  localWindow,
                                  localWindow - 16,
                                  paramWindow,
                                  paramWindow + windowSize - 8};
    switch (random.below(8)) {
    case 0:
      return edges[random.below(std::size(edges))];
    case 1:
      return address + bufferBytes - random.below(40);
    case 2:
      return random.below(64);
    case 3:
      return random.next();
    case 4:
      return address + 16 * random.below(bufferBytes / 16);
    default:
      return address;
    }
  }

  TensorMap tensorMap() {
    TensorMap map;
    map.address = random.below(4) ? addresses.front() : number() & ~uint64_t(15);
    map.rank = 1 + random.below(3);
    map.type = MapType(random.below(numMapTypes));
    map.swizzle = MapSwizzle(random.below(4));
    for (unsigned dim = 0; dim < map.rank; ++dim) {
      map.sizes[dim] = random.below(4) ? 1 + random.below(16) : uint64_t(1) << random.below(33);
      map.box[dim] = dim == 0 ? 16 / map.elementBytes() : 1 + random.below(8);
      map.elementStrides[dim] = 1 + (random.below(4) ? 0 : random.below(8));
      if (dim > 0)
        map.strides[dim - 1] = random.below(4) ? 64 : uint64_t(16) << random.below(36);
    }
    return map;
  }

  void addArgument(const Program &, const Variable &variable) {
    const size_t alignment = std::max<uint64_t>(variable.alignment, 1);
    if (alignment > maxBytes || variable.size > maxBytes)
      return;
    config.parameters.resize((config.parameters.size() + alignment - 1) / alignment * alignment);
    std::vector<std::byte> bytes(variable.size);
    if (variable.size == tensorMapBytes && random.below(8)) {
      if (runtime::Result<TensorMapBytes> map = encodeTensorMap(tensorMap()))
        std::copy(map->begin(), map->end(), bytes.begin());
    } else {
      for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
        const uint64_t value = number();
        std::memcpy(bytes.data() + at, &value, std::min(sizeof(value), bytes.size() - at));
      }
    }
    config.parameters.insert(config.parameters.end(), bytes.begin(), bytes.end());
  }

  const Module &module;
  const Function &function;
  const bool isTame;
  Random random;
  std::vector<std::byte> buffers[2];
  std::vector<uint64_t> addresses;
  GlobalMemory memory;
  LaunchConfig config;
};

} // namespace

void launchKernels(const Module &module, uint64_t seed) {
  uint64_t bytes = 0;
  for (const Variable &variable : module.variables)
    bytes += variable.space == Space::Global ? variable.size : 0;
  if (bytes > maxBytes)
    return;
  for (const Function &function : module.functions)
    if (function.isEntry && !function.isDeclaration)
      for (bool isTame : {true, false})
        Launch(module, function, seed++, isTame).run();
}

} // namespace tile::fuzz
