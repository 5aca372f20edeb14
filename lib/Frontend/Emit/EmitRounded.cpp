// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: arithmetic and conversions with explicit rounding: tl.math.sqrt_rn, libdevice.add_rz,
// libdevice.double2ll_rd. The names encode the operation, the types and the rounding mode. Such an operation is never
// fused with another one.

#include "Frontend/Emit/EmitExtern.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Returns the rounding mode at the end of a name such as "double2ll_rd", and removes it from the name.
Rounding takeRounding(StringRef &name) {
  Rounding rounding = *symbolizeRounding(name.take_back(2));
  name = name.drop_back(StringRef("_rd").size());
  return rounding;
}

struct CastType {
  StringRef name;
  Scalar type, result; // libdevice returns unsigned integers as signed ones
};
constexpr CastType castTypes[] = {
    {"float", Scalar::Float32, Scalar::Float32}, {"double", Scalar::Float64, Scalar::Float64},
    {"int", Scalar::Int32, Scalar::Int32},       {"uint", Scalar::UInt32, Scalar::Int32},
    {"ll", Scalar::Int64, Scalar::Int64},        {"ull", Scalar::UInt64, Scalar::Int64}};

const CastType &castType(StringRef name) {
  return *llvm::find_if(castTypes, [&](const CastType &entry) { return entry.name == name; });
}

SymValue emit(BuiltinCall &call, RoundedKind kind, Rounding rounding, ArrayRef<SymValue> operands, DType type,
              bool isUnsigned) {
  Emitter &sema = call.sema;
  SmallVector<mlir::Value> values;
  for (const SymValue &operand : operands)
    values.push_back(operand.value);
  mlir::Value result =
      RoundedOp::create(sema.builder, sema.location(call.range), sema.mlirType(type, operands.front().shape()), kind,
                        rounding, values, isUnsigned);
  return SymValue::makeTensor(result, type);
}

} // namespace

SymValue emitRounded(Emitter &sema, BuiltinCall &call) {
  StringRef name = call.info.name;
  bool isOfLibdevice = name.consume_front("libdevice.");
  std::vector<SymValue> operands;
  if (!floatOperands(call, operands))
    return {};
  // Functions of tl only accept fp32, without conversions.
  for (size_t i = 0; !isOfLibdevice && i < operands.size(); ++i)
    if (SymValue operand = call.tensor(i); !operand.type.is(Scalar::Float32) && !call[i].isConstant())
      return sema.error(Diag::rounded_type, call.rangeOf(i), {std::string(call.info.name), describe(operand)});
  Rounding rounding = takeRounding(name);
  return emit(call, *symbolizeRoundedKind(name), rounding, operands, operands[0].type, /*isUnsigned=*/false);
}

SymValue emitRoundedCast(Emitter &sema, BuiltinCall &call) {
  StringRef name = call.info.name;
  name.consume_front("libdevice.");
  Rounding rounding = takeRounding(name);
  auto [fromName, toName] = name.split('2');
  const CastType &from = castType(fromName), &to = castType(toName);
  SymValue operand = call.tensor(0);
  if (operand.isError())
    return {};
  if (operand.type.isPointer || operand.type.isFloat() != DType(from.type).isFloat())
    return sema.error(Diag::rounded_cast, call.rangeOf(0),
                      {std::string(call.info.name), toString(DType(from.type)), describe(operand)});
  operand = sema.cast(operand, from.type, call.rangeOf(0));
  bool isUnsigned =
      DType(from.type).isInt() ? DType(from.type).isUnsigned() : DType(to.type).isInt() && DType(to.type).isUnsigned();
  return operand.isError() ? SymValue() : emit(call, RoundedKind::cast, rounding, operand, to.result, isUnsigned);
}

} // namespace tile::frontend
