// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only buffers that are written can race, and only uninitialized ones can be read too early, so inputs have no
// overhead. If programs synchronize by operations other than loads and stores, their order is unknown here and nothing
// is checked.
#include "Interpreter/Shadow.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::interp {

/// Marks an element that several programs have written with the same value.
static constexpr uint32_t sharedWriter = std::numeric_limits<uint32_t>::max();

static bool hasOnlyPlainAccesses(KernelOp kernel) {
  WalkResult result = kernel->walk([](Operation *op) {
    bool isPlain = isa<LoadOp, StoreOp, DescLoadOp, DescStoreOp, CreateTensorMapOp, AcquireTensorMapOp, BarrierOp,
                       PrintOp, AssertOp, AssumeOp>(op);
    if (auto store = dyn_cast<DescStoreOp>(op); store && store.getReduce())
      return WalkResult::interrupt();
    bool isQuiet = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>() ||
                   isMemoryEffectFree(op) || isa<KernelOp>(op);
    return isPlain || isQuiet ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

Shadow::Shadow(KernelOp kernel, ArrayRef<Buffer> all, const Options &options) : events(1) {
  if ((!options.checkRaces && !options.checkUninitialized) || !hasOnlyPlainAccesses(kernel))
    return;
  for (const Buffer &buffer : all) {
    Tracked &tracked = buffers.emplace_back();
    tracked.granule = std::max<size_t>(1, buffer.granule);
    size_t count = (buffer.bytes + tracked.granule - 1) / tracked.granule;
    if (options.checkRaces && !buffer.readOnly)
      tracked.cells.resize(count);
    if (options.checkUninitialized && !buffer.initialized)
      tracked.initialized.resize(count);
  }
}

uint32_t Shadow::currentEvent(const Machine &machine, Operation *op) {
  if (machine.program != currentProgram) {
    current.clear();
    currentProgram = machine.program;
  }
  auto [entry, added] = current.try_emplace(op, uint32_t(events.size()));
  if (added)
    events.push_back({machine.program, op});
  return entry->second;
}

bool Shadow::isOther(uint32_t event, const Machine &machine) const {
  return event != 0 && (event == sharedWriter || events[event].program != machine.program);
}

bool Shadow::failRace(Machine &machine, const Instruction &instruction, StringRef what, int32_t buffer, size_t cell,
                      StringRef other, uint32_t event, int64_t element) {
  std::string who = ("several programs " + other).str();
  if (event != sharedWriter) {
    auto [x, y, z] = events[event].program;
    std::string position = positionOf(events[event].op->getLoc());
    who = llvm::formatv("program ({0}, {1}, {2}) {3}{4}", x, y, z, other, position.empty() ? "" : " at " + position);
  }
  return machine.fail(instruction,
                      llvm::formatv("race: {0} element {1} of buffer '{2}', which {3}; programs run in any order", what,
                                    cell, machine.buffers[buffer].name, who),
                      element);
}

bool Shadow::readTracked(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address,
                         size_t bytes, int64_t element) {
  Tracked &tracked = buffers[buffer];
  size_t offset = size_t(address - static_cast<const char *>(machine.buffers[buffer].data));
  for (size_t cell = offset / tracked.granule; cell * tracked.granule < offset + bytes; ++cell) {
    if (!tracked.initialized.empty() && !tracked.initialized[cell])
      return machine.fail(instruction,
                          llvm::formatv("load reads element {0} of buffer '{1}', which was never written", cell,
                                        machine.buffers[buffer].name),
                          element);
    if (tracked.cells.empty())
      continue;
    Cell &entry = tracked.cells[cell];
    if (entry.writer != sharedWriter && isOther(entry.writer, machine))
      return failRace(machine, instruction, "load reads", buffer, cell, "writes", entry.writer, element);
    if (!entry.reader)
      entry.reader = currentEvent(machine, instruction.op);
    else if (!entry.otherReader && isOther(entry.reader, machine))
      entry.otherReader = currentEvent(machine, instruction.op);
  }
  return true;
}

bool Shadow::writeTracked(Machine &machine, const Instruction &instruction, int32_t buffer, const char *address,
                          const char *old, size_t bytes, int64_t element) {
  Tracked &tracked = buffers[buffer];
  size_t offset = size_t(address - static_cast<const char *>(machine.buffers[buffer].data));
  bool isSame = std::memcmp(address, old, bytes) == 0;
  for (size_t cell = offset / tracked.granule; cell * tracked.granule < offset + bytes; ++cell) {
    if (!tracked.initialized.empty())
      tracked.initialized[cell] = 1;
    if (tracked.cells.empty())
      continue;
    Cell &entry = tracked.cells[cell];
    if (entry.store == stores && !isSame)
      return machine.fail(
          instruction,
          llvm::formatv("race: store writes different values to element {0} of buffer '{1}'; the elements "
                        "of a block are written in any order",
                        cell, machine.buffers[buffer].name),
          element);
    entry.store = stores;
    bool isWrittenByOther = isOther(entry.writer, machine);
    if (isWrittenByOther && !isSame)
      return failRace(machine, instruction, "store changes", buffer, cell, "writes", entry.writer, element);
    for (uint32_t reader : {entry.reader, entry.otherReader})
      if (!isSame && isOther(reader, machine))
        return failRace(machine, instruction, "store changes", buffer, cell, "reads", reader, element);
    entry.writer = isWrittenByOther ? sharedWriter : currentEvent(machine, instruction.op);
  }
  return true;
}

} // namespace tile::interp
