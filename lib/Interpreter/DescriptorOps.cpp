// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors of strided global tensors that are accessed in blocks. Elements outside a descriptor's shape read as zero
// and are not written. Inside the shape, accesses are still checked against the buffer, because the shape may exceed
// it.
//
// A tensor map in memory has the interpreter's own format (MapImage); maps encoded by a GPU driver cannot be read.
#include "Interpreter/Atomic.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace mlir;

namespace tile::interp {
namespace {

/// The slots of the shape and stride operands.
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

/// The contents of a tensor map, at most 128 bytes.
struct MapImage {
  char magic[8];
  int32_t rank, elementBytes;
  int64_t block[2];
  Descriptor tensor;
};
constexpr char mapMagic[8] = {'t', 'i', 'l', 'e', 'm', 'a', 'p', 0};
constexpr size_t mapBytes = 128, mapAlignment = 64; // PTX ISA, "Tensor-map"
static_assert(sizeof(MapImage) <= mapBytes);

/// Returns the address of a tensor map, or null after Machine::fail.
char *findMap(Machine &machine, const Instruction &instruction, int32_t buffer, int64_t offset) {
  const Buffer &memory = machine.buffers[buffer];
  if (memory.bytes < mapBytes || uint64_t(offset) > memory.bytes - mapBytes || offset % mapAlignment != 0) {
    machine.fail(
        instruction,
        llvm::formatv(
            "a tensor map at byte {0} of buffer '{1}', which has {2} bytes; it needs {3} bytes, aligned to {4}", offset,
            memory.name, memory.bytes, mapBytes, mapAlignment));
    return nullptr;
  }
  return static_cast<char *>(memory.data) + offset;
}

struct TensorMapData {
  SmallVector<size_t, 2> shape;
  SmallVector<int64_t, 2> block;
  int64_t elementBytes;
};

/// Inputs: the address of the tensor map, and the base address of the tensor.
bool createMap(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<TensorMapData>();
  MapImage image{};
  std::memcpy(image.magic, mapMagic, sizeof(mapMagic));
  image.rank = int32_t(data.block.size());
  image.elementBytes = int32_t(data.elementBytes);
  image.tensor.offset = *machine.at<int64_t>(instruction.in[1]);
  image.tensor.buffer = *machine.at<int32_t>(pointerBuffers(instruction.in[1], 1));
  int64_t stride = 1;
  for (size_t axis = data.block.size(); axis-- > 0;) {
    image.block[axis] = data.block[axis];
    image.tensor.shape[axis] = *machine.at<int32_t>(data.shape[axis]);
    image.tensor.strides[axis] = stride;
    stride *= image.tensor.shape[axis];
  }
  constexpr int64_t rowAlignment = 16;
  if (int64_t row = image.tensor.strides[0] * data.elementBytes; image.rank == 2 && row % rowAlignment != 0)
    return machine.fail(instruction, llvm::formatv("a tensor map with rows of {0} bytes; expected a multiple of {1}",
                                                   row, rowAlignment));
  int32_t buffer = *machine.at<int32_t>(pointerBuffers(instruction.in[0], 1));
  char *place = findMap(machine, instruction, buffer, *machine.at<int64_t>(instruction.in[0]));
  if (!place)
    return false;
  if (machine.shadow)
    machine.shadow->beginStore();
  char old[sizeof(image)];
  std::memcpy(old, place, sizeof(image));
  std::memcpy(place, &image, sizeof(image));
  ++machine.changes;
  return !machine.shadow || machine.shadow->write(machine, instruction, buffer, place, old, sizeof(image), 0);
}

bool compileCreateMap(Compiler &compiler, Operation *op) {
  auto create = cast<CreateTensorMapOp>(op);
  TensorMapData data{
      {}, llvm::to_vector<2>(create.getBlock()), getBytesInMemory(create.getBase().getType().getPointee())};
  for (Value size : create.getShape())
    data.shape.push_back(compiler.slotOf(size).offset);
  Slot place = compiler.slotOf(create.getPlace()), base = compiler.slotOf(create.getBase());
  compiler.emit(op, createMap, {place.offset, base.offset}, {}, place).data =
      std::make_shared<const TensorMapData>(std::move(data));
  return true;
}

/// Emits nothing: programs run one after another, so earlier writes are visible.
bool compileAcquireMap(Compiler &, Operation *) {
  return true;
}

bool openMap(Machine &machine, const Instruction &instruction) {
  Descriptor descriptor{};
  descriptor.isMap = 1;
  descriptor.offset = *machine.at<int64_t>(instruction.in[0]);
  descriptor.buffer = *machine.at<int32_t>(pointerBuffers(instruction.in[0], 1));
  std::memcpy(machine.at<char>(instruction.out[0]), &descriptor, sizeof(descriptor));
  return true;
}

bool compileOpenMap(Compiler &compiler, Operation *op) {
  auto open = cast<OpenTensorMapOp>(op);
  Slot place = compiler.slotOf(open.getPlace()), result = compiler.define(open.getResult());
  compiler.emit(op, openMap, {place.offset}, {result.offset}, result);
  return true;
}

struct BlockData {
  Type element;
  SmallVector<int64_t, 5> block;
  SmallVector<size_t, 5> offsets;
  bool padsNan = false;             ///< for loads
  std::optional<AtomicKind> reduce; ///< for stores
};

/// Returns the tensor of a descriptor. If the descriptor has a tensor map, reads the tensor from the map. Returns
/// nullopt after Machine::fail.
std::optional<Descriptor> findTensor(Machine &machine, const Instruction &instruction, const BlockData &data) {
  const auto &descriptor = *machine.at<Descriptor>(instruction.in[0]);
  if (!descriptor.isMap)
    return descriptor;
  const char *place = findMap(machine, instruction, descriptor.buffer, descriptor.offset);
  if (!place ||
      (machine.shadow && !machine.shadow->read(machine, instruction, descriptor.buffer, place, sizeof(MapImage), 0)))
    return std::nullopt;
  MapImage image;
  std::memcpy(&image, place, sizeof(image));
  const std::string &name = machine.buffers[descriptor.buffer].name;
  if (std::memcmp(image.magic, mapMagic, sizeof(mapMagic)) != 0) {
    machine.fail(instruction, llvm::formatv("byte {0} of buffer '{1}' does not hold a tensor map made by this program; "
                                            "the interpreter cannot read tensor maps made by a GPU driver",
                                            descriptor.offset, name));
    return std::nullopt;
  }
  ArrayRef<int64_t> block(image.block, size_t(image.rank));
  if (block != ArrayRef(data.block) || image.elementBytes != int32_t(getBytesInMemory(data.element))) {
    auto sizes = [](ArrayRef<int64_t> shape) {
      return llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), "x");
    };
    machine.fail(
        instruction,
        llvm::formatv("the tensor map at byte {0} of buffer '{1}' is for blocks of {2} elements of {3} bytes, not "
                      "{4} of {5}",
                      descriptor.offset, name, sizes(block), image.elementBytes, sizes(data.block),
                      getBytesInMemory(data.element)));
    return std::nullopt;
  }
  return image.tensor;
}

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

/// Inputs: descriptor.
template <Kind kind> bool loadBlock(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<BlockData>();
  std::optional<Descriptor> tensor = findTensor(machine, instruction, data);
  if (!tensor)
    return false;
  HeldType<kind> *result = machine.at<HeldType<kind>>(instruction.out[0]);
  return walkBlock(
      machine, data, *tensor,
      [&](int64_t element, int64_t offset) {
        const char *address = addressOf<kind>(machine, instruction, tensor->buffer, offset);
        if (!address)
          return machine.fail(
              instruction, describeOutOfBounds(machine, "descriptor load reads", tensor->buffer, offset, data.element),
              element);
        return readElement<kind>(machine, instruction, tensor->buffer, address, element, result[element]);
      },
      [&](int64_t element) {
        if constexpr (isInteger(kind))
          result[element] = 0;
        else
          result[element] = data.padsNan ? std::numeric_limits<HeldType<kind>>::quiet_NaN() : 0;
      });
}

/// Inputs: descriptor, value.
template <Kind kind> bool storeBlock(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<BlockData>();
  std::optional<Descriptor> tensor = findTensor(machine, instruction, data);
  if (!tensor)
    return false;
  const HeldType<kind> *value = machine.at<HeldType<kind>>(instruction.in[1]);
  if (machine.shadow)
    machine.shadow->beginStore();
  return walkBlock(
      machine, data, *tensor,
      [&](int64_t element, int64_t offset) {
        char *address = addressOf<kind>(machine, instruction, tensor->buffer, offset);
        if (!address)
          return machine.fail(
              instruction,
              describeOutOfBounds(machine, "descriptor store writes", tensor->buffer, offset, data.element), element);
        if (data.reduce) {
          changeMemory<kind>(machine, address,
                             combineAtomically<kind>(*data.reduce, readMemory<kind>(address), value[element]));
          return true;
        }
        return writeElement<kind>(machine, instruction, tensor->buffer, address, element, value[element]);
      },
      [](int64_t) {});
}

template <Kind kind> struct LoadBlock {
  static constexpr Execute execute = loadBlock<kind>;
};
template <Kind kind> struct StoreBlock {
  static constexpr Execute execute = storeBlock<kind>;
};

std::shared_ptr<const BlockData> blockData(Compiler &compiler, DescType desc, ValueRange offsets,
                                           std::optional<AtomicKind> reduce = std::nullopt) {
  BlockData data{
      desc.getElementType(), {desc.getShape().begin(), desc.getShape().end()}, {}, desc.getPadsNan(), reduce};
  for (Value offset : offsets)
    data.offsets.push_back(compiler.slotOf(offset).offset);
  return std::make_shared<const BlockData>(std::move(data));
}

/// Fails for a padded block. Blocks are padded only for the sake of layouts, and the padding has no defined values.
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
      blockData(compiler, store.getDesc().getType(), store.getOffsets(), store.getReduce());
  return true;
}

} // namespace

void registerDescriptorOps(HandlerTable &table) {
  table["tile.make_desc"] = compileMakeDesc;
  table["tile.create_tensor_map"] = compileCreateMap;
  table["tile.acquire_tensor_map"] = compileAcquireMap;
  table["tile.open_tensor_map"] = compileOpenMap;
  table["tile.desc_load"] = compileDescLoad;
  table["tile.desc_store"] = compileDescStore;
}

} // namespace tile::interp
