// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, ranges, splats and the operations that only move elements.
//
// Constants and ranges are written once into slots that are never reused. Every move is one walk over the result with a
// source stride per dimension: 0 repeats an element (splat, broadcast), others permute. Reshapes keep the row-major
// order and are copies. Pointers are moved as two arrays.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::interp {
namespace {

/// Returns the kernel that moves elements of this size: `instance` for the unsigned integer of that size.
template <typename Instance> Execute forBytes(size_t bytes, Instance instance) {
  switch (bytes) {
  case 1:
    return instance(uint8_t());
  case 2:
    return instance(uint16_t());
  case 4:
    return instance(uint32_t());
  default:
    return instance(uint64_t());
  }
}

/// Appends the frame representation of one scalar.
void appendNumber(std::vector<char> &pattern, Kind kind, Attribute value) {
  uint64_t bits;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    bits = kind == Kind::I1 ? integer.getValue().getBoolValue() : integer.getValue().sextOrTrunc(64).getZExtValue();
  else if (APFloat number = cast<FloatAttr>(value).getValue(); kind == Kind::F64)
    bits = number.bitcastToAPInt().getZExtValue();
  else
    bits = std::bit_cast<uint32_t>(decode(kind, uint32_t(number.bitcastToAPInt().getZExtValue())));
  const char *bytes = reinterpret_cast<const char *>(&bits);
  pattern.insert(pattern.end(), bytes, bytes + bytesInFrame(kind));
}

bool compileConstant(Compiler &compiler, Operation *op) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  Kind kind = *compiler.kindOf(op->getResult(0).getType());
  std::vector<char> pattern;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (dense.isSplat())
      appendNumber(pattern, kind, dense.getSplatValue<Attribute>());
    else
      for (Attribute element : dense.getValues<Attribute>())
        appendNumber(pattern, kind, element);
  } else if (isa<IntegerAttr, FloatAttr>(value)) {
    appendNumber(pattern, kind, value);
  } else {
    return compiler.fail(op, "the interpreter supports only constants that are scalars or dense tensors");
  }
  compiler.defineConstant(op->getResult(0), std::move(pattern));
  return true;
}

bool compilePoison(Compiler &compiler, Operation *op) {
  Value result = op->getResult(0);
  compiler.defineConstant(result, std::vector<char>(bytesInFrame(*compiler.kindOf(result.getType()))));
  return true;
}

bool compileArange(Compiler &compiler, Operation *op) {
  auto arange = cast<ArangeOp>(op);
  std::vector<int32_t> integers;
  for (int64_t i = int32_t(arange.getStart()), end = int32_t(arange.getEnd()); i < end; ++i)
    integers.push_back(int32_t(i));
  const char *bytes = reinterpret_cast<const char *>(integers.data());
  compiler.defineConstant(arange.getResult(), std::vector<char>(bytes, bytes + integers.size() * sizeof(int32_t)));
  return true;
}

/// The result shape, and the source's stride for each dimension, in elements.
struct Walk {
  SmallVector<int64_t, 5> shape, strides;

  /// Merges dimensions that a single stride covers, so that the inner loop is as long as possible.
  void coalesce() {
    Walk merged;
    for (auto [size, stride] : llvm::zip(shape, strides)) {
      if (size == 1)
        continue;
      if (!merged.shape.empty() && merged.strides.back() == stride * size) {
        merged.shape.back() *= size;
        merged.strides.back() = stride;
      } else {
        merged.shape.push_back(size);
        merged.strides.push_back(stride);
      }
    }
    if (merged.shape.empty()) {
      merged.shape.push_back(1);
      merged.strides.push_back(0);
    }
    *this = std::move(merged);
  }
};

template <typename T> void moveRow(const T *src, T *__restrict dst, int64_t count, int64_t stride) {
  if (stride == 1)
    std::memcpy(dst, src, size_t(count) * sizeof(T));
  else if (stride == 0)
    std::fill_n(dst, count, *src);
  else
    for (int64_t i = 0; i < count; ++i)
      dst[i] = src[i * stride];
}

template <typename T> void moveAll(const Walk &walk, const T *src, T *dst, size_t axis = 0) {
  int64_t count = walk.shape[axis], stride = walk.strides[axis];
  if (axis + 1 == walk.shape.size())
    return moveRow(src, dst, count, stride);
  int64_t inner = 1;
  for (int64_t size : ArrayRef(walk.shape).drop_front(axis + 1))
    inner *= size;
  for (int64_t i = 0; i < count; ++i)
    moveAll(walk, src + i * stride, dst + i * inner, axis + 1);
}

template <typename T> bool move(Machine &machine, const Instruction &instruction) {
  moveAll(instruction.dataAs<Walk>(), machine.at<T>(instruction.in[0]), machine.at<T>(instruction.out[0]));
  return true;
}

/// Inputs: the source, and the offset of its buffer indices.
bool movePointers(Machine &machine, const Instruction &instruction) {
  move<int64_t>(machine, instruction);
  moveAll(instruction.dataAs<Walk>(), machine.at<int32_t>(instruction.in[1]),
          machine.at<int32_t>(pointerBuffers(instruction.out[0], instruction.count)));
  return true;
}

void emitMove(Compiler &compiler, Operation *op, Walk walk) {
  Slot src = compiler.slotOf(op->getOperand(0));
  Slot result = compiler.define(op->getResult(0));
  walk.coalesce();
  Execute execute = movePointers;
  if (src.kind != Kind::Pointer) {
    size_t bytes = bytesInFrame(src.kind);
    execute = forBytes(bytes, [](auto element) -> Execute { return move<decltype(element)>; });
  }
  compiler.emit(op, execute, {src.offset, pointerBuffers(src.offset, src.count)}, {result.offset}, result).data =
      std::make_shared<const Walk>(std::move(walk));
}

SmallVector<int64_t, 5> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 5> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

bool compileSplat(Compiler &compiler, Operation *op) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  emitMove(compiler, op, Walk{{shape.begin(), shape.end()}, SmallVector<int64_t, 5>(shape.size(), 0)});
  return true;
}

bool compileBroadcast(Compiler &compiler, Operation *op) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  ArrayRef<int64_t> to = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  Walk walk{{to.begin(), to.end()}, rowMajorStrides(from)};
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] != to[axis])
      walk.strides[axis] = 0;
  emitMove(compiler, op, std::move(walk));
  return true;
}

bool compileTrans(Compiler &compiler, Operation *op) {
  auto trans = cast<TransOp>(op);
  SmallVector<int64_t, 5> strides = rowMajorStrides(trans.getSrc().getType().getShape());
  ArrayRef<int64_t> shape = trans.getResult().getType().getShape();
  Walk walk{{shape.begin(), shape.end()}, {}};
  for (int32_t axis : trans.getOrder())
    walk.strides.push_back(strides[axis]);
  emitMove(compiler, op, std::move(walk));
  return true;
}

bool compileSameOrder(Compiler &compiler, Operation *op) {
  Slot src = compiler.slotOf(op->getOperand(0));
  compiler.emitCopy(op, src, compiler.define(op->getResult(0)));
  return true;
}

struct GatherData {
  int64_t outer, axis, from, inner; ///< sizes before, along (result, source) and after the axis
};

/// Inputs: source, indices.
template <typename T> bool gather(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<GatherData>();
  const T *source = machine.at<T>(instruction.in[0]);
  const int32_t *indices = machine.at<int32_t>(instruction.in[1]);
  T *result = machine.at<T>(instruction.out[0]);
  int64_t element = 0;
  for (int64_t outer = 0; outer < data.outer; ++outer)
    for (int64_t along = 0; along < data.axis; ++along)
      for (int64_t inner = 0; inner < data.inner; ++inner, ++element) {
        int32_t index = indices[element];
        if (index < 0 || index >= data.from)
          return machine.fail(instruction,
                              "gather index " + std::to_string(index) + " is out of range for an axis of size " +
                                  std::to_string(data.from),
                              element);
        result[element] = source[(outer * data.from + index) * data.inner + inner];
      }
  return true;
}

bool compileGather(Compiler &compiler, Operation *op) {
  auto gatherOp = cast<GatherOp>(op);
  ArrayRef<int64_t> from = gatherOp.getSrc().getType().getShape(), to = gatherOp.getIndices().getType().getShape();
  int64_t axis = int32_t(gatherOp.getAxis());
  GatherData data{llvm::product_of(to.take_front(axis)), to[axis], from[axis],
                  llvm::product_of(to.drop_front(axis + 1))};
  size_t bytes = bytesInFrame(compiler.slotOf(gatherOp.getSrc()).kind);
  Execute execute = forBytes(bytes, [](auto element) -> Execute { return gather<decltype(element)>; });
  compiler.emit(op, execute).data = std::make_shared<const GatherData>(data);
  return true;
}

struct ButterflyData {
  int64_t rows, inner, distance; ///< number of coordinates up to and including the axis, and the size after it
};

/// Input: source.
template <typename T> bool butterfly(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<ButterflyData>();
  const T *source = machine.at<T>(instruction.in[0]);
  T *result = machine.at<T>(instruction.out[0]);
  // The axis is a power of two, so in row-major order an XOR of its coordinate is an XOR of the whole row index.
  for (int64_t row = 0; row < data.rows; ++row)
    std::copy_n(source + (row ^ data.distance) * data.inner, data.inner, result + row * data.inner);
  return true;
}

bool compileButterfly(Compiler &compiler, Operation *op) {
  auto butterflyOp = cast<ButterflyOp>(op);
  ArrayRef<int64_t> shape = butterflyOp.getSrc().getType().getShape();
  size_t axis = butterflyOp.getAxis();
  ButterflyData data{llvm::product_of(shape.take_front(axis + 1)), llvm::product_of(shape.drop_front(axis + 1)),
                     butterflyOp.getDistance()};
  size_t bytes = bytesInFrame(compiler.slotOf(butterflyOp.getSrc()).kind);
  Execute execute = forBytes(bytes, [](auto element) -> Execute { return butterfly<decltype(element)>; });
  compiler.emit(op, execute).data = std::make_shared<const ButterflyData>(data);
  return true;
}

} // namespace

void registerShapeOps(HandlerTable &table) {
  table["arith.constant"] = compileConstant;
  table["ub.poison"] = compilePoison; // any value is valid; zero is reproducible
  table["tile.arange"] = compileArange;
  table["tile.splat"] = compileSplat;
  table["tile.broadcast"] = compileBroadcast;
  table["tile.trans"] = compileTrans;
  table["tile.gather"] = compileGather;
  table["tile.butterfly"] = compileButterfly;
  table["tile.reshape"] = compileSameOrder;
  table["tile.expand_dims"] = compileSameOrder;
}

} // namespace tile::interp
