// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and subscripts: tensor.dtype, x[:, None], tuples by constant index.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Sema/Classes.h"
#include "Frontend/Sema/Evaluator.h"
#include "Frontend/Sema/HostReader.h"
#include "Frontend/Sema/ModuleNames.h"
#include "Frontend/Sema/Signature.h"
#include "Frontend/Syntax/Literals.h"

using namespace mlir;

namespace tile::frontend {

/// Returns max, min, eps or tiny of an element type.
static std::optional<Value> limitOf(DType type, std::string_view name) {
  if (type.isInt()) {
    if (name == "max" || name == "min")
      return Value(name == "max" ? maxValue(type) : minValue(type));
    return std::nullopt;
  }
  struct Limits {
    Scalar scalar;
    double max, eps, tiny;
  };
  constexpr Limits all[] = {
      {Scalar::Float8E4M3, 448, 0x1p-3, 0x1p-6},
      {Scalar::Float8E5M2, 57344, 0x1p-2, 0x1p-14},
      {Scalar::Float8E4B15, 1.875, 0x1p-3, 0x1p-14},
      {Scalar::Float16, 65504, 0x1p-10, 0x1p-14},
      {Scalar::BFloat16, 0x1.FEp127, 0x1p-7, 0x1p-126},
      {Scalar::Float32, 0x1.FFFFFEp127, 0x1p-23, 0x1p-126},
      {Scalar::Float64, 0x1.FFFFFFFFFFFFFp1023, 0x1p-52, 0x1p-1022},
  };
  for (const Limits &limits : all) {
    if (!type.is(limits.scalar))
      continue;
    if (name == "max" || name == "min")
      return Value(name == "max" ? limits.max : -limits.max);
    if (name == "eps")
      return Value(limits.eps);
    if (name == "tiny" || name == "smallest_normal")
      return Value(limits.tiny);
  }
  return std::nullopt;
}

/// Returns the builtin as a method of the value.
static SymValue methodOf(const SymValue &value, const BuiltinInfo *builtin) {
  SymValue method;
  method.kind = SymValue::Kind::Method;
  method.constant = builtin;
  method.elements = {value};
  return method;
}

/// Returns a method of a Python value, or a member function of a type or of a function: float.fromhex,
/// chain.from_iterable.
static std::optional<SymValue> memberOfPython(const SymValue &value, const std::string &name) {
  if (std::string_view prefix = methodPrefix(value); !prefix.empty()) {
    const BuiltinInfo *method = findBuiltin(std::string(prefix) + "." + name);
    return method ? std::optional(methodOf(value, method)) : std::nullopt;
  }
  const auto *type = value.isConstant() ? std::get_if<TypeNameValue>(&value.constant) : nullptr;
  const auto *function = value.isConstant() ? std::get_if<const BuiltinInfo *>(&value.constant) : nullptr;
  std::string owner = type ? "types." + type->name : function ? std::string((*function)->name) : "";
  const BuiltinInfo *member = owner.empty() ? nullptr : findBuiltin(owner + "." + name);
  return member ? std::optional(SymValue::makeConstant(member)) : std::nullopt;
}

SymValue Evaluator::attributeOf(const SymValue &value, const AttributeExpr &expr) {
  if (value.isError())
    return {};
  if (std::optional<SymValue> member = sema.classes.memberOf(value, expr.attribute, expr.range))
    return *member;
  if (value.isConstant()) {
    if (const auto *space = std::get_if<NamespaceValue>(&value.constant))
      return sema.names.lookupAttribute(*space, expr.attribute, expr.range);
    // constexpr.value is the plain Python value.
    if (expr.attribute == "value" && !std::holds_alternative<NamespaceValue>(value.constant))
      return value;
    if (const auto *type = std::get_if<DType>(&value.constant); type && expr.attribute != "type")
      return attributeOfType(*type, expr);
  }
  if (expr.attribute == "type")
    if (std::optional<SymValue> type = typeOf(value))
      return *type;
  if (value.isTuple() && expr.attribute == "values")
    return value;
  if (value.kind == SymValue::Kind::ConstantType && expr.attribute == "value")
    return value.elements.front();
  if (value.kind == SymValue::Kind::Configuration && host)
    if (std::optional<SymValue> member = host->memberOf(value, expr.attribute))
      return *member;
  if (std::optional<SymValue> member = memberOfPython(value, expr.attribute))
    return *member;
  const auto *named = value.isConstant() ? std::get_if<TypeNameValue>(&value.constant) : nullptr;
  constexpr StringLiteral limitsOf = "limits of ";
  if (named && StringRef(named->name).starts_with(limitsOf))
    if (std::optional<DType> type = dtypeByName(StringRef(named->name).substr(limitsOf.size()).str()))
      if (std::optional<Value> limit = limitOf(*type, expr.attribute))
        return SymValue::makeConstant(*limit);
  if (value.kind == SymValue::Kind::BlockType) {
    if (expr.attribute == "block_type")
      return value;
    if (expr.attribute == "element_ty" || expr.attribute == "scalar")
      return SymValue::makeConstant(value.type);
    if (expr.attribute == "shape") {
      std::vector<SymValue> sizes;
      for (int64_t size : value.dims)
        sizes.push_back(SymValue::makeConstant(Int128(size)));
      return SymValue::makeTuple(std::move(sizes));
    }
    return attributeOfType(value.type, expr);
  }
  if (value.isTensor())
    return attributeOfTensor(value, expr);
  if (value.kind == SymValue::Kind::Descriptor) {
    if (expr.attribute == "dtype")
      return SymValue::makeConstant(value.type);
    if (expr.attribute == "shape" || expr.attribute == "strides")
      return value.elements[expr.attribute == "strides"];
    if (expr.attribute == "type" || expr.attribute == "block_type") {
      SymValue type;
      type.kind = SymValue::Kind::BlockType;
      type.type = value.type;
      ArrayRef<int64_t> sizes = llvm::cast<DescType>(value.value.getType()).getShape();
      type.dims.assign(sizes.begin(), sizes.end());
      return type;
    }
    if (expr.attribute == "block_shape") {
      std::vector<SymValue> sizes;
      for (int64_t size : llvm::cast<DescType>(value.value.getType()).getShape())
        sizes.push_back(SymValue::makeConstant(Int128(size)));
      return SymValue::makeTuple(std::move(sizes));
    }
  }
  if (value.kind == SymValue::Kind::BlockPointer && (expr.attribute == "dtype" || expr.attribute == "type"))
    return SymValue::makeConstant(value.type);
  return error(Diag::no_attribute, expr.attributeRange, {describe(value), expr.attribute},
               originOf(*expr.value, value));
}

SymValue Evaluator::attributeOfTensor(const SymValue &value, const AttributeExpr &expr) {
  const std::string &name = expr.attribute;
  if (name == "dtype")
    return SymValue::makeConstant(value.type);
  if (name == "type") {
    if (value.isScalar())
      return SymValue::makeConstant(value.type);
    SymValue type;
    type.kind = SymValue::Kind::BlockType;
    type.type = value.type;
    type.dims.assign(value.shape().begin(), value.shape().end());
    return type;
  }
  if (name == "shape") {
    std::vector<SymValue> sizes;
    for (int64_t size : value.shape())
      sizes.push_back(SymValue::makeConstant(Int128(size)));
    return SymValue::makeTuple(std::move(sizes));
  }
  if (name == "numel")
    return SymValue::makeConstant(Int128(ShapedType::getNumElements(value.shape())));
  if (name == "T") {
    if (value.shape().size() != 2)
      return error(Diag::transpose_rank, expr.range, {describe(value)});
    return emitter.permute(value, {1, 0}, expr.range);
  }
  if (const BuiltinInfo *method = findBuiltin(name); method && (method->flags & Method))
    return methodOf(value, method);
  return error(Diag::no_attribute, expr.attributeRange, {describe(value), name}, sema.signature.tupleHint(value));
}

SymValue Evaluator::attributeOfType(DType type, const AttributeExpr &expr) {
  const std::string &name = expr.attribute;
  if (name == "element_ty")
    return SymValue::makeConstant(type.isPointer ? type.pointee() : type);
  if (name == "scalar" || name == "dtype")
    return SymValue::makeConstant(type);
  if (name == "primitive_bitwidth")
    return SymValue::makeConstant(Int128(type.bits()));
  if (name == "itemsize")
    return SymValue::makeConstant(Int128((type.bits() + 7) / 8));
  if (name == "int_bitwidth" && type.isInt())
    return SymValue::makeConstant(Int128(type.bits()));
  if (name == "name")
    return SymValue::makeConstant(toString(type));
  return error(Diag::no_attribute, expr.attributeRange, {"the type " + toString(type), name});
}

SymValue Evaluator::evaluateSubscript(const SubscriptExpr &expr) {
  SymValue value = evaluate(*expr.value);
  if (value.isError())
    return {};
  if (value.isTensor())
    return indexTensor(value, expr);
  if (value.isTuple())
    return indexTuple(value, expr);
  if (value.kind == SymValue::Kind::Arguments) {
    const auto *key = as<StringExpr>(expr.index);
    auto found = key ? llvm::find(value.names, key->value) : value.names.end();
    if (found != value.names.end())
      return value.elements[static_cast<size_t>(found - value.names.begin())];
  }
  if (value.kind == SymValue::Kind::Dictionary)
    return lookupKey(value, expr);
  if (const auto *text = value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr)
    return indexText(*text, expr);
  if (value.kind == SymValue::Kind::Object) {
    SymValue index = evaluate(*expr.index);
    if (index.isError())
      return {};
    if (std::optional<SymValue> item = sema.classes.callSpecial(value, "__getitem__", {index}, expr.range))
      return *item;
  }
  return error(Diag::not_subscriptable, expr.range, {describe(value)}, originOf(*expr.value, value));
}

/// Evaluates x[:, None]: ':' keeps a dimension, and None inserts one of size 1. Dimensions without an index are kept.
SymValue Evaluator::indexTensor(const SymValue &value, const SubscriptExpr &expr) {
  std::vector<const Expr *> items{expr.index};
  if (const auto *tuple = as<TupleExpr>(expr.index))
    items = tuple->elements;
  SymValue result = value;
  size_t kept = 0;
  int64_t axis = 0;
  for (const Expr *item : items) {
    const auto *slice = as<SliceExpr>(item);
    auto isAbsent = [](const Expr *bound) { return !bound || bound->kind == ExprKind::None; };
    bool isFull = slice && isAbsent(slice->lower) && isAbsent(slice->upper) && isAbsent(slice->step);
    bool isNew = item->kind == ExprKind::None;
    if (!isFull && !isNew) {
      SymValue index = slice ? SymValue() : evaluate(*item);
      if (!slice && index.isError())
        return {};
      isNew = index.isNoneValue();
      if (value.type.isPointer && !slice && !isNew && !index.isConstant()) // a constant index selects from a tuple
        return error(Diag::pointer_index, item->range, {unparse(*expr.value), describe(value), unparse(*item)});
      if (isTile1() && !slice && !isNew) {
        ++kept;
        result = emitter.elementAt(result, static_cast<size_t>(axis), index, item->range);
        if (result.isError())
          return {};
        continue; // the dimension is removed
      }
    }
    if (!isFull && !isNew && value.isScalar() && !slice)
      return error(Diag::scalar_index, item->range, {unparse(*expr.value), describe(value), unparse(*item)},
                   sema.signature.tupleHint(value));
    if (!isFull && !isNew)
      return error(Diag::tensor_subscript, item->range, {unparse(*item)});
    if (isNew)
      result =
          emitter.expandDims(result, std::min<int64_t>(axis, static_cast<int64_t>(result.shape().size())), expr.range);
    kept += isFull ? 1 : 0;
    ++axis;
  }
  // A scalar has no dimension that ':' could keep, so s[None, :] has one dimension.
  if (value.isBlock() && kept > value.shape().size())
    return error(Diag::too_many_subscripts, expr.range, {std::to_string(kept), describe(value)});
  return result;
}

/// Evaluates a subscript of a string, whose characters are strings, too.
SymValue Evaluator::indexText(const std::string &text, const SubscriptExpr &expr) {
  std::vector<SymValue> characters;
  for (std::string_view character : splitCharacters(text))
    characters.push_back(SymValue::makeConstant(std::string(character)));
  SymValue found = indexTuple(SymValue::makeTuple(std::move(characters)), expr);
  if (!found.isTuple())
    return found;
  std::string part;
  for (const SymValue &character : found.elements)
    part += std::get<std::string>(character.constant);
  return SymValue::makeConstant(part);
}

SymValue Evaluator::indexTuple(const SymValue &value, const SubscriptExpr &expr) {
  auto size = static_cast<Int128>(value.elements.size());
  auto evaluateBound = [&](const Expr *bound, Int128 fallback) -> std::optional<Int128> {
    if (!bound)
      return fallback;
    SymValue index = evaluate(*bound);
    std::optional<Int128> number = index.isConstant() ? asInteger(index.constant) : std::nullopt;
    if (!number && !index.isError() && !index.isNoneValue())
      error(Diag::constant_needed, bound->range, {"the index of a tuple", describe(index)});
    if (index.isNoneValue())
      return fallback;
    return number && *number < 0 ? *number + size : number;
  };
  const auto *slice = as<SliceExpr>(expr.index);
  if (!slice) {
    std::optional<Int128> index = evaluateBound(expr.index, -1);
    if (!index)
      return {};
    if (*index < 0 || *index >= size)
      return error(Diag::tuple_index, expr.range, {unparse(*expr.index), std::to_string(value.elements.size())});
    return value.elements[static_cast<size_t>(*index)];
  }
  std::optional<Int128> step = 1;
  if (slice->step) {
    SymValue given = evaluate(*slice->step);
    step = given.isConstant() ? asInteger(given.constant) : std::nullopt;
    if (given.isError())
      return {};
    if (!step || *step == 0)
      return error(Diag::constant_needed, slice->step->range, {"the step of a slice", describe(given)});
  }
  bool isDown = *step < 0;
  std::optional<Int128> lower = evaluateBound(slice->lower, isDown ? size - 1 : 0),
                        upper = evaluateBound(slice->upper, isDown ? -1 : size);
  if (!lower || !upper)
    return {};
  std::vector<SymValue> elements;
  Int128 begin = isDown ? std::min(*lower, size - 1) : std::max<Int128>(*lower, 0);
  Int128 end = isDown ? std::max<Int128>(*upper, -1) : std::min(*upper, size);
  for (Int128 i = begin; isDown ? i > end : i < end; i += *step)
    elements.push_back(value.elements[static_cast<size_t>(i)]);
  return SymValue::makeTuple(std::move(elements));
}

} // namespace tile::frontend
