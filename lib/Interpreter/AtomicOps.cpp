// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic operations. Programs run one after another, so each element is read, combined and written in turn. The memory
// order and the scope have no effect.
#include "Interpreter/Atomic.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::interp {
namespace {

struct AtomicData {
  AtomicKind kind = AtomicKind::xchg;
  Type element;
  bool hasMask = false;
};

/// Returns the address of the element in its buffer; null after an error.
template <Kind kind> char *locate(Machine &machine, const Instruction &instruction, int64_t element) {
  int64_t offset = machine.at<int64_t>(instruction.in[0])[element];
  int32_t buffer = machine.at<int32_t>(pointerBuffers(instruction.in[0], instruction.count))[element];
  char *address = addressOf<kind>(machine, instruction, buffer, offset);
  if (!address)
    machine.fail(
        instruction,
        describeOutOfBounds(machine, "atomic accesses", buffer, offset, instruction.dataAs<AtomicData>().element),
        element);
  return address;
}

/// Inputs: pointers, values, mask.
template <Kind kind> struct Update {
  static bool execute(Machine &machine, const Instruction &instruction) {
    using Held = HeldType<kind>;
    const auto &data = instruction.dataAs<AtomicData>();
    const Held *values = machine.at<Held>(instruction.in[1]);
    const uint8_t *mask = data.hasMask ? machine.at<uint8_t>(instruction.in[2]) : nullptr;
    Held *result = machine.at<Held>(instruction.out[0]);
    for (int64_t i = 0; i < instruction.count; ++i) {
      result[i] = 0;
      if (mask && !mask[i])
        continue;
      char *address = locate<kind>(machine, instruction, i);
      if (!address)
        return false;
      result[i] = readMemory<kind>(address);
      changeMemory<kind>(machine, address, combineAtomically<kind>(data.kind, result[i], values[i]));
    }
    return true;
  }
};

/// Inputs: pointers, values, expected values, which are compared bitwise.
template <Kind kind> struct CompareAndSwap {
  static bool execute(Machine &machine, const Instruction &instruction) {
    using Held = HeldType<kind>;
    const Held *values = machine.at<Held>(instruction.in[1]), *expected = machine.at<Held>(instruction.in[2]);
    Held *result = machine.at<Held>(instruction.out[0]);
    for (int64_t i = 0; i < instruction.count; ++i) {
      char *address = locate<kind>(machine, instruction, i);
      if (!address)
        return false;
      char wanted[sizeof(MemoryType<kind>)];
      writeMemory<kind>(wanted, expected[i]);
      result[i] = readMemory<kind>(address);
      if (std::memcmp(address, wanted, sizeof(wanted)) == 0)
        changeMemory<kind>(machine, address, values[i]);
    }
    return true;
  }
};

bool compileUpdate(Compiler &compiler, Operation *op) {
  auto update = cast<AtomicRmwOp>(op);
  AtomicData data{update.getKind(), getElementTypeOf(update.getType()), bool(update.getMask())};
  size_t mask = data.hasMask ? compiler.slotOf(update.getMask()).offset : 0;
  Slot result = compiler.define(update.getResult());
  compiler
      .emit(op, memoryKernel<Update>(result.kind),
            {compiler.slotOf(update.getPtr()).offset, compiler.slotOf(update.getValue()).offset, mask}, {result.offset},
            result)
      .data = std::make_shared<const AtomicData>(data);
  return true;
}

bool compileSwap(Compiler &compiler, Operation *op) {
  auto swap = cast<AtomicCasOp>(op);
  Slot result = compiler.define(swap.getResult());
  compiler
      .emit(op, memoryKernel<CompareAndSwap>(result.kind),
            {compiler.slotOf(swap.getPtr()).offset, compiler.slotOf(swap.getValue()).offset,
             compiler.slotOf(swap.getExpected()).offset},
            {result.offset}, result)
      .data = std::make_shared<const AtomicData>(AtomicData{AtomicKind::xchg, getElementTypeOf(swap.getType())});
  return true;
}

/// Inputs: pointer, value. Programs run one after another, so no other program can still set the flag.
bool waitForFlag(Machine &machine, const Instruction &instruction) {
  char *address = locate<Kind::I32>(machine, instruction, 0);
  if (!address)
    return false;
  auto flag = int32_t(readMemory<Kind::I32>(address)), value = *machine.at<int32_t>(instruction.in[1]);
  if (int32_t(uint32_t(flag) - uint32_t(value)) >= 0)
    return true;
  int32_t buffer = *machine.at<int32_t>(pointerBuffers(instruction.in[0], instruction.count));
  return machine.fail(instruction,
                      llvm::formatv("deadlock: waits until element {0} of '{1}', which is {2}, has reached {3}; no "
                                    "program before this one sets it",
                                    *machine.at<int64_t>(instruction.in[0]) / int64_t(sizeof(flag)),
                                    machine.buffers[buffer].name, flag, value)
                          .str());
}

bool compileWaitFlag(Compiler &compiler, Operation *op) {
  auto wait = cast<WaitFlagOp>(op);
  compiler
      .emit(op, waitForFlag, {compiler.slotOf(wait.getPtr()).offset, compiler.slotOf(wait.getValue()).offset}, {},
            compiler.slotOf(wait.getPtr()))
      .data = std::make_shared<const AtomicData>(AtomicData{AtomicKind::xchg, wait.getValue().getType()});
  return true;
}

} // namespace

void registerAtomicOps(HandlerTable &table) {
  table["tile.atomic_rmw"] = compileUpdate;
  table["tile.atomic_cas"] = compileSwap;
  table["tile.wait_flag"] = compileWaitFlag;
}

} // namespace tile::interp
