// Structure of symbolic values: flattening across region boundaries, comparison, description.

#include "Frontend/SemaValue.h"

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
  case SymValue::Kind::Tuple:
    return "a tuple of " + std::to_string(value.elements.size());
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

bool compare(const SymValue &a, const SymValue &b, bool wholeValue) {
  if (a.kind != b.kind || a.elements.size() != b.elements.size())
    return false;
  switch (a.kind) {
  case SymValue::Kind::Error:
    return true;
  case SymValue::Kind::Constant:
    return a.constant.index() == b.constant.index() && a.constant == b.constant;
  case SymValue::Kind::BlockType:
    return a.type == b.type && a.dims == b.dims;
  case SymValue::Kind::Descriptor:
    if (wholeValue ? a.value != b.value : a.value.getType() != b.value.getType() || a.type != b.type)
      return false;
    break;
  case SymValue::Kind::Tensor:
    return wholeValue ? a.value == b.value : a.value.getType() == b.value.getType() && a.type == b.type;
  case SymValue::Kind::BlockPointer:
    if (a.type != b.type || a.dims != b.dims)
      return false;
    break;
  case SymValue::Kind::Arguments:
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

} // namespace tile::frontend
