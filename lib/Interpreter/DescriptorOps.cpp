// Descriptors: a strided global tensor that is read and written in blocks, with zeros read and nothing written outside
// its shape. Inside the shape an access is still checked against the buffer: a descriptor may promise too much.
#include "Interpreter/Memory.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::interp {
namespace {

/// The shape and stride operands, and the kind that holds the descriptor's parameters.
struct MakeData {
  SmallVector<size_t, 5> shape, strides;
};

bool makeDescriptor(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<MakeData>();
  Descriptor descriptor{};
  descriptor.offset = *machine.at<int64_t>(instruction.in[0]);
  descriptor.buffer = *machine.at<int32_t>(pointerBuffers(instruction.in[0], 1));
  for (size_t axis = 0; axis < data.shape.size(); ++axis) {
    descriptor.shape[axis] = *machine.at<int32_t>(data.shape[axis]);
    descriptor.strides[axis] = *machine.at<int64_t>(data.strides[axis]);
    if (descriptor.shape[axis] < 0)
      return machine.fail(instruction,
                          llvm::formatv("descriptor has size {0} in dimension {1}; it must not be negative",
                                        descriptor.shape[axis], axis));
  }
  if (int64_t last = descriptor.strides[data.strides.size() - 1]; last != 1)
    return machine.fail(instruction, llvm::formatv("descriptor has last stride {0}; it must be 1", last));
  std::memcpy(machine.at<char>(instruction.out[0]), &descriptor, sizeof(descriptor));
  return true;
}

bool compileMakeDesc(Compiler &compiler, Operation *op) {
  auto make = cast<MakeDescOp>(op);
  MakeData data;
  for (Value size : make.getShape())
    data.shape.push_back(compiler.slotOf(size).offset);
  for (Value stride : make.getStrides())
    data.strides.push_back(compiler.slotOf(stride).offset);
  Slot base = compiler.slotOf(make.getBase()), result = compiler.define(make.getResult());
  compiler.emit(op, makeDescriptor, {base.offset}, {result.offset}, result).data =
      std::make_shared<const MakeData>(std::move(data));
  return true;
}

struct BlockData {
  Type element;
  SmallVector<int64_t, 5> block;
  SmallVector<size_t, 5> offsets;
};

/// Calls `access(element, byteOffset)` for each element of the block inside the tensor and `outside(element)` for the
/// others, in row-major order, until `access` returns false.
template <typename Access, typename Outside>
bool walkBlock(Machine &machine, const BlockData &data, const Descriptor &descriptor, Access access, Outside outside) {
  size_t rank = data.block.size();
  int64_t bytes = getBytesInMemory(data.element), count = 1, position[5] = {}, start[5];
  for (size_t axis = 0; axis < rank; ++axis) {
    start[axis] = *machine.at<int32_t>(data.offsets[axis]);
    count *= data.block[axis];
  }
  for (int64_t element = 0; element < count; ++element) {
    bool inside = true;
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      int64_t coordinate = start[axis] + position[axis];
      inside &= coordinate >= 0 && coordinate < descriptor.shape[axis];
      offset += coordinate * descriptor.strides[axis];
    }
    if (!inside)
      outside(element);
    else if (!access(element, descriptor.offset + offset * bytes))
      return false;
    for (size_t axis = rank; axis-- > 0 && ++position[axis] == data.block[axis];)
      position[axis] = 0;
  }
  return true;
}

/// in: descriptor.
template <Kind kind> bool loadBlock(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<BlockData>();
  const auto &descriptor = *machine.at<Descriptor>(instruction.in[0]);
  HeldType<kind> *result = machine.at<HeldType<kind>>(instruction.out[0]);
  return walkBlock(
      machine, data, descriptor,
      [&](int64_t element, int64_t offset) {
        const char *address = addressOf<kind>(machine, descriptor.buffer, offset);
        if (!address)
          return machine.fail(
              instruction,
              describeOutOfBounds(machine, "descriptor load reads", descriptor.buffer, offset, data.element), element);
        return readElement<kind>(machine, instruction, descriptor.buffer, address, element, result[element]);
      },
      [&](int64_t element) { result[element] = 0; });
}

/// in: descriptor, value.
template <Kind kind> bool storeBlock(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<BlockData>();
  const auto &descriptor = *machine.at<Descriptor>(instruction.in[0]);
  const HeldType<kind> *value = machine.at<HeldType<kind>>(instruction.in[1]);
  if (machine.shadow)
    machine.shadow->beginStore();
  return walkBlock(
      machine, data, descriptor,
      [&](int64_t element, int64_t offset) {
        char *address = addressOf<kind>(machine, descriptor.buffer, offset);
        if (!address)
          return machine.fail(
              instruction,
              describeOutOfBounds(machine, "descriptor store writes", descriptor.buffer, offset, data.element),
              element);
        return writeElement<kind>(machine, instruction, descriptor.buffer, address, element, value[element]);
      },
      [](int64_t) {});
}

template <Kind kind> struct LoadBlock {
  static constexpr Execute execute = loadBlock<kind>;
};
template <Kind kind> struct StoreBlock {
  static constexpr Execute execute = storeBlock<kind>;
};

std::shared_ptr<const BlockData> blockData(Compiler &compiler, DescType desc, ValueRange offsets) {
  BlockData data{desc.getElementType(), {desc.getShape().begin(), desc.getShape().end()}, {}};
  for (Value offset : offsets)
    data.offsets.push_back(compiler.slotOf(offset).offset);
  return std::make_shared<const BlockData>(std::move(data));
}

/// Padding is for layouts; what it holds would be undefined.
bool checkBlock(Compiler &compiler, Operation *op, DescType desc, RankedTensorType block) {
  return block.getShape() == desc.getShape() ||
         compiler.fail(op, "the interpreter does not support padded blocks; it runs programs before tile-pad-blocks");
}

bool compileDescLoad(Compiler &compiler, Operation *op) {
  auto load = cast<DescLoadOp>(op);
  if (!checkBlock(compiler, op, load.getDesc().getType(), load.getType()))
    return false;
  Slot desc = compiler.slotOf(load.getDesc()), result = compiler.define(load.getResult());
  compiler.emit(op, memoryKernel<LoadBlock>(result.kind), {desc.offset}, {result.offset}, result).data =
      blockData(compiler, load.getDesc().getType(), load.getOffsets());
  return true;
}

bool compileDescStore(Compiler &compiler, Operation *op) {
  auto store = cast<DescStoreOp>(op);
  if (!checkBlock(compiler, op, store.getDesc().getType(), store.getValue().getType()))
    return false;
  Slot desc = compiler.slotOf(store.getDesc()), value = compiler.slotOf(store.getValue());
  compiler.emit(op, memoryKernel<StoreBlock>(value.kind), {desc.offset, value.offset}, {}, value).data =
      blockData(compiler, store.getDesc().getType(), store.getOffsets());
  return true;
}

} // namespace

void registerDescriptorOps(HandlerTable &table) {
  table["tile.make_desc"] = compileMakeDesc;
  table["tile.desc_load"] = compileDescLoad;
  table["tile.desc_store"] = compileDescStore;
}

} // namespace tile::interp
