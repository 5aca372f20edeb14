// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds visible variables by dominance, and formats values.
#include "Interpreter/DebugInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;

namespace tile::interp {

std::vector<StackFrame> DebugInfo::stackOf(Operation *op) const {
  std::vector<StackFrame> stack;
  Location location = op->getLoc();
  while (true) {
    auto call = dyn_cast<CallSiteLoc>(location);
    Location callee = call ? call.getCallee() : location;
    if (auto file = callee->findInstanceOf<FileLineColLoc>())
      stack.push_back({file.getFilename().str(), file.getLine(), file.getColumn(),
                       call ? Attribute(call.getCaller()) : Attribute()});
    if (!call)
      return stack;
    location = call.getCaller();
  }
}

std::string DebugInfo::explainMissing(double line) const {
  if (llvm::any_of(codeLines, [&](unsigned codeLine) { return codeLine == line; }))
    return "";
  auto next = llvm::find_if(codeLines, [&](unsigned codeLine) { return codeLine > line; });
  std::string text = llvm::formatv("line {0} has no code", llvm::format("%.15g", line));
  return next == codeLines.end() ? text : text + "; the next line with code is " + std::to_string(*next);
}

std::string DebugInfo::functionOf(const StackFrame &frame) const {
  return frame.key ? functions.lookup(frame.key) : kernel;
}

/// Returns true if `first` has been executed when execution is before `op` or, with `isAfter`, after it.
static bool isReached(Operation *first, mlir::Block *block, Operation *op, bool isAfter) {
  Operation *ancestor = block->findAncestorOpInBlock(*op);
  if (!ancestor)
    return false;
  return !first || first->isBeforeInBlock(ancestor) || (isAfter && first == ancestor && ancestor == op);
}

static bool isVisible(const Variable &variable, Operation *op, bool isAfter) {
  Value value = variable.value;
  if (value && !isReached(value.getDefiningOp(), value.getParentBlock(), op, isAfter))
    return false;
  return !variable.block || isReached(variable.after, variable.block, op, isAfter);
}

const Variable *DebugInfo::find(Operation *op, Attribute frame, StringRef name, bool isAfter) const {
  for (const Variable &variable : llvm::reverse(variables))
    if (variable.frame == frame && variable.name == name && isVisible(variable, op, isAfter))
      return &variable;
  return nullptr;
}

std::vector<const Variable *> DebugInfo::visible(Operation *op, Attribute frame) const {
  std::map<StringRef, const Variable *> byName;
  for (const Variable &variable : variables)
    if (variable.frame == frame && isVisible(variable, op, /*isAfter=*/false))
      byName[variable.name] = &variable;
  std::vector<const Variable *> found;
  for (const auto &[name, variable] : byName)
    found.push_back(variable);
  return found;
}

static std::string elementType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOf(type);
  StringRef name = text;
  name.consume_front("!tile."); // ptr<f32>
  return name.str();
}

static SmallVector<int64_t> shapeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? llvm::to_vector(tensor.getShape()) : SmallVector<int64_t>();
}

std::string typeOf(const Variable &variable) {
  if (!variable.value)
    return "";
  std::string text = elementType(variable.value.getType());
  if (variable.isUnsigned && text.front() == 'i')
    text = "u" + text.substr(1);
  SmallVector<int64_t> shape = shapeOf(variable.value);
  return shape.empty() ? text : llvm::formatv("{0}[{1:$[, ]}]", text, llvm::make_range(shape.begin(), shape.end()));
}

using PrintOne = llvm::function_ref<void(int64_t element)>;

static void printOne(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable, int64_t element) {
  Slot slot = machine.code.slots.lookup(variable.value);
  if (slot.kind == Kind::Descriptor) {
    stream << "a descriptor of buffer '" << machine.buffers[machine.at<Descriptor>(slot.offset)->buffer].name << '\'';
  } else {
    printNumber(stream, machine, slot, element, /*hex=*/false, variable.isUnsigned);
  }
}

/// Prints the elements from `first` on, in nested brackets.
static void printNested(llvm::raw_ostream &stream, ArrayRef<int64_t> shape, int64_t first, PrintOne print) {
  if (shape.empty())
    return print(first);
  // Print as many elements of a dimension as fit on a line; if it has more, print only the ends.
  constexpr int64_t maxElements = 8, shownAtEnds = 3;
  int64_t step = llvm::product_of(shape.drop_front());
  stream << '[';
  for (int64_t i = 0; i < shape.front(); ++i) {
    if (shape.front() > maxElements && i == shownAtEnds) {
      stream << "..., ";
      i = shape.front() - shownAtEnds;
    }
    printNested(stream, shape.drop_front(), first + i * step, print);
    stream << (i + 1 < shape.front() ? ", " : "");
  }
  stream << ']';
}

void printValues(llvm::raw_ostream &stream, const ValueArray &values) {
  printNested(stream, values.shape, 0,
              [&](int64_t element) { stream << llvm::format("%.9g", values.values[element]); });
}

void printValue(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable) {
  if (variable.value)
    printNested(stream, shapeOf(variable.value), 0,
                [&](int64_t element) { printOne(stream, machine, variable, element); });
  else
    stream << variable.constant;
}

bool printElement(llvm::raw_ostream &stream, const Machine &machine, const Variable &variable,
                  ArrayRef<int64_t> index) {
  SmallVector<int64_t> shape = variable.value ? shapeOf(variable.value) : SmallVector<int64_t>();
  if (shape.size() != index.size())
    return false;
  int64_t element = 0;
  for (auto [size, position] : llvm::zip(shape, index)) {
    if (position < 0 || position >= size)
      return false;
    element = element * size + position;
  }
  printOne(stream, machine, variable, element);
  return true;
}

std::optional<ValueArray> valuesOf(const Machine &machine, const Variable &variable) {
  ValueArray values;
  if (variable.value)
    values.shape = shapeOf(variable.value);
  for (int64_t element = 0; element < llvm::product_of(values.shape); ++element) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (variable.value)
      printOne(stream, machine, variable, element);
    else
      stream << variable.constant;
    if (text == "True" || text == "False")
      values.values.push_back(text == "True");
    else if (StringRef(text).getAsDouble(values.values.emplace_back()))
      return std::nullopt;
  }
  return values;
}

std::optional<double> numberOf(const Machine &machine, const Variable &variable) {
  if (variable.value && !shapeOf(variable.value).empty())
    return std::nullopt;
  std::optional<ValueArray> number = valuesOf(machine, variable);
  return number ? std::optional(number->values.front()) : std::nullopt;
}

} // namespace tile::interp
