// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: Python's own functions.

#include "Frontend/Emit/Builtins.h"
#include "Target/Limits.h"

using namespace mlir;

namespace tile::frontend {

/// Emits range, tl.range and tl.static_range.
SymValue emitRange(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> given = call[0].elements;
  if (call.arguments.size() > 1 && call.arguments[1].given) {
    // tl.range(n, step=2), with Triton's parameter names.
    if (given.size() == 1)
      given.insert(given.begin(), SymValue::makeConstant(Int128(0)));
    given.push_back(call[1]);
  }
  if (given.empty() || given.size() > 3)
    return sema.error(Diag::argument_count, call.range,
                      {std::string(call.info.name), "1 to 3", std::to_string(given.size())});
  SymValue zero = SymValue::makeConstant(Int128(0)), one = SymValue::makeConstant(Int128(1));
  SymValue lower = given.size() == 1 ? zero : given[0];
  SymValue upper = given.size() == 1 ? given[0] : given[1];
  SymValue step = given.size() == 3 ? given[2] : one;
  for (const SymValue &bound : {lower, upper, step}) {
    bool isReal = bound.isConstant() && !std::holds_alternative<Int128>(bound.constant) &&
                  !std::holds_alternative<bool>(bound.constant);
    if (isReal)
      return sema.error(Diag::range_bound, call.range, {describe(bound)});
  }
  if (step.isConstant() && asInteger(step.constant) == Int128(0))
    return sema.error(Diag::range_step, call.range);
  SymValue range = SymValue::make(SymValue::Kind::Range, {lower, upper, step});
  if (call.arguments.size() <= 2 || !call.arguments[2].given || call[2].isNoneValue())
    return range;
  // tl.range(n, num_stages=3) applies to this loop only.
  std::optional<Int128> stages = call[2].isConstant() ? asInteger(call[2].constant) : std::nullopt;
  if (!stages)
    return call.constantNeeded(2), SymValue();
  if (*stages < 0)
    return sema.error(Diag::num_stages, call.rangeOf(2), {str(call[2].constant)});
  constexpr int mostStages = target::maxStages; // Triton has no limit
  if (*stages > 0)
    range.elements.push_back(SymValue::makeConstant(std::min(*stages, Int128(mostStages))));
  return range;
}

/// Emits Python's min and max of two or more values or, for one block, a reduction.
static SymValue emitPythonExtremum(Emitter &sema, BuiltinCall &call, bool isMaximum) {
  const std::vector<SymValue> &values = call[0].elements;
  bool isReduction = call.arguments[1].given || (values.size() == 1 && values[0].isTensor());
  if (isReduction && values.size() == 1) {
    const BuiltinInfo *info = findBuiltin(isMaximum ? "max" : "min");
    BuiltinCall reduction{sema, *info, call.range, {}};
    SymValue leftmost = SymValue::makeConstant(true);
    reduction.arguments = {{"input", values[0], call.rangeOf(0), true},
                           call.arguments[1],
                           call.arguments[3],
                           {"return_indices_tie_break_left", leftmost, call.range, false},
                           call.arguments[2]};
    return info->emit(sema, reduction);
  }
  if (values.size() < 2)
    return sema.error(Diag::argument_count, call.range,
                      {isMaximum ? "max" : "min", "2", std::to_string(values.size())});
  SymValue result = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    SymValue left = sema.toTensor(result, call.range), right = sema.toTensor(values[i], call.range);
    if (left.isError() || right.isError())
      return {};
    result = sema.minimumOrMaximum(isMaximum, left, right, /*propagateNan=*/false, call.range);
  }
  return result;
}

SymValue emitPythonMin(Emitter &sema, BuiltinCall &call) {
  return emitPythonExtremum(sema, call, false);
}
SymValue emitPythonMax(Emitter &sema, BuiltinCall &call) {
  return emitPythonExtremum(sema, call, true);
}

SymValue emitLen(Emitter &sema, BuiltinCall &call) {
  const SymValue &value = call[0];
  if (value.isBlock())
    return SymValue::makeConstant(Int128(value.shape().front()));
  return sema.error(Diag::no_length, call.rangeOf(0), {describe(value)});
}

/// Returns the logarithm of a power of two.
SymValue emitLog2OfConstant(Emitter &, BuiltinCall &call) {
  std::optional<int64_t> value = call.integer(0);
  if (!value)
    return {};
  if (*value < 1)
    return call.constantNeeded(0);
  return SymValue::makeConstant(Int128(llvm::Log2_64(static_cast<uint64_t>(*value))));
}

SymValue emitIntType(Emitter &sema, BuiltinCall &call) {
  std::optional<int64_t> bits = call.integer(0);
  std::optional<bool> isSigned = call.flag(1);
  if (!bits || !isSigned)
    return {};
  std::optional<DType> type = dtypeByName((*isSigned ? "int" : "uint") + std::to_string(*bits));
  if (!type)
    return sema.error(Diag::type_needed, call.rangeOf(0), {"bitwidth", std::to_string(*bits)});
  return SymValue::makeConstant(*type);
}

/// Emits torch.finfo and torch.iinfo: a value whose attributes are the limits of the type (SemaAccess.cpp).
SymValue emitLimits(Emitter &, BuiltinCall &call) {
  std::optional<DType> type = call.dtype(0);
  return type ? SymValue::makeConstant(TypeNameValue{"limits of " + toString(*type)}) : SymValue();
}

static bool isInstanceOf(const SymValue &value, const std::string &type) {
  if (type == "tensor")
    return value.isTensor();
  if (type == "torch.Tensor")
    return value.isTensor() && value.type.isPointer;
  if (type == "tensor_descriptor")
    return value.kind == SymValue::Kind::Descriptor;
  if (type == "tuple" || type == "list")
    return value.isTuple();
  if (type == "constexpr") {
    SmallVector<mlir::Value> leaves;
    flatten(value, leaves);
    return leaves.empty();
  }
  if (type == "constexpr_type")
    return value.kind == SymValue::Kind::ConstantType;
  if (type == "tuple_type")
    return value.kind == SymValue::Kind::TupleType;
  if (type == "block_type")
    return value.kind == SymValue::Kind::BlockType;
  if (!value.isConstant())
    return false;
  if (type == "pointer_type") {
    const auto *pointer = std::get_if<DType>(&value.constant);
    return pointer && pointer->isPointer;
  }
  if (type == "bool")
    return std::holds_alternative<bool>(value.constant);
  if (type == "int")
    return asInteger(value.constant).has_value();
  if (type == "float")
    return std::holds_alternative<double>(value.constant);
  if (type == "str")
    return std::holds_alternative<std::string>(value.constant);
  if (type == "dtype")
    return std::holds_alternative<DType>(value.constant);
  return false;
}

std::optional<bool> Emitter::isInstance(const SymValue &value, const SymValue &type) {
  if (!type.isConstant())
    return std::nullopt;
  if (const auto *name = std::get_if<TypeNameValue>(&type.constant))
    return isInstanceOf(value, name->name);
  // In kernels a named tuple is a plain tuple, no longer an instance of its class.
  if (const auto *record = std::get_if<const ClassStmt *>(&type.constant))
    return value.kind == SymValue::Kind::Object && value.record == *record;
  return std::nullopt;
}

SymValue emitIsInstance(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> types = call[1].isTuple() ? call[1].elements : std::vector<SymValue>{call[1]};
  bool matches = false;
  for (const SymValue &type : types) {
    std::optional<bool> isOne = sema.isInstance(call[0], type);
    if (!isOne)
      return sema.error(Diag::type_needed, call.rangeOf(1), {"type", describe(type)});
    matches |= *isOne;
  }
  return SymValue::makeConstant(matches);
}

/// Emits hasattr(). Kernels use it to test for newer APIs: a module has the members that the table of builtins lists.
SymValue emitHasAttr(Emitter &sema, BuiltinCall &call) {
  std::optional<std::string> name = call.text(1);
  if (!name)
    return {};
  const auto *space = call[0].isConstant() ? std::get_if<NamespaceValue>(&call[0].constant) : nullptr;
  if (!space)
    return SymValue::makeConstant(sema.hasAttribute(call[0], *name));
  return SymValue::makeConstant(sema.namespaceMember(space->name, *name).has_value());
}

} // namespace tile::frontend
