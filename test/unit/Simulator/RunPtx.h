// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel of a PTX module on the simulator for tests: arrays in, arrays out.
#pragma once

#include "Simulator/Machine/Machine.h"
#include "Simulator/Ptx/Parser.h"

#include <cstring>

namespace tile::sim {

/// Launches `entry` with the addresses of `arrays` as its parameters; afterwards these contain what the kernel has
/// written. Returns the error of loading or running, or the first report.
inline runtime::Status runPtx(const Module &module, std::string_view entry, uint32_t ctas, uint32_t threads,
                              std::vector<std::span<uint64_t>> arrays, uint64_t seed = 0) {
  GlobalMemory memory;
  LaunchConfig config;
  config.grid[0] = ctas;
  config.block[0] = threads;
  config.seed = seed;
  for (std::span<uint64_t> array : arrays) {
    uint64_t address = memory.add("array", reinterpret_cast<std::byte *>(array.data()), array.size_bytes());
    config.parameters.resize(config.parameters.size() + sizeof(address));
    std::memcpy(config.parameters.data() + config.parameters.size() - sizeof(address), &address, sizeof(address));
  }
  auto program = Program::load(module, entry, memory);
  if (!program)
    return program.error();
  Reports reports;
  Machine machine(**program, memory, config, reports);
  if (runtime::Status status = machine.run(); !status)
    return status;
  for (const Report &report : reports.all())
    return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "line {}: {}", report.actor.loc.ptxLine, report.message);
  return runtime::Success{};
}

} // namespace tile::sim
