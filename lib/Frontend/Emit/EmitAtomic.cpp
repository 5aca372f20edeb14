// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: atomic operations. The dialect only has atomic operations on blocks; a scalar becomes a block of one
// element.

#include "Frontend/Emit/EmitMemory.h"

using namespace mlir;

namespace tile::frontend {

namespace {

std::optional<MemoryOrder> memoryOrder(BuiltinCall &call, size_t index) {
  std::optional<std::string> text = call.text(index);
  if (!text)
    return std::nullopt;
  if (text->empty())
    return MemoryOrder::acq_rel;
  std::optional<MemoryOrder> order = symbolizeMemoryOrder(*text);
  if (!order)
    call.sema.error(Diag::unknown_option, call.rangeOf(index),
                    {"sem", *text, "'relaxed', 'acquire', 'release' or 'acq_rel'"});
  return order;
}

std::optional<MemoryScope> memoryScope(BuiltinCall &call, size_t index) {
  std::optional<std::string> text = call.text(index);
  if (!text)
    return std::nullopt;
  if (text->empty())
    return MemoryScope::gpu;
  std::optional<MemoryScope> scope = symbolizeMemoryScope(*text);
  if (!scope)
    call.sema.error(Diag::unknown_option, call.rangeOf(index), {"scope", *text, "'cta', 'gpu' or 'sys'"});
  return scope;
}

/// The operands as blocks, and the conversion of the result back to a scalar.
struct AtomicCall {
  SymValue pointer, value, mask;
  MemoryOrder order;
  MemoryScope scope;
  bool isScalar;

  SymValue result(BuiltinCall &call, mlir::Value block, DType type) const {
    SymValue out = SymValue::makeTensor(block, type);
    return isScalar ? call.sema.toScalar(out, call.range) : out;
  }
};

/// Returns a value of the pointee's type and the pointer's shape.
SymValue valueOperand(BuiltinCall &call, size_t index, const SymValue &pointer) {
  DType element = pointer.type.pointee();
  SymValue value = call[index].isConstant() && isNumber(call[index].constant) && element.isFloat()
                       ? call.sema.makeNumber(call[index].constant, element, call.rangeOf(index))
                       : call.sema.cast(call.tensor(index), element, call.rangeOf(index));
  return followPointer(call, index, value, pointer);
}

std::optional<AtomicCall> parseAtomic(BuiltinCall &call, size_t valueIndex, size_t maskIndex, size_t orderIndex) {
  AtomicCall parsed;
  parsed.pointer = pointerOperand(call);
  if (parsed.pointer.isError())
    return std::nullopt;
  if (parsed.pointer.type.isConst) {
    call.sema.error(Diag::store_const, call.rangeOf(0));
    return std::nullopt;
  }
  parsed.value = valueOperand(call, valueIndex, parsed.pointer);
  bool hasMask = maskIndex != 0 && !call.isNone(maskIndex);
  if (hasMask)
    parsed.mask = maskOperand(call, maskIndex, parsed.pointer);
  std::optional<MemoryOrder> order = memoryOrder(call, orderIndex);
  std::optional<MemoryScope> scope = memoryScope(call, orderIndex + 1);
  if (parsed.value.isError() || (hasMask && parsed.mask.isError()) || !order || !scope)
    return std::nullopt;
  parsed.order = *order;
  parsed.scope = *scope;
  parsed.isScalar = parsed.pointer.isScalar();
  if (parsed.isScalar) {
    // A release must cover the writes of the whole program, not only those of the releasing thread.
    if (parsed.order == MemoryOrder::release || parsed.order == MemoryOrder::acq_rel)
      BarrierOp::create(call.sema.builder, call.sema.location(call.range));
    for (SymValue *operand : {&parsed.pointer, &parsed.value, &parsed.mask})
      if (operand->isTensor())
        *operand = call.sema.expandDims(*operand, 0, call.range);
  }
  return parsed;
}

SymValue update(BuiltinCall &call, const AtomicCall &parsed, AtomicKind kind) {
  auto op =
      AtomicRmwOp::create(call.sema.builder, call.sema.location(call.range), parsed.value.value.getType(), kind,
                          parsed.order, parsed.scope, parsed.pointer.value, parsed.value.value, parsed.mask.value);
  return SymValue::makeTensor(op.getResult(), parsed.value.type);
}

SymValue emitUpdate(BuiltinCall &call, AtomicKind signedKind, AtomicKind unsignedKind, bool takesFloats) {
  std::optional<AtomicCall> parsed = parseAtomic(call, 1, 2, 3);
  if (!parsed)
    return {};
  DType type = parsed->value.type;
  bool fits = type.isFloat() ? takesFloats && !type.isFp8() : type.isInt() && type.bits() >= 32;
  if (type.isFloat() && signedKind == AtomicKind::xchg)
    fits = type.bits() >= 32;
  if (!fits)
    return call.sema.error(Diag::atomic_type, call.rangeOf(0), {std::string(call.info.name), toString(type)});
  return parsed->result(call, update(call, *parsed, type.isUnsigned() ? unsignedKind : signedKind).value, type);
}

/// Emits a floating-point minimum or maximum by integer atomics. The bits of floats with a clear sign bit, read as
/// integers, are in the same order as the floats; the bits of floats with a set sign bit are in the reverse order. So
/// the maximum with an operand of the first kind is the signed maximum, and with an operand of the second kind it is
/// the unsigned minimum. Each element needs only one of these two atomics, depending on its sign. -0 is treated as less
/// than +0, and NaNs as beyond the infinities.
SymValue emitFloatExtremum(BuiltinCall &call, bool isMaximum) {
  Emitter &sema = call.sema;
  std::optional<AtomicCall> parsed = parseAtomic(call, 1, 2, 3);
  if (!parsed)
    return {};
  DType type = parsed->value.type;
  if (type.bits() < 32)
    return sema.error(Diag::atomic_type, call.rangeOf(0), {std::string(call.info.name), toString(type)});
  DType bits = type.bits() == 32 ? Scalar::Int32 : Scalar::Int64;
  AtomicCall part = *parsed;
  part.value = sema.bitcast(parsed->value, bits, call.range);
  SymValue isNegative = sema.compare(CompareOp::Lt, part.value, SymValue::makeConstant(Int128(0)), call.range);
  SymValue isPositive = sema.unary(UnaryOp::Not, isNegative, call.range);
  part.pointer = sema.bitcast(parsed->pointer, DType(bits.scalar, /*isPointer=*/true), call.range);
  auto restrict = [&](const SymValue &sign) {
    part.mask = parsed->mask.isTensor() ? sema.logical(BoolOperator::And, parsed->mask, sign, call.range) : sign;
  };
  restrict(isPositive);
  SymValue ofPositive = update(call, part, isMaximum ? AtomicKind::max : AtomicKind::min);
  restrict(isNegative);
  SymValue ofNegative = update(call, part, isMaximum ? AtomicKind::umin : AtomicKind::umax);
  SymValue old = sema.bitcast(sema.select(isPositive, ofPositive, ofNegative, call.range), type, call.range);
  return parsed->result(call, old.value, type);
}

SymValue emitAtomicExtremum(BuiltinCall &call, bool isMaximum) {
  bool isFloat = call[0].isTensor() && call[0].type.isPointer && call[0].type.pointee().isFloat();
  if (isFloat)
    return emitFloatExtremum(call, isMaximum);
  return isMaximum ? emitUpdate(call, AtomicKind::max, AtomicKind::umax, /*takesFloats=*/false)
                   : emitUpdate(call, AtomicKind::min, AtomicKind::umin, /*takesFloats=*/false);
}

} // namespace

SymValue emitAtomicAdd(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, AtomicKind::add, AtomicKind::add, /*takesFloats=*/true);
}
SymValue emitAtomicMax(Emitter &, BuiltinCall &call) {
  return emitAtomicExtremum(call, true);
}
SymValue emitAtomicMin(Emitter &, BuiltinCall &call) {
  return emitAtomicExtremum(call, false);
}
SymValue emitAtomicAnd(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, AtomicKind::and_, AtomicKind::and_, /*takesFloats=*/false);
}
SymValue emitAtomicOr(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, AtomicKind::or_, AtomicKind::or_, /*takesFloats=*/false);
}
SymValue emitAtomicXor(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, AtomicKind::xor_, AtomicKind::xor_, /*takesFloats=*/false);
}
SymValue emitAtomicXchg(Emitter &, BuiltinCall &call) {
  return emitUpdate(call, AtomicKind::xchg, AtomicKind::xchg, /*takesFloats=*/true);
}

SymValue emitAtomicCas(Emitter &sema, BuiltinCall &call) {
  std::optional<AtomicCall> parsed = parseAtomic(call, 2, 0, 3);
  if (!parsed)
    return {};
  SymValue pointer = parsed->isScalar ? call[0] : parsed->pointer;
  SymValue expected = valueOperand(call, 1, pointer);
  if (expected.isError())
    return {};
  if (parsed->isScalar)
    expected = sema.expandDims(expected, 0, call.range);
  DType type = parsed->value.type;
  if (type.bits() < 16)
    return sema.error(Diag::atomic_type, call.rangeOf(0), {"atomic_cas", toString(type)});
  auto op = AtomicCasOp::create(sema.builder, sema.location(call.range), expected.value.getType(), parsed->order,
                                parsed->scope, parsed->pointer.value, expected.value, parsed->value.value);
  return parsed->result(call, op.getResult(), type);
}

/// Checks the arguments of a flag operation: the language, and a pointer to one int32. Returns the value, or an error
/// value after a message.
static SymValue parseFlag(BuiltinCall &call) {
  Emitter &sema = call.sema;
  std::string name(call.info.name);
  if (!sema.isTile1())
    return sema.error(Diag::flag_needs_tile1, call.range, {name});
  SymValue pointer = pointerOperand(call);
  if (pointer.isError())
    return {};
  if (!pointer.isScalar() || pointer.type.pointee() != DType(Scalar::Int32))
    return sema.error(Diag::flag_type, call.rangeOf(0), {name, describe(pointer)});
  return followPointer(call, 1, sema.cast(call.tensor(1), Scalar::Int32, call.rangeOf(1)), pointer);
}

SymValue emitWaitFlag(Emitter &sema, BuiltinCall &call) {
  SymValue value = parseFlag(call);
  if (value.isError())
    return {};
  WaitFlagOp::create(sema.builder, sema.location(call.range), call[0].value, value.value);
  return SymValue::makeConstant(NoneValue{});
}

/// Emits a barrier and then a release by one thread, which covers what all threads have written before the barrier.
SymValue emitSetFlag(Emitter &sema, BuiltinCall &call) {
  SymValue value = parseFlag(call);
  if (value.isError())
    return {};
  if (call[0].type.isConst)
    return sema.error(Diag::store_const, call.rangeOf(0));
  Location loc = sema.location(call.range);
  SymValue pointer = sema.expandDims(call[0], 0, call.range);
  value = sema.expandDims(value, 0, call.range);
  BarrierOp::create(sema.builder, loc);
  AtomicRmwOp::create(sema.builder, loc, value.value.getType(), AtomicKind::xchg, MemoryOrder::release,
                      MemoryScope::sys, pointer.value, value.value, mlir::Value());
  return SymValue::makeConstant(NoneValue{});
}

} // namespace tile::frontend
