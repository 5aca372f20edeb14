// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structure of symbolic values: flattening across region boundaries, comparison, description.

#include "Frontend/Values/SymValue.h"

#include <algorithm>
#include <bit>

namespace tile::frontend {

std::string describe(const SymValue &value) {
  switch (value.kind) {
  case SymValue::Kind::Error:
    return "an invalid value";
  case SymValue::Kind::Constant:
    return describe(value.constant);
  case SymValue::Kind::Descriptor:
    return "a tensor descriptor";
  case SymValue::Kind::BlockPointer:
    return "a block pointer";
  case SymValue::Kind::Arguments:
    return "the arguments of the kernel";
  case SymValue::Kind::BlockType:
    return "a block type";
  case SymValue::Kind::ConstantType:
    return "the type of " + describe(value.elements.front());
  case SymValue::Kind::TupleType:
    return "the type of a tuple of " + std::to_string(value.elements.size());
  case SymValue::Kind::Object:
    return "an object of " + value.record->name;
  case SymValue::Kind::Method:
    return "a method of " + describe(value.elements.front());
  case SymValue::Kind::Dictionary:
    return "a dictionary";
  case SymValue::Kind::Configuration:
    return "a configuration";
  case SymValue::Kind::Range:
    return "a range";
  case SymValue::Kind::Tuple:
    return (value.record ? "the named tuple " + value.record->name + " of " : "a tuple of ") +
           std::to_string(value.elements.size());
  case SymValue::Kind::Tensor:
    break;
  }
  std::string text = toString(value.type);
  if (!value.isBlock())
    return text;
  text += '[';
  for (auto [index, size] : llvm::enumerate(value.shape()))
    text += (index == 0 ? "" : ", ") + std::to_string(size);
  return text + "]";
}

/// Describes a value including the elements of tuples and objects.
static std::string describeFully(const SymValue &value) {
  bool isObject = value.kind == SymValue::Kind::Object;
  if (!value.isTuple() && !isObject)
    return describe(value);
  std::string text = isObject ? describe(value) + " with " : value.record ? value.record->name : "";
  text += "(";
  for (auto [index, element] : llvm::enumerate(value.elements)) {
    text += index == 0 ? "" : ", ";
    text += (index < value.names.size() ? value.names[index] + ": " : "") + describeFully(element);
  }
  return text + ")";
}

std::pair<std::string, std::string> describeApart(const SymValue &a, const SymValue &b) {
  std::pair<std::string, std::string> texts{describe(a), describe(b)};
  return texts.first == texts.second ? std::pair(describeFully(a), describeFully(b)) : texts;
}

std::string printed(const SymValue &value) {
  if (value.isConstant())
    return str(value.constant);
  if (!value.isTuple())
    return describe(value);
  std::string text = "(";
  for (auto [index, element] : llvm::enumerate(value.elements))
    text += (index == 0 ? "" : ", ") + (element.isConstant() ? repr(element.constant) : printed(element));
  return text + (value.elements.size() == 1 ? ",)" : ")");
}

void flatten(const SymValue &value, llvm::SmallVectorImpl<mlir::Value> &leaves) {
  if (value.value)
    leaves.push_back(value.value);
  for (const SymValue &element : value.elements)
    flatten(element, leaves);
}

SymValue rebuild(const SymValue &value, llvm::ArrayRef<mlir::Value> &leaves) {
  SymValue out = value;
  if (value.value) {
    out.value = leaves.front();
    leaves = leaves.drop_front();
  }
  for (SymValue &element : out.elements)
    element = rebuild(element, leaves);
  return out;
}

namespace {

/// Returns true for identical constants. Distinguishes zeros by their sign; a NaN equals itself.
bool sameConstant(const Value &a, const Value &b) {
  const double *left = std::get_if<double>(&a), *right = std::get_if<double>(&b);
  if (left && right)
    return std::bit_cast<uint64_t>(*left) == std::bit_cast<uint64_t>(*right);
  return a.index() == b.index() && a == b;
}

bool compare(const SymValue &a, const SymValue &b, bool wholeValue) {
  if (a.kind != b.kind || a.elements.size() != b.elements.size())
    return false;
  // Tuples are equal if their elements are equal. To be joined, they must also have the same names.
  bool isOnlyElements = wholeValue && a.kind != SymValue::Kind::Object;
  if (!isOnlyElements && (a.record != b.record || a.names != b.names))
    return false;
  switch (a.kind) {
  case SymValue::Kind::Error:
    return true;
  case SymValue::Kind::Method:
    if (a.constant != b.constant)
      return false;
    break;
  case SymValue::Kind::Constant:
    return sameConstant(a.constant, b.constant);
  case SymValue::Kind::BlockType:
  case SymValue::Kind::Configuration:
    return a.type == b.type && a.dims == b.dims;
  case SymValue::Kind::Descriptor:
    if (a.type != b.type || (wholeValue ? a.value != b.value : a.value.getType() != b.value.getType()))
      return false;
    break;
  case SymValue::Kind::Tensor:
    // Signed and unsigned integers have the same MLIR type, so equal MLIR values may have different types.
    return a.type == b.type && (wholeValue ? a.value == b.value : a.value.getType() == b.value.getType());
  case SymValue::Kind::BlockPointer:
    if (a.type != b.type || a.dims != b.dims)
      return false;
    break;
  case SymValue::Kind::ConstantType:
  case SymValue::Kind::TupleType:
  case SymValue::Kind::Object:
  case SymValue::Kind::Dictionary:
  case SymValue::Kind::Arguments:
  case SymValue::Kind::Range:
  case SymValue::Kind::Tuple:
    break;
  }
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!compare(a.elements[i], b.elements[i], wholeValue))
      return false;
  return true;
}

} // namespace

bool sameType(const SymValue &a, const SymValue &b) {
  return compare(a, b, false);
}
bool sameValue(const SymValue &a, const SymValue &b) {
  return compare(a, b, true);
}

bool isEqual(const SymValue &a, const SymValue &b) {
  if (a.isConstant() && b.isConstant()) {
    EvalResult equal = evaluate(CompareOp::Eq, a.constant, b.constant);
    return equal.value && std::get<bool>(*equal.value);
  }
  bool isMapping = a.kind == SymValue::Kind::Dictionary && b.kind == SymValue::Kind::Dictionary;
  if (!isMapping && !(a.isTuple() && b.isTuple()))
    return sameValue(a, b);
  if (a.elements.size() != b.elements.size())
    return false;
  if (!isMapping)
    return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), isEqual);
  for (size_t i = 0; i < a.elements.size(); i += 2) {
    bool isFound = false;
    for (size_t j = 0; j < b.elements.size(); j += 2)
      isFound |= isEqual(a.elements[i], b.elements[j]) && isEqual(a.elements[i + 1], b.elements[j + 1]);
    if (!isFound)
      return false;
  }
  return true;
}

std::optional<bool> isLess(const SymValue &a, const SymValue &b) {
  if (a.isConstant() && b.isConstant()) {
    EvalResult less = evaluate(CompareOp::Lt, a.constant, b.constant);
    return less.value ? std::optional(std::get<bool>(*less.value)) : std::nullopt;
  }
  if (!a.isTuple() || !b.isTuple())
    return std::nullopt;
  for (auto [left, right] : llvm::zip(a.elements, b.elements))
    if (!isEqual(left, right))
      return isLess(left, right);
  return a.elements.size() < b.elements.size();
}

std::optional<bool> truthOf(const SymValue &value) {
  if (value.isConstant())
    return truth(value.constant);
  if (value.isTuple() || value.isDictionary())
    return !value.elements.empty();
  return std::nullopt;
}

} // namespace tile::frontend
