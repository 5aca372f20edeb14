// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins that move elements: join, split, cat, interleave, gather, flip, sort, topk, histogram.
//
// Only gather, butterfly and histogram are operations of the dialect. join is emitted as a selection between its
// operands by the last coordinate, and split as a reduction in which the other half is masked. sort is a bitonic sort,
// which exchanges elements whose indices differ in one bit, by butterflies, or by gathers in a loop over distances.

#include "Frontend/Emit/Builtins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns the coordinate along 'axis' of each element of a block of this shape, int32.
SymValue coordinates(BuiltinCall &call, ArrayRef<int64_t> shape, int64_t axis) {
  SymValue index = call.sema.arange(0, shape[axis], call.range);
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (dim != axis)
      index = call.sema.expandDims(index, dim, call.range);
  return call.sema.broadcastTo(index, shape, call.range);
}

SymValue gather(BuiltinCall &call, const SymValue &source, const SymValue &indices, int64_t axis) {
  Emitter &sema = call.sema;
  Type type = sema.mlirType(source.type, indices.shape());
  mlir::Value result = GatherOp::create(sema.builder, sema.location(call.range), type, source.value, indices.value,
                                        static_cast<uint32_t>(axis));
  return SymValue::makeTensor(result, source.type);
}

/// Returns each element's partner: the element whose coordinate along 'axis' is this element's XOR 'distance'.
SymValue butterfly(BuiltinCall &call, const SymValue &source, int64_t axis, int64_t distance) {
  mlir::Value result = ButterflyOp::create(call.sema.builder, call.sema.location(call.range), source.value,
                                           static_cast<uint32_t>(axis), static_cast<uint32_t>(distance));
  return SymValue::makeTensor(result, source.type);
}

/// Returns a numeric block, or an error value after a message.
SymValue numericOperand(BuiltinCall &call, size_t index) {
  SymValue value = call.block(index);
  if (value.isError() || !value.type.isPointer)
    return value;
  return call.sema.error(Diag::not_a_number, call.rangeOf(index), {describe(value)});
}

/// Returns the dimension in argument 'index'; the last one by default.
std::optional<int64_t> axisOrLast(BuiltinCall &call, size_t index, size_t rank) {
  return call.isNone(index) ? std::optional(static_cast<int64_t>(rank) - 1) : call.axis(index, rank);
}

/// Adds a last dimension of size 2, with `left` at coordinate 0 and `right` at coordinate 1.
SymValue join(BuiltinCall &call, SymValue left, SymValue right) {
  Emitter &sema = call.sema;
  if (!sema.unify(left, right, /*isDivision=*/false, call.range))
    return {};
  SmallVector<int64_t> shape(left.shape());
  auto axis = static_cast<int64_t>(shape.size());
  shape.push_back(2);
  left = sema.broadcastTo(sema.expandDims(left, axis, call.range), shape, call.range);
  right = sema.broadcastTo(sema.expandDims(right, axis, call.range), shape, call.range);
  SymValue isLeft = sema.compare(CompareOp::Eq, coordinates(call, shape, axis), constant(0), call.range);
  return sema.select(isLeft, left, right, call.range);
}

/// Reduces one dimension.
SymValue reduce(BuiltinCall &call, const SymValue &source, int64_t axis,
                llvm::function_ref<SymValue(SymValue, SymValue)> combine) {
  Emitter &sema = call.sema;
  SmallVector<int64_t> shape(source.shape());
  shape.erase(shape.begin() + axis);
  Location loc = sema.location(call.range);
  auto op =
      ReduceOp::create(sema.builder, loc, sema.mlirType(source.type, shape), source.value, static_cast<uint32_t>(axis));
  OpBuilder::InsertionGuard guard(sema.builder);
  Type element = sema.mlirType(source.type);
  mlir::Block *block = sema.builder.createBlock(&op.getCombine(), {}, {element, element}, {loc, loc});
  YieldOp::create(sema.builder, loc,
                  combine(SymValue::makeTensor(block->getArgument(0), source.type),
                          SymValue::makeTensor(block->getArgument(1), source.type))
                      .value);
  return SymValue::makeTensor(op.getResult(0), source.type);
}

/// Returns the elements at one coordinate of the last dimension. Sets all other elements to 0 and reduces by XOR.
SymValue selectLast(BuiltinCall &call, const SymValue &source, int64_t place) {
  Emitter &sema = call.sema;
  auto axis = static_cast<int64_t>(source.shape().size()) - 1;
  DType bits = source.type.isInt() ? source.type : *dtypeByName("int" + std::to_string(source.type.bits()));
  SymValue value = sema.bitcast(source, bits, call.range);
  SymValue isThere = sema.compare(CompareOp::Eq, coordinates(call, source.shape(), axis), constant(place), call.range);
  SymValue zero = sema.makeSplat(Value(Int128(0)), bits, source.shape(), call.range);
  SymValue only = sema.select(isThere, value, zero, call.range);
  SymValue left = reduce(call, only, axis, [&](const SymValue &a, const SymValue &b) {
    return sema.binary(BinaryOp::BitXor, a, b, call.range);
  });
  return sema.bitcast(left, source.type, call.range);
}

int64_t log2(int64_t size) {
  return llvm::Log2_64(static_cast<uint64_t>(size));
}

/// A bitonic sort along a dimension, of all elements or within groups: log2(n) stages, where stage s has s steps. Short
/// sorts are unrolled with constant distances. The steps of large blocks are loops, because unrolled they would take
/// ptxas too long to compile and exceed the instruction cache.
class BitonicSort {
public:
  BitonicSort(BuiltinCall &call, llvm::ArrayRef<int64_t> shape, int64_t axis)
      : BitonicSort(call, shape, axis, log2(shape[axis])) {}

  /// Sorts groups of 2^stages elements.
  BitonicSort(BuiltinCall &call, llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t stages)
      : call(call), sema(call.sema), axis(axis), place(coordinates(call, shape, axis)), stages(stages) {
    // ptxas takes about a second for this many exchanges per thread.
    constexpr int64_t mostUnrolled = 1536;
    int64_t steps = stages * (stages + 1) / 2;
    isUnrolled = steps * ShapedType::getNumElements(shape) <= mostUnrolled * sema.counter.threads;
  }

  SymValue sort(const SymValue &x, bool descending) { return sort(x, SymValue::makeConstant(descending)); }

  SymValue sort(const SymValue &x, const SymValue &descends) {
    if (stages == 0)
      return x;
    // In all stages except the last, groups alternate between ascending and descending order.
    SymValue blocks = repeat(constant(stages - 1), x, [&](SymValue step, SymValue block) {
      SymValue stage = compute(BinaryOp::Add, step, constant(1));
      return merge(block, stage, hasBits(powerOfTwo(stage)));
    });
    return mergeLast(blocks, descends);
  }

  /// Runs the last stage.
  SymValue mergeLast(const SymValue &x, const SymValue &descends) {
    return stages == 0 ? x : merge(x, constant(stages), descends);
  }

  /// Returns whether the bits of 'mask' are set in the coordinate of each element.
  SymValue hasBits(const SymValue &mask) {
    return sema.compare(CompareOp::NotEq, sema.binary(BinaryOp::BitAnd, place, mask, call.range), constant(0),
                        call.range);
  }

private:
  /// Emits a loop: applies 'step' to each counter from 0 to 'end' - 1 and the block that the previous iteration
  /// returned.
  SymValue repeat(const SymValue &end, const SymValue &start, llvm::function_ref<SymValue(SymValue, SymValue)> step) {
    if (isUnrolled) {
      SymValue block = start;
      for (Int128 index = 0; index < *asInteger(end.constant); ++index)
        block = step(SymValue::makeConstant(index), block);
      return block;
    }
    auto number = [&](const SymValue &value) { return sema.toTensor(value, call.range).value; };
    Location loc = sema.location(call.range);
    auto loop =
        scf::ForOp::create(sema.builder, loc, number(constant(0)), number(end), number(constant(1)), start.value);
    OpBuilder::InsertionGuard guard(sema.builder);
    sema.builder.setInsertionPointToStart(loop.getBody());
    SymValue next = step(SymValue::makeTensor(loop.getInductionVar(), Scalar::Int32),
                         SymValue::makeTensor(loop.getRegionIterArg(0), start.type));
    scf::YieldOp::create(sema.builder, loc, next.value);
    return SymValue::makeTensor(loop.getResult(0), start.type);
  }

  /// Emits an operation, or folds it if both operands are constants.
  SymValue compute(BinaryOp op, const SymValue &left, const SymValue &right) {
    if (left.isConstant() && right.isConstant())
      return SymValue::makeConstant(*evaluate(op, left.constant, right.constant).value);
    return sema.binary(op, left, right, call.range);
  }

  SymValue powerOfTwo(const SymValue &exponent) { return compute(BinaryOp::LShift, constant(1), exponent); }

  /// Exchanges elements whose indices differ by 'distance', a power of two, if they are in the wrong order. 'descends'
  /// is an int1 block, or one flag for all elements.
  SymValue exchange(const SymValue &x, const SymValue &distance, const SymValue &descends) {
    SymValue partner = distance.isConstant()
                           ? butterfly(call, x, axis, static_cast<int64_t>(*asInteger(distance.constant)))
                           : gather(call, x, sema.binary(BinaryOp::BitXor, place, distance, call.range), axis);
    SymValue isUpper = hasBits(distance);
    SymValue lower = sema.select(isUpper, partner, x, call.range), upper = sema.select(isUpper, x, partner, call.range);
    SymValue isGreater = sema.compare(CompareOp::Gt, lower, upper, call.range);
    SymValue swaps = sema.binary(BinaryOp::BitXor, isGreater, descends, call.range);
    return sema.select(swaps, partner, x, call.range);
  }

  /// Runs one stage: merges pairs of sorted groups of 2^(stage - 1) elements each.
  SymValue merge(const SymValue &x, const SymValue &stage, const SymValue &descends) {
    SymValue half = powerOfTwo(compute(BinaryOp::Sub, stage, constant(1)));
    return repeat(stage, x, [&](SymValue step, SymValue block) {
      return exchange(block, compute(BinaryOp::RShift, half, step), descends);
    });
  }

  BuiltinCall &call;
  Emitter &sema;
  int64_t axis;
  SymValue place; ///< coordinate of each element along the dimension
  int64_t stages;
  bool isUnrolled;
};

/// Reports an error if a block is too large to be sorted. With 512 elements per thread, nearly all of which are
/// spilled, ptxas takes half a minute; with 1024 it takes several minutes.
bool checkSortedElements(BuiltinCall &call, const SymValue &x) {
  constexpr int64_t mostPerThread = 512, mostThreads = 1024;
  const int64_t elements = ShapedType::getNumElements(x.shape()), threads = call.sema.counter.threads;
  if (elements <= mostPerThread * threads)
    return true;
  call.sema.error(Diag::sort_elements, call.rangeOf(0),
                  {std::to_string(elements), std::to_string(elements / threads), std::to_string(threads),
                   std::to_string(mostPerThread),
                   elements <= mostPerThread * mostThreads ? "more warps" : "a smaller block"});
  return false;
}

SymValue sorted(BuiltinCall &call, const SymValue &x, int64_t axis, bool descending) {
  if (x.type.isFp8())
    return call.sema.error(Diag::fp8_arithmetic, call.rangeOf(0), {toString(x.type)});
  if (!checkSortedElements(call, x))
    return {};
  return BitonicSort(call, x.shape(), axis).sort(x, descending);
}

/// Returns the k largest elements in descending order. If one group of k elements is in ascending order and another in
/// descending order, their pairwise maxima are the k largest of both groups and form a bitonic sequence again.
SymValue largest(BuiltinCall &call, SymValue x, int64_t axis, int64_t k) {
  Emitter &sema = call.sema;
  if (x.type.isFp8())
    return sema.error(Diag::fp8_arithmetic, call.rangeOf(0), {toString(x.type)});
  if (!checkSortedElements(call, x))
    return {};
  auto order = [&](bool isSorted) {
    int64_t size = x.shape()[axis];
    BitonicSort blocks(call, x.shape(), axis, log2(k));
    SymValue descends = size == k ? SymValue::makeConstant(true) : blocks.hasBits(constant(size / 2));
    return isSorted ? blocks.mergeLast(x, descends) : blocks.sort(x, descends);
  };
  x = order(/*isSorted=*/false);
  while (x.shape()[axis] > k) {
    SmallVector<int64_t> halves(x.shape());
    halves[axis] /= 2;
    halves.insert(halves.begin() + axis, 2);
    x = reduce(call, sema.reshape(x, halves, call.range), axis, [&](const SymValue &a, const SymValue &b) {
      return sema.minimumOrMaximum(/*isMaximum=*/true, a, b, /*propagateNan=*/false, call.range);
    });
    x = order(/*isSorted=*/true);
  }
  return x;
}

} // namespace

SymValue emitJoin(Emitter &, BuiltinCall &call) {
  SymValue left = call.tensor(0), right = call.tensor(1);
  return left.isError() || right.isError() ? SymValue() : join(call, left, right);
}

SymValue emitSplit(Emitter &sema, BuiltinCall &call) {
  SymValue value = numericOperand(call, 0);
  if (value.isError())
    return {};
  if (value.shape().back() != 2)
    return sema.error(Diag::split_size, call.rangeOf(0), {describe(value)});
  return SymValue::makeTuple({selectLast(call, value, 0), selectLast(call, value, 1)});
}

SymValue emitInterleave(Emitter &sema, BuiltinCall &call) {
  SymValue left = call.tensor(0), right = call.tensor(1);
  SymValue joined = left.isError() || right.isError() ? SymValue() : join(call, left, right);
  if (joined.isError())
    return {};
  SmallVector<int64_t> shape(joined.shape().drop_back());
  if (shape.empty())
    return joined;
  shape.back() *= 2;
  return sema.reshape(joined, shape, call.range);
}

/// Concatenates two blocks along a dimension: moves the new dimension of join before it and merges both.
SymValue emitCat(Emitter &sema, BuiltinCall &call) {
  SymValue left = numericOperand(call, 0), right = numericOperand(call, 1);
  if (left.isError() || right.isError())
    return {};
  if (left.shape() != right.shape() || left.type != right.type)
    return sema.error(Diag::operand_types, call.range, {describe(left), describe(right)});
  auto rank = static_cast<int32_t>(left.shape().size());
  std::optional<int64_t> axis = call.axis(3, rank);
  if (!axis)
    return {};
  SymValue joined = join(call, left, right);
  SmallVector<int32_t> order = llvm::to_vector(llvm::seq<int32_t>(0, rank));
  order.insert(order.begin() + *axis, rank);
  joined = sema.permute(joined, order, call.range);
  SmallVector<int64_t> shape(left.shape());
  shape[*axis] *= 2;
  return sema.reshape(joined, shape, call.range);
}

SymValue emitGather(Emitter &sema, BuiltinCall &call) {
  SymValue source = numericOperand(call, 0), indices = numericOperand(call, 1);
  if (source.isError() || indices.isError())
    return {};
  size_t rank = source.shape().size();
  std::optional<int64_t> axis = call.axis(2, rank);
  if (!axis)
    return {};
  bool fits = indices.type.isInt() && indices.shape().size() == rank;
  for (size_t dim = 0; fits && dim < rank; ++dim)
    fits = static_cast<int64_t>(dim) == *axis || indices.shape()[dim] == source.shape()[dim];
  if (!fits)
    return sema.error(Diag::gather_indices, call.rangeOf(1), {describe(indices), describe(source)});
  return gather(call, source, sema.cast(indices, Scalar::Int32, call.range), *axis);
}

SymValue emitFlip(Emitter &sema, BuiltinCall &call) {
  SymValue value = numericOperand(call, 0);
  std::optional<int64_t> axis = value.isError() ? std::nullopt : axisOrLast(call, 1, value.shape().size());
  if (!axis)
    return {};
  // The coordinates range from 0 to a power of two less 1, so subtracting them from the last one is an XOR.
  int64_t last = value.shape()[*axis] - 1;
  return last == 0 ? value : butterfly(call, value, *axis, last);
}

SymValue emitSort(Emitter &, BuiltinCall &call) {
  SymValue value = numericOperand(call, 0);
  std::optional<bool> descending = call.flag(2);
  std::optional<int64_t> axis = value.isError() ? std::nullopt : axisOrLast(call, 1, value.shape().size());
  return axis && descending ? sorted(call, value, *axis, *descending) : SymValue();
}

/// Returns the k largest elements along a dimension, in descending order.
SymValue emitTopk(Emitter &sema, BuiltinCall &call) {
  SymValue value = numericOperand(call, 0);
  std::optional<int64_t> k = call.integer(1);
  std::optional<int64_t> axis = value.isError() ? std::nullopt : axisOrLast(call, 2, value.shape().size());
  if (!axis || !k)
    return {};
  int64_t size = value.shape()[*axis];
  if (*k < 1 || *k > size || !llvm::isPowerOf2_64(static_cast<uint64_t>(*k)))
    return sema.error(Diag::topk_count, call.rangeOf(1), {std::to_string(*k), std::to_string(size)});
  return largest(call, value, *axis, *k);
}

SymValue emitBitonicMerge(Emitter &, BuiltinCall &call) {
  SymValue value = numericOperand(call, 0);
  std::optional<bool> descending = call.flag(2);
  std::optional<int64_t> axis = value.isError() ? std::nullopt : axisOrLast(call, 1, value.shape().size());
  if (!axis || !descending)
    return {};
  if (!checkSortedElements(call, value))
    return {};
  return BitonicSort(call, value.shape(), *axis).mergeLast(value, SymValue::makeConstant(*descending));
}

/// Emits histogram: counts the values 0 to num_bins - 1 and ignores all other values.
SymValue emitHistogram(Emitter &sema, BuiltinCall &call) {
  SymValue value = numericOperand(call, 0);
  std::optional<int64_t> bins = call.integer(1);
  if (value.isError() || !bins)
    return {};
  if (value.shape().size() != 1 || !value.type.isInt())
    return sema.error(Diag::histogram_input, call.rangeOf(0), {describe(value)});
  if (sema.arange(0, *bins, call.rangeOf(1)).isError()) // checks that the size is valid for a block
    return {};
  SymValue mask;
  if (!call.isNone(2)) {
    mask = sema.cast(call.tensor(2), Scalar::Int1, call.rangeOf(2));
    if (!mask.isError())
      mask = sema.broadcastTo(mask, value.shape(), call.rangeOf(2));
    if (mask.isError())
      return {};
  }
  if (value.type.bits() == 64) {
    // A value beyond 32 bits has no bin.
    SymValue isBin = sema.compare(CompareOp::Lt, value, constant(*bins), call.range);
    SymValue isPositive = sema.compare(CompareOp::GtE, value, constant(0), call.range);
    isBin = sema.logical(BoolOperator::And, isBin, isPositive, call.range);
    mask = mask.isTensor() ? sema.logical(BoolOperator::And, mask, isBin, call.range) : isBin;
  }
  value = sema.cast(value, Scalar::Int32, call.range);
  auto op = HistogramOp::create(sema.builder, sema.location(call.range), sema.mlirType(Scalar::Int32, {*bins}),
                                value.value, mask.isTensor() ? mask.value : mlir::Value());
  return SymValue::makeTensor(op.getResult(), Scalar::Int32);
}

/// Returns the only element of a block.
SymValue emitItem(Emitter &sema, BuiltinCall &call) {
  SymValue value = call.tensor(0);
  if (value.isError() || value.isScalar())
    return value;
  if (ShapedType::getNumElements(value.shape()) != 1)
    return sema.error(Diag::reshape_elements, call.range,
                      {describe(value), std::to_string(ShapedType::getNumElements(value.shape())), "a scalar", "1"});
  return sema.toScalar(value, call.range);
}

} // namespace tile::frontend
