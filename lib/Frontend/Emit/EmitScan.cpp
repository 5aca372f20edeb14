// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: scans. cumsum and cumprod are associative_scan with a known combine function.

#include "Frontend/Emit/EmitCombine.h"

using namespace mlir;

namespace tile::frontend {

static std::vector<SymValue> emitScan(BuiltinCall &call, const std::vector<SymValue> &sources, size_t axisIndex,
                                      size_t reverseIndex, Combine combine) {
  Emitter &sema = call.sema;
  std::optional<int64_t> axis = call.axis(axisIndex, sources[0].shape().size());
  std::optional<bool> reverse = call.flag(reverseIndex);
  if (!axis || !reverse)
    return {};
  SmallVector<mlir::Value> operands;
  for (const SymValue &source : sources)
    operands.push_back(source.value);
  auto op = ScanOp::create(sema.builder, sema.location(call.range), ValueRange(operands).getTypes(), operands,
                           static_cast<uint32_t>(*axis), *reverse);
  if (!emitCombineRegion(call, op.getCombine(), sources, combine)) {
    op.erase();
    return {};
  }
  std::vector<SymValue> results;
  for (auto [source, result] : llvm::zip(sources, op.getResults()))
    results.push_back(SymValue::makeTensor(result, source.type));
  return results;
}

static SymValue emitCumulative(BuiltinCall &call, BinaryOp operation) {
  SymValue value = call.block(0);
  if (value.isError())
    return {};
  if (value.type.isPointer || value.type.isFp8())
    return call.sema.error(Diag::not_a_number, call.rangeOf(0), {describe(value)});
  value = operation == BinaryOp::Add ? widenForSum(call, widenBf16(call, value), 3) : widenBf16(call, value);
  if (value.isError())
    return {};
  std::vector<SymValue> result = emitScan(call, {value}, 1, 2, [&](const auto &left, const auto &right) {
    return std::vector{call.sema.binary(operation, left[0], right[0], call.range)};
  });
  return result.empty() ? SymValue() : result[0];
}

SymValue emitCumsum(Emitter &, BuiltinCall &call) {
  return emitCumulative(call, BinaryOp::Add);
}
SymValue emitCumprod(Emitter &, BuiltinCall &call) {
  return emitCumulative(call, BinaryOp::Mult);
}

/// Emits tl.associative_scan(x or (x, y, ...), axis, combine_fn, reverse).
SymValue emitAssociativeScan(Emitter &, BuiltinCall &call) {
  std::vector<SymValue> sources = combineSources(call, 0, 2);
  if (sources.empty())
    return {};
  std::vector<SymValue> result = emitScan(
      call, sources, 1, 3, [&](const auto &left, const auto &right) { return callCombine(call, 2, left, right); });
  if (result.empty())
    return {};
  return call[0].isTuple() ? SymValue::makeTuple(std::move(result)) : result[0];
}

} // namespace tile::frontend
