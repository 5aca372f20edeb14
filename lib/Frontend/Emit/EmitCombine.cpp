// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds combine regions; see EmitCombine.h.

#include "Frontend/Emit/EmitCombine.h"

using namespace mlir;

namespace tile::frontend {

bool emitCombineRegion(BuiltinCall &call, Region &region, const std::vector<SymValue> &sources, Combine combine) {
  Emitter &sema = call.sema;
  Location loc = sema.location(call.range);
  SmallVector<Type> elements;
  for (int side = 0; side < 2; ++side)
    for (const SymValue &source : sources)
      elements.push_back(sema.mlirType(source.type));
  OpBuilder::InsertionGuard guard(sema.builder);
  mlir::Block *block = sema.builder.createBlock(&region, {}, elements, SmallVector<Location>(elements.size(), loc));
  std::vector<SymValue> left, right;
  for (auto [index, source] : llvm::enumerate(sources)) {
    left.push_back(SymValue::makeTensor(block->getArgument(index), source.type));
    right.push_back(SymValue::makeTensor(block->getArgument(index + sources.size()), source.type));
  }
  SmallVector<mlir::Value> yielded;
  for (const SymValue &value : combine(left, right))
    yielded.push_back(value.value);
  if (yielded.size() != sources.size() || !llvm::all_of(yielded, [](mlir::Value value) { return bool(value); }))
    return false;
  YieldOp::create(sema.builder, loc, yielded);
  return true;
}

std::vector<SymValue> callCombine(BuiltinCall &call, size_t index, const std::vector<SymValue> &left,
                                  const std::vector<SymValue> &right) {
  Emitter &sema = call.sema;
  std::vector<SymValue> arguments = left, out;
  arguments.insert(arguments.end(), right.begin(), right.end());
  SymValue combined = sema.callValue(call[index], arguments, call.rangeOf(index));
  std::vector<SymValue> parts = combined.isTuple() ? combined.elements : std::vector{combined};
  bool fits = parts.size() == left.size();
  for (size_t i = 0; fits && i < parts.size(); ++i) {
    SymValue part =
        parts[i].isConstant() && isNumber(parts[i].constant) ? sema.toTensor(parts[i], call.range) : parts[i];
    fits = part.isScalar() && part.type == left[i].type;
    out.push_back(part);
  }
  if (fits)
    return out;
  if (!combined.isError())
    sema.error(Diag::combine_result, call.rangeOf(index),
               {str(call[index].constant), describe(combined), describe(left[0])});
  return {};
}

std::vector<SymValue> combineSources(BuiltinCall &call, size_t index, size_t functionIndex) {
  std::vector<SymValue> sources = call[index].isTuple() ? call[index].elements : std::vector{call.block(index)};
  for (const SymValue &source : sources) {
    if (source.isError())
      return {};
    if (!source.isBlock() || source.shape() != sources[0].shape() || source.type.isPointer) {
      call.sema.error(Diag::reduce_operands, call.rangeOf(index), {describe(sources[0]), describe(source)});
      return {};
    }
  }
  const SymValue &function = call[functionIndex];
  bool isFunction = function.isConstant() && (std::holds_alternative<const FunctionStmt *>(function.constant) ||
                                              std::holds_alternative<const BuiltinInfo *>(function.constant));
  if (isFunction && !sources.empty())
    return sources;
  if (!function.isError())
    call.sema.error(Diag::combine_function, call.rangeOf(functionIndex), {describe(function)});
  return {};
}

SymValue widenBf16(BuiltinCall &call, const SymValue &value) {
  bool isBf16 = !value.isError() && value.type.is(Scalar::BFloat16);
  return isBf16 ? call.sema.cast(value, Scalar::Float32, call.range) : value;
}

SymValue widenForSum(BuiltinCall &call, const SymValue &value, size_t index) {
  if (value.isError())
    return {};
  if (!call.isNone(index)) {
    std::optional<DType> type = call.dtype(index);
    return type ? call.sema.cast(value, *type, call.range) : SymValue();
  }
  if (!value.type.isInt() || value.type.bits() >= 32)
    return value;
  return call.sema.cast(value, value.type.isUnsigned() ? Scalar::UInt32 : Scalar::Int32, call.range);
}

} // namespace tile::frontend
