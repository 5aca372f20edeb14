// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: reductions. sum, max, ... are tl.reduce with a known combine function, emitted natively.

#include "Frontend/Emit/EmitCombine.h"

using namespace mlir;

namespace tile::frontend {

namespace {

struct Reduction {
  std::optional<int64_t> axis; // nullopt: all elements
  bool keepDims = false;
  bool isTree = false; ///< combine neighbors first, independent of the layout; otherwise any order is allowed
};

std::optional<Reduction> parseReduction(BuiltinCall &call, size_t axisIndex, size_t keepIndex, size_t rank) {
  Reduction reduction;
  if (!call.isNone(axisIndex)) {
    reduction.axis = call.axis(axisIndex, rank);
    if (!reduction.axis)
      return std::nullopt;
  }
  std::optional<bool> keep = call.flag(keepIndex);
  if (!keep)
    return std::nullopt;
  reduction.keepDims = *keep;
  return reduction;
}

/// Returns whether the argument requests tl.ReductionOrdering.INNER_TREE; nullopt after an error.
std::optional<bool> parseOrdering(BuiltinCall &call, size_t index) {
  std::optional<std::string> ordering = call.text(index);
  if (!ordering)
    return std::nullopt;
  if (!ordering->empty() && *ordering != "unordered" && *ordering != "inner_tree") {
    call.sema.error(Diag::reduction_ordering, call.rangeOf(index), {*ordering});
    return std::nullopt;
  }
  return *ordering == "inner_tree";
}

/// Emits one tile.reduce along `axis`, if that dimension has several elements; empty after an error.
std::vector<SymValue> reduceAxis(BuiltinCall &call, const std::vector<SymValue> &sources, int64_t axis,
                                 Combine combine) {
  Emitter &sema = call.sema;
  SmallVector<int64_t> shape(sources[0].shape());
  shape.erase(shape.begin() + axis);
  SmallVector<mlir::Value> operands;
  SmallVector<Type> results;
  for (const SymValue &source : sources) {
    operands.push_back(source.value);
    results.push_back(sema.mlirType(source.type, shape));
  }
  auto op = ReduceOp::create(sema.builder, sema.location(call.range), results, operands, static_cast<uint32_t>(axis));
  if (!emitCombineRegion(call, op.getCombine(), sources, combine)) {
    op.erase();
    return {};
  }
  std::vector<SymValue> out;
  bool isOfOne = sources[0].shape()[axis] == 1 && !shape.empty();
  for (auto [source, result] : llvm::zip(sources, op.getResults()))
    out.push_back(isOfOne ? sema.reshape(source, shape, call.range) : SymValue::makeTensor(result, source.type));
  if (isOfOne)
    op.erase();
  return out;
}

/// Combines elements 0 and 1, 2 and 3, ... along `axis`, which halves its size. There is only one order in which a pair
/// can be reduced.
std::vector<SymValue> reducePairs(BuiltinCall &call, std::vector<SymValue> sources, int64_t axis, Combine combine) {
  SmallVector<int64_t> shape(sources[0].shape());
  shape[axis] /= 2;
  shape.insert(shape.begin() + axis + 1, 2);
  for (SymValue &source : sources)
    source = call.sema.reshape(source, shape, call.range);
  return reduceAxis(call, sources, axis + 1, combine);
}

/// Reduces tensors of one shape together. Returns an empty result after an error.
std::vector<SymValue> emitReduction(BuiltinCall &call, std::vector<SymValue> sources, const Reduction &reduction,
                                    Combine combine) {
  Emitter &sema = call.sema;
  size_t rank = sources[0].shape().size();
  int64_t axis = reduction.axis.value_or(0);
  if (!reduction.axis)
    for (SymValue &source : sources)
      source = sema.reshape(source, {ShapedType::getNumElements(source.shape())}, call.range);
  while (reduction.isTree && sources[0].shape()[axis] > 2) {
    sources = reducePairs(call, std::move(sources), axis, combine);
    if (sources.empty())
      return {};
  }
  std::vector<SymValue> results = reduceAxis(call, sources, axis, combine);
  for (SymValue &result : results) {
    if (reduction.keepDims && reduction.axis)
      result = sema.expandDims(result, axis, call.range);
    else if (reduction.keepDims)
      result = sema.broadcastTo(result, SmallVector<int64_t>(rank, 1), call.range);
  }
  return results;
}

SymValue reduceOne(BuiltinCall &call, const SymValue &source, const Reduction &reduction,
                   llvm::function_ref<SymValue(const SymValue &, const SymValue &)> combine) {
  std::vector<SymValue> result = emitReduction(call, {source}, reduction, [&](const auto &left, const auto &right) {
    return std::vector{combine(left[0], right[0])};
  });
  return result.empty() ? SymValue() : result[0];
}

bool rejectPointers(BuiltinCall &call, const SymValue &value) {
  if (!value.type.isPointer && !value.type.isFp8())
    return false;
  call.sema.error(Diag::not_a_number, call.rangeOf(0), {describe(value)});
  return true;
}

/// Selects the more extreme of two pairs of value and index. Pairs are combined in any order, so the choice must be a
/// total order: any number wins against NaN. Between equal values (or two NaNs), the smaller index wins if ties matter,
/// otherwise the right pair wins.
std::vector<SymValue> emitMoreExtreme(BuiltinCall &call, const std::vector<SymValue> &left,
                                      const std::vector<SymValue> &right, bool isMaximum, bool tieBreakLeft) {
  Emitter &sema = call.sema;
  // The result is a number if at least one of the two values is a number.
  SymValue value = sema.minimumOrMaximum(isMaximum, left[0], right[0], /*propagateNan=*/false, call.range);
  SymValue isLeft = sema.compare(CompareOp::Eq, left[0], value, call.range);
  SymValue isRight = sema.compare(CompareOp::Eq, right[0], value, call.range);
  SymValue onlyOne = sema.compare(CompareOp::NotEq, isLeft, isRight, call.range);
  SymValue tied =
      tieBreakLeft ? sema.minimumOrMaximum(/*isMaximum=*/false, left[1], right[1], /*propagateNan=*/false, call.range)
                   : right[1];
  SymValue index = sema.select(isLeft, left[1], right[1], call.range);
  return {value, sema.select(onlyOne, index, tied, call.range)};
}

/// Emits a reduction to the extreme value and its index along the axis.
SymValue emitWithIndex(BuiltinCall &call, SymValue value, const Reduction &reduction, bool isMaximum, bool tieBreakLeft,
                       bool wantsValue) {
  Emitter &sema = call.sema;
  Reduction inner = reduction;
  SmallVector<int64_t> original(value.shape());
  if (!reduction.axis) {
    value = sema.reshape(value, {ShapedType::getNumElements(value.shape())}, call.range);
    inner.axis = 0;
    inner.keepDims = false;
  }
  SmallVector<int64_t> shape(value.shape());
  SymValue index = sema.arange(0, shape[*inner.axis], call.range);
  for (int64_t dimension = 0; dimension < static_cast<int64_t>(shape.size()); ++dimension)
    if (dimension != *inner.axis)
      index = sema.expandDims(index, dimension < *inner.axis ? 0 : dimension, call.range);
  index = sema.broadcastTo(index, shape, call.range);
  std::vector<SymValue> result = emitReduction(call, {value, index}, inner, [&](const auto &left, const auto &right) {
    return emitMoreExtreme(call, left, right, isMaximum, tieBreakLeft);
  });
  if (result.empty())
    return {};
  if (!reduction.axis && reduction.keepDims)
    for (SymValue &part : result)
      part = sema.broadcastTo(part, SmallVector<int64_t>(original.size(), 1), call.range);
  return wantsValue ? SymValue::makeTuple({result[0], result[1]}) : result[1];
}

SymValue emitReducedExtremum(Emitter &sema, BuiltinCall &call, bool isMaximum) {
  SymValue value = widenBf16(call, call.block(0));
  if (value.isError() || rejectPointers(call, value))
    return {};
  std::optional<Reduction> reduction = parseReduction(call, 1, 4, value.shape().size());
  std::optional<bool> wantsIndex = call.flag(2), tieBreakLeft = call.flag(3);
  if (!reduction || !wantsIndex || !tieBreakLeft)
    return {};
  if (*wantsIndex)
    return emitWithIndex(call, value, *reduction, isMaximum, *tieBreakLeft, /*wantsValue=*/true);
  if (value.type.bits() < 32)
    value = sema.cast(value, value.type.isFloat() ? Scalar::Float32 : Scalar::Int32, call.range);
  return reduceOne(call, value, *reduction, [&](const SymValue &left, const SymValue &right) {
    return sema.minimumOrMaximum(isMaximum, left, right, /*propagateNan=*/false, call.range);
  });
}

SymValue emitArg(BuiltinCall &call, bool isMaximum) {
  SymValue value = widenBf16(call, call.block(0));
  if (value.isError() || rejectPointers(call, value))
    return {};
  std::optional<Reduction> reduction = parseReduction(call, 1, 3, value.shape().size());
  std::optional<bool> tieBreakLeft = call.flag(2);
  if (!reduction || !tieBreakLeft)
    return {};
  return emitWithIndex(call, value, *reduction, isMaximum, *tieBreakLeft, /*wantsValue=*/false);
}

SymValue emitBitReduction(Emitter &sema, BuiltinCall &call, BinaryOp op) {
  SymValue value = call.block(0);
  if (value.isError())
    return {};
  if (!value.type.isInt())
    return sema.error(Diag::integer_operands, call.range, {std::string(call.info.name), "integers", describe(value)});
  std::optional<Reduction> reduction = parseReduction(call, 1, 2, value.shape().size());
  if (!reduction)
    return {};
  return reduceOne(call, value, *reduction, [&](const SymValue &left, const SymValue &right) {
    return sema.binary(op, left, right, call.range);
  });
}

} // namespace

SymValue emitSum(Emitter &sema, BuiltinCall &call) {
  SymValue value = widenBf16(call, call.block(0));
  if (value.isError() || rejectPointers(call, value))
    return {};
  std::optional<Reduction> reduction = parseReduction(call, 1, 2, value.shape().size());
  std::optional<bool> isTree = parseOrdering(call, 4);
  if (!reduction || !isTree)
    return {};
  reduction->isTree = *isTree;
  value = widenForSum(call, value, 3);
  if (value.isError())
    return {};
  return reduceOne(call, value, *reduction, [&](const SymValue &left, const SymValue &right) {
    return sema.binary(BinaryOp::Add, left, right, call.range);
  });
}

SymValue emitMax(Emitter &sema, BuiltinCall &call) {
  return emitReducedExtremum(sema, call, true);
}
SymValue emitMin(Emitter &sema, BuiltinCall &call) {
  return emitReducedExtremum(sema, call, false);
}
SymValue emitArgmax(Emitter &, BuiltinCall &call) {
  return emitArg(call, true);
}
SymValue emitArgmin(Emitter &, BuiltinCall &call) {
  return emitArg(call, false);
}
SymValue emitXorSum(Emitter &sema, BuiltinCall &call) {
  return emitBitReduction(sema, call, BinaryOp::BitXor);
}
SymValue emitOrReduce(Emitter &sema, BuiltinCall &call) {
  return emitBitReduction(sema, call, BinaryOp::BitOr);
}

/// Emits tl.reduce(x or (x, y, ...), axis, combine_fn).
SymValue emitReduce(Emitter &, BuiltinCall &call) {
  std::vector<SymValue> sources = combineSources(call, 0, 2);
  if (sources.empty())
    return {};
  std::optional<Reduction> reduction = parseReduction(call, 1, 3, sources[0].shape().size());
  std::optional<bool> isTree = parseOrdering(call, 4);
  if (!reduction || !isTree)
    return {};
  reduction->isTree = *isTree;
  std::vector<SymValue> result = emitReduction(call, sources, *reduction, [&](const auto &left, const auto &right) {
    return callCombine(call, 2, left, right);
  });
  if (result.empty())
    return {};
  return call[0].isTuple() ? SymValue::makeTuple(std::move(result)) : result[0];
}

} // namespace tile::frontend
