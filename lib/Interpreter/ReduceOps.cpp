// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and scans. A reduction combines neighbors until one element is left, so elements stay in the order of the
// axis, which is the same in every run. (If the size is odd, the last element waits for the next step.)
//
//   axis of 8:  0 1 | 2 3 | 4 5 | 6 7  ->  0 1 | 2 3  ->  0 1  ->  result
//
// A scan goes along the axis from one end to the other.
//
// A combine region of element-wise operations is translated once with vectors in place of its scalars and runs on all
// pairs of a step together; any other region (control flow, values from outside) runs once for every pair.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tile::interp {
namespace {

struct Operand {
  size_t bytes = 0; ///< size of one element
  size_t source = 0, result = 0;
  size_t work = 0;                     ///< shrinking copy of the source
  size_t lefts = 0, rights = 0;        ///< all pairs of a step
  size_t left = 0, right = 0, sum = 0; ///< arguments and result of the region, for all pairs (vector) or one pair
};

struct ReduceData {
  SmallVector<Operand, 2> operands;
  Block combine;
  int64_t outer, axis, inner; ///< shape of the source; dimensions before and after the axis are merged
  bool isVector;
  bool isReverse = false; ///< for scans
};

/// Copies every second one of `2 * count` elements to an array.
template <typename T> void copyEveryOther(char *to, const char *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + size_t(i) * sizeof(T), from + size_t(2 * i) * sizeof(T), sizeof(T));
}

void copyEveryOther(char *to, const char *from, int64_t count, size_t bytes) {
  switch (bytes) {
  case 1:
    return copyEveryOther<uint8_t>(to, from, count);
  case 4:
    return copyEveryOther<uint32_t>(to, from, count);
  case 8:
    return copyEveryOther<uint64_t>(to, from, count);
  default:
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + size_t(i) * bytes, from + size_t(2 * i) * bytes, bytes);
  }
}

/// Splits the `half` pairs along the axis into arrays of first and second elements, for all other coordinates.
void gatherPairs(Machine &machine, const ReduceData &data, const Operand &operand, int64_t axis, int64_t half) {
  size_t element = size_t(data.inner) * operand.bytes, row = size_t(half) * element, step = size_t(axis) * element;
  for (int64_t outer = 0; outer < data.outer; ++outer) {
    const char *source = machine.at<char>(operand.work) + size_t(outer) * step;
    copyEveryOther(machine.at<char>(operand.lefts) + size_t(outer) * row, source, half, element);
    copyEveryOther(machine.at<char>(operand.rights) + size_t(outer) * row, source + element, half, element);
  }
}

/// Writes the combined pairs, followed by the last element of an odd axis, back as the new, shorter work array.
void scatterPairs(Machine &machine, const ReduceData &data, const Operand &operand, int64_t axis, int64_t half) {
  const char *sums = machine.at<char>(data.isVector ? operand.sum : operand.lefts);
  size_t element = size_t(data.inner) * operand.bytes, row = size_t(half) * element;
  for (int64_t outer = 0; outer < data.outer; ++outer) {
    char *work = machine.at<char>(operand.work);
    char *target = work + size_t(outer * (axis - half)) * element;
    std::memcpy(target, sums + size_t(outer) * row, row);
    if (axis % 2)
      std::memmove(target + row, work + size_t(outer * axis + axis - 1) * element, element);
  }
}

bool combinePairs(Machine &machine, const ReduceData &data, int64_t pairs) {
  if (data.isVector) {
    int64_t lanes = std::exchange(machine.lanes, pairs);
    bool succeeded = machine.runBlock(data.combine);
    machine.lanes = lanes;
    return succeeded;
  }
  for (int64_t pair = 0; pair < pairs; ++pair) {
    for (const Operand &operand : data.operands) {
      size_t offset = size_t(pair) * operand.bytes;
      std::memcpy(machine.at<char>(operand.left), machine.at<char>(operand.lefts) + offset, operand.bytes);
      std::memcpy(machine.at<char>(operand.right), machine.at<char>(operand.rights) + offset, operand.bytes);
    }
    if (!machine.runBlock(data.combine))
      return false;
    for (const Operand &operand : data.operands)
      std::memcpy(machine.at<char>(operand.lefts) + size_t(pair) * operand.bytes, machine.at<char>(operand.sum),
                  operand.bytes);
  }
  return true;
}

bool reduce(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<ReduceData>();
  int64_t others = data.outer * data.inner;
  for (const Operand &operand : data.operands)
    std::memcpy(machine.at<char>(operand.work), machine.at<char>(operand.source),
                size_t(data.axis * others) * operand.bytes);
  for (int64_t axis = data.axis; axis > 1; axis -= axis / 2) {
    int64_t half = axis / 2;
    for (const Operand &operand : data.operands)
      gatherPairs(machine, data, operand, axis, half);
    if (!combinePairs(machine, data, half * others))
      return false;
    for (const Operand &operand : data.operands)
      scatterPairs(machine, data, operand, axis, half);
  }
  for (const Operand &operand : data.operands)
    std::memcpy(machine.at<char>(operand.result), machine.at<char>(operand.work), size_t(others) * operand.bytes);
  return true;
}

bool isVectorizable(Region &region) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  return captured.empty() && llvm::all_of(region.front().without_terminator(), [](Operation &op) {
           return OpTrait::hasElementwiseMappableTraits(&op) || isa<arith::ConstantOp>(op);
         });
}

/// Translates the region, and stores the slots of its arguments and yielded values in the operands.
bool compileCombine(Compiler &compiler, mlir::Block &block, ReduceData &data, int64_t pairs) {
  size_t count = data.operands.size();
  SmallVector<Slot> slots;
  for (BlockArgument argument : block.getArguments()) {
    slots.push_back(compiler.scratch(*compiler.kindOf(argument.getType()), data.isVector ? pairs : 1));
    compiler.alias(argument, slots.back());
    Operand &operand = data.operands[argument.getArgNumber() % count];
    (argument.getArgNumber() < count ? operand.left : operand.right) = slots.back().offset;
  }
  if (data.isVector)
    compiler.vectorLanes = pairs;
  bool succeeded = compiler.compileBlock(block, data.combine, [&](Operation *yield) {
    for (auto [operand, value] : llvm::zip(data.operands, yield->getOperands()))
      operand.sum = compiler.slotOf(value).offset;
    return true;
  });
  compiler.vectorLanes.reset();
  for (Slot place : slots)
    compiler.release(place);
  if (data.isVector)
    for (Operand &operand : data.operands) {
      operand.lefts = operand.left;
      operand.rights = operand.right;
    }
  return succeeded;
}

/// Describes the source: its sizes before, along and after the axis, and how the region runs.
std::shared_ptr<ReduceData> describe(Value source, int64_t axis, Region &combine) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(source.getType()).getShape();
  auto data = std::make_shared<ReduceData>();
  data->outer = llvm::product_of(shape.take_front(axis));
  data->axis = shape[axis];
  data->inner = llvm::product_of(shape.drop_front(axis + 1));
  data->isVector = isVectorizable(combine);
  return data;
}

bool compileReduce(Compiler &compiler, Operation *operation) {
  auto op = cast<ReduceOp>(operation);
  auto data = describe(op.getSrcs().front(), int32_t(op.getAxis()), op.getCombine());
  int64_t pairs = std::max<int64_t>(1, data->outer * (data->axis / 2) * data->inner);
  SmallVector<Slot> slots;
  for (auto [source, result] : llvm::zip(op.getSrcs(), op.getResults())) {
    Slot slot = compiler.slotOf(source);
    Slot work = compiler.scratch(slot.kind, slot.count);
    slots.push_back(work);
    Operand &operand = data->operands.emplace_back();
    operand.bytes = bytesInFrame(slot.kind);
    operand.source = slot.offset;
    operand.result = compiler.define(result).offset;
    operand.work = work.offset;
  }
  if (!data->isVector)
    for (Operand &operand : data->operands)
      for (size_t *all : {&operand.lefts, &operand.rights}) {
        slots.push_back(compiler.scratch(compiler.slotOf(op.getSrcs()[&operand - data->operands.data()]).kind, pairs));
        *all = slots.back().offset;
      }
  if (!compileCombine(compiler, op.getCombine().front(), *data, pairs))
    return false;
  for (Slot place : slots)
    compiler.release(place);
  compiler.emit(op, reduce, {}, {}, Slot()).data = std::move(data);
  return true;
}

/// Copies the elements at one coordinate of the axis between the tensor at `tensor` and a dense array at `slice`.
void copySlice(Machine &machine, const ReduceData &data, const Operand &operand, int64_t place, bool fromTensor,
               size_t tensor, size_t slice) {
  size_t row = size_t(data.inner) * operand.bytes;
  for (int64_t outer = 0; outer < data.outer; ++outer) {
    char *inTensor = machine.at<char>(tensor) + size_t(outer * data.axis + place) * row;
    char *inSlice = machine.at<char>(slice) + size_t(outer) * row;
    std::memcpy(fromTensor ? inSlice : inTensor, fromTensor ? inTensor : inSlice, row);
  }
}

bool scan(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<ReduceData>();
  int64_t others = data.outer * data.inner;
  for (int64_t step = 0; step < data.axis; ++step) {
    int64_t place = data.isReverse ? data.axis - 1 - step : step;
    for (const Operand &operand : data.operands)
      copySlice(machine, data, operand, place, /*fromTensor=*/true, operand.source,
                step == 0 ? operand.lefts : operand.rights);
    if (step > 0 && !combinePairs(machine, data, others))
      return false;
    for (const Operand &operand : data.operands) {
      if (step > 0 && data.isVector)
        std::memcpy(machine.at<char>(operand.lefts), machine.at<char>(operand.sum), size_t(others) * operand.bytes);
      copySlice(machine, data, operand, place, /*fromTensor=*/false, operand.result, operand.lefts);
    }
  }
  return true;
}

bool compileScan(Compiler &compiler, Operation *operation) {
  auto op = cast<ScanOp>(operation);
  auto data = describe(op.getSrcs().front(), int32_t(op.getAxis()), op.getCombine());
  data->isReverse = op.getReverse();
  int64_t pairs = data->outer * data->inner;
  SmallVector<Slot> slots;
  for (auto [source, result] : llvm::zip(op.getSrcs(), op.getResults())) {
    Slot slot = compiler.slotOf(source);
    Operand &operand = data->operands.emplace_back();
    operand.bytes = bytesInFrame(slot.kind);
    operand.source = slot.offset;
    operand.result = compiler.define(result).offset;
    if (data->isVector)
      continue;
    for (size_t *all : {&operand.lefts, &operand.rights}) {
      slots.push_back(compiler.scratch(slot.kind, pairs));
      *all = slots.back().offset;
    }
  }
  if (!compileCombine(compiler, op.getCombine().front(), *data, pairs))
    return false;
  for (Slot place : slots)
    compiler.release(place);
  compiler.emit(op, scan, {}, {}, Slot()).data = std::move(data);
  return true;
}

/// Inputs: integers, and an optional mask.
bool histogram(Machine &machine, const Instruction &instruction) {
  auto op = cast<HistogramOp>(instruction.op);
  int64_t elements = op.getSrc().getType().getNumElements(), size = op.getResult().getType().getNumElements();
  const int32_t *source = machine.at<int32_t>(instruction.in[0]);
  const uint8_t *mask = op.getMask() ? machine.at<uint8_t>(instruction.in[1]) : nullptr;
  int32_t *result = machine.at<int32_t>(instruction.out[0]);
  std::fill_n(result, size, 0);
  for (int64_t i = 0; i < elements; ++i)
    if ((!mask || mask[i]) && source[i] >= 0 && source[i] < size)
      ++result[source[i]];
  return true;
}

} // namespace

void registerReduceOps(HandlerTable &table) {
  table["tile.reduce"] = compileReduce;
  table["tile.scan"] = compileScan;
  table["tile.histogram"] = [](Compiler &compiler, Operation *op) {
    compiler.emit(op, histogram);
    return true;
  };
}

} // namespace tile::interp
