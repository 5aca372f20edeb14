// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Verify/LastStore.h"

#include "Lab/Verify/PtxUses.h"
#include "Runner/Device/SimDevice.h"
#include "Simulator/Machine/Cta.h"
#include "Simulator/Machine/Program.h"
#include "Simulator/Machine/Warp.h"
#include "Simulator/Profile/Observer.h"

#include <bit>

namespace tile::runner {
namespace {

/// Remembers the last store to one address. It must not be used by several host threads.
class StoreFinder final : public RunWatcher, public sim::Observer {
public:
  explicit StoreFinder(const Difference &difference) : difference(difference) {}

  sim::Observer &begin(const sim::Program &program, std::span<const DeviceArgument> arguments,
                       std::span<const uint64_t> values) override {
    module = &program.module;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const HostBuffer *buffer = arguments[i].buffer;
      if (!buffer || arguments[i].parameter->name != difference.buffer)
        continue;
      int64_t element = 0;
      for (size_t dim = 0; dim < difference.index.size(); ++dim)
        element += difference.index[dim] * buffer->layout().strides[dim];
      address = values[i] + static_cast<uint64_t>(element) * runtime::dataTypeSize(buffer->type());
    }
    return *this;
  }
  void issue(const sim::Warp &, const sim::Instruction &, sim::LaneMask) override {}
  void access(const sim::Warp &warp, const sim::LaneAccess &access) override {
    if (access.kind == sim::AccessKind::Read)
      return;
    for (sim::LaneMask lanes = access.lanes; lanes; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      if (access.space[lane] == sim::Space::Global && address - access.address[lane] < access.bytes)
        note(warp, *access.instruction);
    }
  }
  void copy(const sim::Warp &, const sim::Instruction &, uint64_t, bool) override {}
  void copyBytes(const sim::Warp &warp, const sim::Instruction &instruction, uint64_t first, uint64_t bytes,
                 bool toShared) override {
    if (!toShared && address - first < bytes)
      note(warp, instruction);
  }
  void tensorCore(const sim::Warp &, const sim::Instruction &, uint64_t) override {}
  void wait(const sim::Warp &, const sim::Instruction &) override {}

  const std::string &found() const { return store; }

private:
  void note(const sim::Warp &warp, const sim::Instruction &instruction) {
    store = fmt::format("{} by warp {} of block {}", describeInstruction(*module, instruction), warp.index,
                        warp.cta.linearId);
  }

  const Difference &difference;
  const sim::Module *module = nullptr;
  uint64_t address = 0;
  std::string store;
};

} // namespace

Result<std::string> findLastStore(const TestedVariant &variant, const Difference &difference, const RunOptions &options,
                                  int multiprocessors) {
  StoreFinder finder(difference);
  const RunOptions run = variant.optionsFor(difference.call, options);
  SimOptions sim;
  sim.multiprocessors = multiprocessors;
  sim.threads = 1;
  sim.steps = run.steps;
  sim.limit = run.limit;
  sim.checks = false;
  sim.watcher = &finder;
  Result<std::unique_ptr<Device>> device = openSimDevice(variant.artifact, sim);
  if (!device)
    return device.error();
  Result<Execution> execution = Execution::prepare(run, variant.manifest(), **device);
  if (!execution)
    return execution.error();
  RunReport report = startReport(*execution, **device, run.artifact);
  Status status = execution->run(report);
  return status ? Result<std::string>(finder.found()) : status.error();
}

} // namespace tile::runner
