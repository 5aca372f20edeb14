// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: loads and stores through pointers.

#include "Frontend/Emit/EmitMemory.h"

#include <cmath>

using namespace mlir;

namespace tile::frontend {

static std::optional<CacheModifier> cacheModifier(BuiltinCall &call, size_t index, bool isLoad) {
  std::optional<std::string> text = call.text(index);
  if (!text)
    return std::nullopt;
  std::string_view allowed = isLoad ? "'', '.ca', '.cg', '.cs' or '.cv'" : "'', '.wb', '.cg', '.cs' or '.wt'";
  std::optional<CacheModifier> modifier =
      text->empty() ? std::optional(CacheModifier::none) : symbolizeCacheModifier(StringRef(*text).drop_front());
  bool fits = modifier && (text->empty() || text->front() == '.');
  if (fits && isLoad)
    fits = *modifier != CacheModifier::wb && *modifier != CacheModifier::wt;
  else if (fits)
    fits = *modifier != CacheModifier::ca && *modifier != CacheModifier::cv;
  if (fits)
    return modifier;
  call.sema.error(Diag::unknown_option, call.rangeOf(index), {"cache_modifier", *text, std::string(allowed)});
  return std::nullopt;
}

static std::optional<EvictionPolicy> evictionPolicy(BuiltinCall &call, size_t index) {
  std::optional<std::string> text = call.text(index);
  if (!text)
    return std::nullopt;
  if (text->empty() || *text == "evict_normal")
    return EvictionPolicy::normal;
  if (*text == "evict_first")
    return EvictionPolicy::first;
  if (*text == "evict_last")
    return EvictionPolicy::last;
  call.sema.error(Diag::unknown_option, call.rangeOf(index),
                  {"eviction_policy", *text, "'', 'evict_normal', 'evict_first' or 'evict_last'"});
  return std::nullopt;
}

SymValue pointerOperand(BuiltinCall &call) {
  SymValue pointer = call[0];
  if (pointer.isError())
    return {};
  if (!pointer.isTensor() || !pointer.type.isPointer)
    return call.sema.error(Diag::pointer_needed, call.rangeOf(0), {std::string(call.info.name), describe(pointer)});
  return pointer;
}

SymValue followPointer(BuiltinCall &call, size_t index, SymValue value, const SymValue &pointer) {
  if (value.isError())
    return {};
  if (pointer.isScalar() && value.isBlock())
    return call.sema.error(Diag::scalar_pointer, call.rangeOf(index),
                           {std::string(call.arguments[index].name), describe(value)});
  SymValue like = pointer;
  if (!call.sema.broadcastTogether(value, like, call.rangeOf(index)))
    return {};
  if (like.shape() != pointer.shape())
    return call.sema.error(Diag::follows_pointer, call.rangeOf(index),
                           {std::string(call.arguments[index].name), describe(value), describe(pointer)});
  return value;
}

SymValue maskOperand(BuiltinCall &call, size_t index, const SymValue &pointer) {
  SymValue mask = call.tensor(index);
  if (mask.isError())
    return {};
  if (!mask.type.isBool())
    return call.sema.error(Diag::mask_type, call.rangeOf(index), {describe(mask)});
  return followPointer(call, index, mask, pointer);
}

/// Rejects arguments that only block pointers support.
static bool rejectBlockPointerArguments(BuiltinCall &call, std::initializer_list<size_t> indices) {
  for (size_t index : indices)
    if (call.arguments[index].given && !(call[index].isTuple() && call[index].elements.empty()) &&
        !call.isNone(index)) {
      call.sema.error(Diag::not_supported, call.rangeOf(index),
                      {"'" + std::string(call.arguments[index].name) + "', which needs a block pointer,"});
      return true;
    }
  return false;
}

/// Broadcasts a block of pointers together with the mask and the other value of a load, which may have a larger shape.
/// Returns false after an error.
static bool widenPointer(BuiltinCall &call, SymValue &pointer) {
  for (size_t index : {1u, 2u}) {
    const SymValue &operand = call[index];
    if (!operand.isBlock() || pointer.isScalar())
      continue;
    SymValue other = operand;
    if (operand.shape() != pointer.shape() && !call.sema.broadcastTogether(pointer, other, call.rangeOf(index)))
      return false;
  }
  return true;
}

/// Returns the value that block-pointer loads return outside the tensor, NaN or zero, if the call specifies one.
static std::optional<SymValue> padding(BuiltinCall &call, size_t index, const SymValue &like, DType element) {
  std::optional<std::string> option = call.text(index);
  if (!option)
    return std::nullopt;
  const bool isZero = *option == "zero";
  if (option->empty() || (isZero && element.isPointer))
    return SymValue();
  if (!isZero && !(*option == "nan" && element.isFloat())) {
    call.sema.error(Diag::unknown_option, call.rangeOf(index),
                    {"padding_option", *option, element.isFloat() ? "'', 'zero' or 'nan'" : "'' or 'zero'"});
    return std::nullopt;
  }
  return call.sema.makeSplat(isZero ? Value(Int128(0)) : Value(std::nan("")), element, like.shape(), call.range);
}

static SymValue emitBlockLoad(Emitter &sema, BuiltinCall &call) {
  for (size_t index : {1u, 2u})
    if (!call.isNone(index))
      return sema.error(Diag::block_pointer_mask, call.rangeOf(index), {std::string(call.arguments[index].name)});
  std::optional<BlockAddress> address = expandBlockPointer(call, 3);
  std::optional<CacheModifier> cache = cacheModifier(call, 5, /*isLoad=*/true);
  std::optional<EvictionPolicy> evict = evictionPolicy(call, 6);
  std::optional<bool> isVolatile = call.flag(7);
  if (!address || !cache || !evict || !isVolatile)
    return {};
  DType element = address->pointer.type.pointee();
  std::optional<SymValue> other = padding(call, 4, address->pointer, element);
  if (!other)
    return {};
  bool hasMask = address->mask.isTensor();
  Type type = getPointeeValueType(address->pointer.value.getType());
  mlir::Value result =
      LoadOp::create(sema.builder, sema.location(call.range), type, address->pointer.value, address->mask.value,
                     hasMask ? other->value : mlir::Value(), *cache, *evict, *isVolatile);
  return SymValue::makeTensor(result, element);
}

static SymValue emitBlockStore(Emitter &sema, BuiltinCall &call) {
  if (!call.isNone(2))
    return sema.error(Diag::block_pointer_mask, call.rangeOf(2), {"mask"});
  std::optional<BlockAddress> address = expandBlockPointer(call, 3);
  std::optional<CacheModifier> cache = cacheModifier(call, 4, /*isLoad=*/false);
  std::optional<EvictionPolicy> evict = evictionPolicy(call, 5);
  if (!address || !cache || !evict)
    return {};
  if (address->pointer.type.isConst)
    return sema.error(Diag::store_const, call.rangeOf(0));
  SymValue value = sema.cast(call.tensor(1), address->pointer.type.pointee(), call.rangeOf(1));
  value = followPointer(call, 1, value, address->pointer);
  if (value.isError())
    return {};
  StoreOp::create(sema.builder, sema.location(call.range), address->pointer.value, value.value, address->mask.value,
                  *cache, *evict);
  return SymValue::makeConstant(NoneValue{});
}

SymValue emitLoad(Emitter &sema, BuiltinCall &call) {
  if (call[0].kind == SymValue::Kind::BlockPointer)
    return emitBlockLoad(sema, call);
  SymValue pointer = pointerOperand(call);
  if (pointer.isError() || rejectBlockPointerArguments(call, {3, 4}) || !widenPointer(call, pointer))
    return {};
  std::optional<CacheModifier> cache = cacheModifier(call, 5, /*isLoad=*/true);
  std::optional<EvictionPolicy> evict = evictionPolicy(call, 6);
  std::optional<bool> isVolatile = call.flag(7);
  if (!cache || !evict || !isVolatile)
    return {};
  SymValue mask, other;
  if (!call.isNone(1) && (mask = maskOperand(call, 1, pointer)).isError())
    return {};
  if (!call.isNone(2)) {
    if (call.isNone(1))
      return sema.error(Diag::other_without_mask, call.rangeOf(2));
    DType element = pointer.type.pointee();
    other = call[2].isConstant() && isNumber(call[2].constant) && element.isFloat()
                ? sema.makeNumber(call[2].constant, element, call.rangeOf(2))
                : sema.cast(call.tensor(2), element, call.rangeOf(2));
    if ((other = followPointer(call, 2, other, pointer)).isError())
      return {};
  }
  Type type = getPointeeValueType(pointer.value.getType());
  mlir::Value result = LoadOp::create(sema.builder, sema.location(call.range), type, pointer.value, mask.value,
                                      other.value, *cache, *evict, *isVolatile);
  return SymValue::makeTensor(result, pointer.type.pointee());
}

/// Warns of a constant that the stored integer type cannot represent, signed or unsigned.
static void warnStoredConstant(Emitter &sema, BuiltinCall &call, DType element) {
  if (!call[1].isConstant() || !isNumber(call[1].constant) || !element.isInt() || element.isBool() ||
      element.bits() >= 64)
    return;
  const std::optional<double> number = asDouble(call[1].constant);
  const double half = std::ldexp(1.0, static_cast<int>(element.bits()) - 1);
  if (number && (*number < -half || *number >= 2 * half || *number != std::trunc(*number)))
    sema.warn(Diag::stored_constant, call.rangeOf(1), {str(call[1].constant), toString(element)});
}

SymValue emitStore(Emitter &sema, BuiltinCall &call) {
  if (call[0].kind == SymValue::Kind::BlockPointer)
    return emitBlockStore(sema, call);
  SymValue pointer = pointerOperand(call);
  if (pointer.isError() || rejectBlockPointerArguments(call, {3}))
    return {};
  if (pointer.type.isConst)
    return sema.error(Diag::store_const, call.rangeOf(0));
  std::optional<CacheModifier> cache = cacheModifier(call, 4, /*isLoad=*/false);
  std::optional<EvictionPolicy> evict = evictionPolicy(call, 5);
  if (!cache || !evict)
    return {};
  DType element = pointer.type.pointee();
  warnStoredConstant(sema, call, element);
  SymValue value = call[1].isConstant() && isNumber(call[1].constant) && element.isFloat()
                       ? sema.makeNumber(call[1].constant, element, call.rangeOf(1))
                       : sema.cast(call.tensor(1), element, call.rangeOf(1));
  value = followPointer(call, 1, value, pointer);
  SymValue mask;
  if (value.isError() || (!call.isNone(2) && (mask = maskOperand(call, 2, pointer)).isError()))
    return {};
  StoreOp::create(sema.builder, sema.location(call.range), pointer.value, value.value, mask.value, *cache, *evict);
  return SymValue::makeConstant(NoneValue{});
}

} // namespace tile::frontend
