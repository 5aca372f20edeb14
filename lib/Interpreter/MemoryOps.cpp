// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers, loads and stores. An address is a byte offset into the buffer that the pointer was derived from, so the
// bounds check of an element is one comparison and detects accesses to adjacent buffers.
#include "Interpreter/Memory.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::interp {

std::string describeOutOfBounds(const Machine &machine, StringRef access, int32_t buffer, int64_t offset, Type type) {
  int64_t size = getBytesInMemory(type);
  const Buffer &memory = machine.buffers[buffer];
  std::string position = offset % size == 0 ? std::string(llvm::formatv("element {0}", offset / size))
                                            : std::string(llvm::formatv("byte {0}", offset));
  return llvm::formatv("{0} {1} of buffer '{2}', which has {3} elements of {4} ({5} bytes)", access, position,
                       memory.name, memory.bytes / size, type, memory.bytes);
}

namespace {

/// A view of `count` pointers in the frame.
struct Pointers {
  const int64_t *offsets;
  const int32_t *buffers;
  Pointers(const Machine &machine, size_t place, int64_t count)
      : offsets(machine.at<int64_t>(place)), buffers(machine.at<int32_t>(pointerBuffers(place, count))) {}
};

/// Inputs: pointers, offsets. Data: element size in bytes.
template <typename Offset> bool addPointer(Machine &machine, const Instruction &instruction) {
  int64_t count = machine.countOf(instruction);
  Pointers pointers(machine, instruction.in[0], count);
  const Offset *offsets = machine.at<Offset>(instruction.in[1]);
  int64_t size = instruction.dataAs<int64_t>();
  uint64_t *__restrict result = machine.at<uint64_t>(instruction.out[0]);
  for (int64_t i = 0; i < count; ++i)
    result[i] = uint64_t(pointers.offsets[i]) + uint64_t(int64_t(offsets[i])) * uint64_t(size);
  std::memcpy(machine.at<char>(pointerBuffers(instruction.out[0], count)), pointers.buffers,
              size_t(count) * sizeof(int32_t));
  return true;
}

bool compileAddPtr(Compiler &compiler, Operation *op) {
  auto addptr = cast<AddPtrOp>(op);
  Kind offset = compiler.slotOf(addptr.getOffset()).kind;
  Execute execute = offset == Kind::I1    ? addPointer<uint8_t>
                    : offset == Kind::I8  ? addPointer<int8_t>
                    : offset == Kind::I16 ? addPointer<int16_t>
                    : offset == Kind::I32 ? addPointer<int32_t>
                                          : addPointer<int64_t>;
  int64_t size = getBytesInMemory(cast<PtrType>(getElementTypeOf(addptr.getPtr().getType())).getPointee());
  if (offset == Kind::I1) // stored as 0 or 1, but a signed 1 means -1
    size = -size;
  compiler.emit(op, execute).data = std::make_shared<const int64_t>(size);
  return true;
}

/// The element type, and the optional operands that an access has.
struct AccessData {
  Type element;
  bool hasMask = false, hasOther = false;
};

/// Inputs: pointers, mask, other.
template <Kind kind> bool load(Machine &machine, const Instruction &instruction) {
  using Held = HeldType<kind>;
  const auto &data = instruction.dataAs<AccessData>();
  int64_t count = machine.countOf(instruction);
  Pointers pointers(machine, instruction.in[0], count);
  const uint8_t *mask = data.hasMask ? machine.at<uint8_t>(instruction.in[1]) : nullptr;
  const Held *other = data.hasOther ? machine.at<Held>(instruction.in[2]) : nullptr;
  Held *__restrict result = machine.at<Held>(instruction.out[0]);
  for (int64_t i = 0; i < count; ++i) {
    if (mask && !mask[i]) {
      result[i] = other ? other[i] : Held(0);
      continue;
    }
    const char *address = addressOf<kind>(machine, instruction, pointers.buffers[i], pointers.offsets[i]);
    if (!address)
      return machine.fail(
          instruction,
          describeOutOfBounds(machine, "load reads", pointers.buffers[i], pointers.offsets[i], data.element), i);
    if (!readElement<kind>(machine, instruction, pointers.buffers[i], address, i, result[i]))
      return false;
  }
  return true;
}

/// Inputs: pointers, value, mask.
template <Kind kind> bool store(Machine &machine, const Instruction &instruction) {
  using Held = HeldType<kind>;
  const auto &data = instruction.dataAs<AccessData>();
  int64_t count = machine.countOf(instruction);
  Pointers pointers(machine, instruction.in[0], count);
  const Held *value = machine.at<Held>(instruction.in[1]);
  const uint8_t *mask = data.hasMask ? machine.at<uint8_t>(instruction.in[2]) : nullptr;
  if (machine.shadow)
    machine.shadow->beginStore();
  for (int64_t i = 0; i < count; ++i) {
    if (mask && !mask[i])
      continue;
    char *address = addressOf<kind>(machine, instruction, pointers.buffers[i], pointers.offsets[i]);
    if (!address)
      return machine.fail(
          instruction,
          describeOutOfBounds(machine, "store writes", pointers.buffers[i], pointers.offsets[i], data.element), i);
    if (!writeElement<kind>(machine, instruction, pointers.buffers[i], address, i, value[i]))
      return false;
  }
  return true;
}

template <Kind kind> struct Load {
  static constexpr Execute execute = load<kind>;
};
template <Kind kind> struct Store {
  static constexpr Execute execute = store<kind>;
};

bool compileLoad(Compiler &compiler, Operation *op) {
  auto loadOp = cast<LoadOp>(op);
  AccessData data{getElementTypeOf(loadOp.getResult().getType()), bool(loadOp.getMask()), bool(loadOp.getOther())};
  size_t mask = data.hasMask ? compiler.slotOf(loadOp.getMask()).offset : 0;
  size_t other = data.hasOther ? compiler.slotOf(loadOp.getOther()).offset : 0;
  Slot result = compiler.define(loadOp.getResult());
  compiler
      .emit(op, memoryKernel<Load>(result.kind), {compiler.slotOf(loadOp.getPtr()).offset, mask, other},
            {result.offset}, result)
      .data = std::make_shared<const AccessData>(data);
  return true;
}

bool compileStore(Compiler &compiler, Operation *op) {
  auto storeOp = cast<StoreOp>(op);
  Slot value = compiler.slotOf(storeOp.getValue());
  AccessData data{getElementTypeOf(storeOp.getValue().getType()), bool(storeOp.getMask())};
  size_t mask = data.hasMask ? compiler.slotOf(storeOp.getMask()).offset : 0;
  compiler
      .emit(op, memoryKernel<Store>(value.kind), {compiler.slotOf(storeOp.getPtr()).offset, value.offset, mask}, {},
            value)
      .data = std::make_shared<const AccessData>(data);
  return true;
}

/// Converts pointers to addresses of host memory.
bool toAddress(Machine &machine, const Instruction &instruction) {
  int64_t count = machine.countOf(instruction);
  Pointers pointers(machine, instruction.in[0], count);
  uint64_t *result = machine.at<uint64_t>(instruction.out[0]);
  for (int64_t i = 0; i < count; ++i)
    result[i] = reinterpret_cast<uint64_t>(machine.buffers[pointers.buffers[i]].data) + uint64_t(pointers.offsets[i]);
  return true;
}

/// Converts addresses to pointers. An address outside all buffers becomes a pointer beyond the bounds of the first
/// buffer, so an access through the pointer reports an error.
bool toPointer(Machine &machine, const Instruction &instruction) {
  int64_t count = machine.countOf(instruction);
  const uint64_t *addresses = machine.at<uint64_t>(instruction.in[0]);
  int64_t *offsets = machine.at<int64_t>(instruction.out[0]);
  int32_t *buffers = machine.at<int32_t>(pointerBuffers(instruction.out[0], count));
  for (int64_t i = 0; i < count; ++i) {
    auto distance = [&](size_t buffer) {
      return addresses[i] - reinterpret_cast<uint64_t>(machine.buffers[buffer].data);
    };
    size_t found = 0;
    for (size_t buffer = 0; buffer < machine.buffers.size(); ++buffer)
      if (distance(buffer) < machine.buffers[buffer].bytes)
        found = buffer;
    buffers[i] = int32_t(found);
    offsets[i] = machine.buffers.empty() ? -1 : int64_t(distance(found));
  }
  return true;
}

bool compileAddressCast(Compiler &compiler, Operation *op) {
  Slot from = compiler.slotOf(op->getOperand(0));
  Kind to = *compiler.kindOf(op->getResult(0).getType());
  if (from.kind == to)
    compiler.emitCopy(op, from, compiler.define(op->getResult(0)));
  else
    compiler.emit(op, to == Kind::Pointer ? toPointer : toAddress);
  return true;
}

} // namespace

void registerMemoryOps(HandlerTable &table) {
  table["tile.addptr"] = compileAddPtr;
  table["tile.address_cast"] = compileAddressCast;
  table["tile.load"] = compileLoad;
  table["tile.store"] = compileStore;
}

} // namespace tile::interp
