// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: inline PTX, grid dependencies, and the functions of CUDA's libdevice.
//
// A libdevice function becomes an operation of the math dialect if there is one, otherwise a tile.library_call.
// Narrower floats and integers are computed in fp32. The "fast" variants, which guarantee less precision, are emitted
// as the precise functions. Functions of tl whose fp32 form is one instruction (exp, log2) are less precise than
// libdevice's.

#include "Frontend/Emit/EmitExtern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::frontend {

/// inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack): if dtype is a tuple, the result is a tuple,
/// too. Assembly that has side effects and scalar operands is executed once per program, as a block of one element
/// between barriers, so that it comes after all earlier work of the program. Assembly without run-time operands, such
/// as barriers and fences, is executed by each thread.
SymValue emitInlineAsm(Emitter &sema, BuiltinCall &call) {
  std::optional<std::string> text = call.text(0), constraints = call.text(1);
  std::optional<bool> isPure = call.flag(4);
  std::optional<int64_t> pack = call.integer(5);
  if (!text || !constraints || !isPure || !pack || call[2].isError())
    return {};
  std::vector<SymValue> arguments;
  SymValue shaped;
  const std::vector<SymValue> given = call[2].isTuple() ? call[2].elements : std::vector{call[2]};
  for (const SymValue &element : given) {
    SymValue value = sema.toTensor(element, call.rangeOf(2));
    if (value.isError())
      return {};
    if (value.type.isPointer)
      value = sema.bitcast(value, Scalar::Int64, call.rangeOf(2));
    if (shaped.isTensor() && !sema.broadcastTogether(shaped, value, call.rangeOf(2)))
      return {};
    shaped = value;
    arguments.push_back(value);
  }
  bool isOfProgram = !*isPure && !shaped.isBlock() &&
                     llvm::any_of(given, [](const SymValue &argument) { return argument.isTensor(); });
  if (isOfProgram)
    shaped = sema.expandDims(shaped, 0, call.range);
  SmallVector<mlir::Value> operands;
  for (SymValue &value : arguments) {
    if (!sema.broadcastTogether(value, shaped, call.rangeOf(2)))
      return {};
    operands.push_back(value.value);
  }
  std::vector<SymValue> types = call[3].isTuple() ? call[3].elements : std::vector{call[3]};
  SmallVector<DType> dtypes;
  SmallVector<Type> results;
  for (const SymValue &type : types) {
    const auto *dtype = type.isConstant() ? std::get_if<DType>(&type.constant) : nullptr;
    if (!dtype)
      return sema.error(Diag::type_needed, call.rangeOf(3), {"dtype", describe(type)});
    // An i1 is passed in a register like a byte, and an address is passed as an integer.
    dtypes.push_back(*dtype);
    results.push_back(sema.mlirType(dtype->isPointer ? DType(Scalar::Int64) : *dtype, shaped.shape()));
  }
  std::string mismatch =
      InlineAsmOp::describeMismatch(results, ValueRange(operands).getTypes(), *text, *constraints, *pack, *isPure);
  if (!mismatch.empty())
    return sema.error(Diag::inline_asm_form, call.range, {mismatch});
  Location loc = sema.location(call.range);
  if (isOfProgram)
    BarrierOp::create(sema.builder, loc);
  auto op = InlineAsmOp::create(sema.builder, loc, results, *text, *constraints, static_cast<uint32_t>(*pack), *isPure,
                                operands);
  if (isOfProgram)
    BarrierOp::create(sema.builder, loc);
  std::vector<SymValue> values;
  for (auto [value, type] : llvm::zip(op.getResults(), dtypes)) {
    SymValue result = SymValue::makeTensor(value, type.isPointer ? DType(Scalar::Int64) : type);
    if (isOfProgram)
      result = sema.toScalar(result, call.range);
    values.push_back(type.isPointer ? sema.bitcast(result, type, call.range) : result);
  }
  return call[3].isTuple() ? SymValue::makeTuple(std::move(values)) : values[0];
}

static SymValue emitGridDependency(BuiltinCall &call, GridDependency kind) {
  GridDependencyOp::create(call.sema.builder, call.sema.location(call.range), kind);
  return SymValue::makeConstant(NoneValue{});
}
SymValue emitGridWait(Emitter &, BuiltinCall &call) {
  return emitGridDependency(call, GridDependency::wait);
}
SymValue emitGridLaunch(Emitter &, BuiltinCall &call) {
  return emitGridDependency(call, GridDependency::launch);
}

/// Returns the number of warps of the enclosing kernel, which is chosen before anything is emitted.
SymValue emitNumWarps(Emitter &sema, BuiltinCall &call) {
  mlir::Block *block = sema.builder.getInsertionBlock();
  Operation *parent = block ? block->getParentOp() : nullptr;
  while (parent && !isa<KernelOp>(parent))
    parent = parent->getParentOp();
  if (!parent) // the call is in a decorator
    return sema.error(Diag::not_supported, call.range, {std::string(call.info.name) + " outside of a kernel"});
  return SymValue::makeConstant(Int128(llvm::cast<KernelOp>(parent).getNumWarps()));
}
SymValue emitNumThreads(Emitter &sema, BuiltinCall &call) {
  constexpr int threadsPerWarp = 32;
  SymValue warps = emitNumWarps(sema, call);
  if (warps.isError())
    return {};
  return sema.fromResult(evaluate(BinaryOp::Mult, warps.constant, Int128(threadsPerWarp)), call.range);
}

static SymValue emitRegister(BuiltinCall &call, SpecialRegister source, DType type) {
  Emitter &sema = call.sema;
  mlir::Value value = ReadRegisterOp::create(sema.builder, sema.location(call.range), sema.mlirType(type), source);
  return SymValue::makeTensor(value, type);
}
SymValue emitSmId(Emitter &, BuiltinCall &call) {
  return emitRegister(call, SpecialRegister::smid, Scalar::Int32);
}
SymValue emitGlobalTimer(Emitter &, BuiltinCall &call) {
  return emitRegister(call, SpecialRegister::globaltimer, Scalar::Int64);
}

namespace {

enum class Result { Same, Int32, Int64, Bool };

struct MathFunction {
  StringRef name;
  StringRef operation;
  Result result = Result::Same;
};

constexpr MathFunction functions[] = {
    {"acos", "math.acos"},
    {"acosh", "math.acosh"},
    {"asin", "math.asin"},
    {"asinh", "math.asinh"},
    {"atan", "math.atan"},
    {"atan2", "math.atan2"},
    {"atanh", "math.atanh"},
    {"cbrt", "math.cbrt"},
    {"ceil", "math.ceil"},
    {"copysign", "math.copysign"},
    {"cos", "math.cos"},
    {"cosh", "math.cosh"},
    {"erf", "math.erf"},
    {"erfc", "math.erfc"},
    {"exp2", "math.exp2"},
    {"expm1", "math.expm1"},
    {"fabs", "math.absf"},
    {"abs", "math.absf"},
    {"fast_cosf", "math.cos"},
    {"fast_dividef", "arith.divf"},
    {"fast_expf", "math.exp"},
    {"fast_log10f", "math.log10"},
    {"fast_log2f", "math.log2"},
    {"fast_logf", "math.log"},
    {"fast_powf", "math.powf"},
    {"fast_sinf", "math.sin"},
    {"fast_tanf", "math.tan"},
    {"finitef", "math.isfinite", Result::Bool},
    {"floor", "math.floor"},
    {"fma", "math.fma"},
    {"fmax", "arith.maxnumf"},
    {"fmin", "arith.minnumf"},
    {"fmod", "arith.remf"},
    {"isfinited", "math.isfinite", Result::Bool},
    {"isinf", "math.isinf", Result::Bool},
    {"isnan", "math.isnan", Result::Bool},
    {"llrint", "math.roundeven", Result::Int64},
    {"llround", "math.round", Result::Int64},
    {"log", "math.log"},
    {"log10", "math.log10"},
    {"log1p", "math.log1p"},
    {"nearbyint", "math.roundeven"},
    {"pow", "math.powf"},
    {"rint", "math.roundeven"},
    {"round", "math.round"},
    {"rsqrt", "math.rsqrt"},
    {"sin", "math.sin"},
    {"sinh", "math.sinh"},
    {"sqrt", "math.sqrt"},
    {"tan", "math.tan"},
    {"tanh", "math.tanh"},
    {"trunc", "math.trunc"},
};

} // namespace

bool floatOperands(BuiltinCall &call, std::vector<SymValue> &operands) {
  Emitter &sema = call.sema;
  DType type = Scalar::Float32;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    operands.push_back(call.tensor(i));
    const SymValue &operand = operands.back();
    if (operand.isError())
      return false;
    if (operand.type.isPointer) {
      sema.error(Diag::not_a_number, call.rangeOf(i), {describe(operand)});
      return false;
    }
    if (operand.type.is(Scalar::Float64) && !call[i].isConstant())
      type = Scalar::Float64;
  }
  for (SymValue &operand : operands)
    operand = sema.cast(operand, type, call.range);
  for (size_t i = 1; i < operands.size(); ++i)
    if (!sema.broadcastTogether(operands[0], operands[i], call.range))
      return false;
  for (SymValue &operand : operands)
    operand = sema.broadcastTo(operand, operands[0].shape(), call.range);
  return true;
}

SymValue emitLibdevice(Emitter &sema, BuiltinCall &call) {
  StringRef name = StringRef(call.info.name).substr(StringRef("libdevice.").size());
  const auto *function = llvm::find_if(functions, [&](const auto &entry) { return entry.name == name; });
  std::vector<SymValue> operands;
  if (!floatOperands(call, operands))
    return {};
  if (name == "rsqrt_rn" && operands[0].type.bits() != 32)
    return sema.error(Diag::rounded_type, call.rangeOf(0), {std::string(call.info.name), describe(operands[0])});
  if (function == std::end(functions)) {
    SmallVector<mlir::Value> values;
    for (const SymValue &operand : operands)
      values.push_back(operand.value);
    auto op = LibraryCallOp::create(sema.builder, sema.location(call.range), values.front().getType(),
                                    *symbolizeLibraryFunction(name), values);
    return SymValue::makeTensor(op.getResult(), operands[0].type);
  }
  OperationState state(sema.location(call.range), function->operation);
  for (const SymValue &operand : operands)
    state.operands.push_back(operand.value);
  DType type = function->result == Result::Bool ? DType(Scalar::Int1) : operands[0].type;
  state.types.push_back(sema.mlirType(type, operands[0].shape()));
  SymValue value = SymValue::makeTensor(sema.builder.create(state)->getResult(0), type);
  return function->result == Result::Int64 ? sema.cast(value, Scalar::Int64, call.range) : value;
}

/// Clamps to [0, 1]; NaN gives 0.
SymValue emitSaturate(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> operands;
  if (!floatOperands(call, operands))
    return {};
  SymValue zero = SymValue::makeConstant(0.0), one = SymValue::makeConstant(1.0);
  SymValue isAbove = sema.compare(CompareOp::Gt, operands[0], zero, call.range);
  SymValue raised = sema.select(isAbove, operands[0], zero, call.range);
  return sema.select(sema.compare(CompareOp::Lt, raised, one, call.range), raised, one, call.range);
}

/// Returns 1 if the sign bit is set (also for -0 and NaN), otherwise 0.
SymValue emitSignBit(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> operands;
  if (!floatOperands(call, operands))
    return {};
  DType bits = operands[0].type.bits() == 64 ? Scalar::Int64 : Scalar::Int32;
  SymValue isNegative = sema.compare(CompareOp::Lt, sema.bitcast(operands[0], bits, call.range),
                                     SymValue::makeConstant(Int128(0)), call.range);
  return sema.cast(isNegative, Scalar::Int32, call.range);
}

/// Emits bitcasts between floats and integers, and bit counts.
SymValue emitBitsOf(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0);
  if (x.isError())
    return {};
  StringRef name = call.info.name;
  DType type = name.ends_with("float_as_int")         ? DType(Scalar::Int32)
               : name.ends_with("float_as_uint")      ? DType(Scalar::UInt32)
               : name.ends_with("double_as_longlong") ? DType(Scalar::Int64)
               : name.ends_with("longlong_as_double") ? DType(Scalar::Float64)
                                                      : DType(Scalar::Float32);
  return sema.bitcast(x, type, call.range);
}

SymValue emitBitCount(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0);
  if (x.isError())
    return {};
  if (!x.type.isInt() || x.type.bits() < 32)
    return sema.error(Diag::integer_operands, call.range,
                      {std::string(call.info.name), "32- or 64-bit integers", describe(x)});
  Location loc = sema.location(call.range);
  StringRef name = call.info.name;
  SymValue count;
  if (name.ends_with("popc"))
    count = SymValue::makeTensor(math::CtPopOp::create(sema.builder, loc, x.value), x.type);
  else if (name.ends_with("clz"))
    count = SymValue::makeTensor(math::CountLeadingZerosOp::create(sema.builder, loc, x.value), x.type);
  else // ffs: one plus the index of the lowest set bit, 0 if none is set
    count = SymValue::makeTensor(math::CountTrailingZerosOp::create(sema.builder, loc, x.value), x.type);
  count = sema.cast(count, Scalar::Int32, call.range);
  if (!name.ends_with("ffs"))
    return count;
  SymValue zero = SymValue::makeConstant(Int128(0)), one = SymValue::makeConstant(Int128(1));
  SymValue isZero = sema.compare(CompareOp::Eq, x, zero, call.range);
  return sema.select(isZero, zero, sema.binary(BinaryOp::Add, count, one, call.range), call.range);
}

} // namespace tile::frontend
