// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits for compile-time growth of a kernel. Helpers and unrolled loops are copied at each use, and tuples and strings
// can double with each line, so ten lines can exceed the capacity of any machine. The limits count work rather than
// time, so that a program compiles everywhere or nowhere.
#include "Frontend/Sema/HostReader.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Nested elements of a tuple, and characters of a string: shapes and arguments have tens.
constexpr size_t maxValueSize = 4096, maxTextSize = 65536;
constexpr size_t textPerElement = maxTextSize / maxValueSize;

/// Returns a block that exceeds the maximum number of elements; null if there is none.
const SymValue *findTooLarge(const SymValue &value) {
  if (value.isBlock())
    return ShapedType::getNumElements(value.shape()) > maxBlockElements ? &value : nullptr;
  for (const SymValue &element : value.elements)
    if (const SymValue *found = findTooLarge(element))
      return found;
  return nullptr;
}

size_t sizeOf(const SymValue &value) {
  const auto *text = value.isConstant() ? std::get_if<std::string>(&value.constant) : nullptr;
  size_t size = text ? 1 + text->size() / textPerElement : 1;
  for (const SymValue &element : value.elements)
    size += sizeOf(element);
  return size;
}

} // namespace

/// Counts work. Returns false if the limit is exceeded, which is reported once.
bool ModuleSema::charge(size_t amount, SourceRange range) {
  work += amount;
  if (counter.instructions > request.maxInstructions) {
    if (!exhausted)
      error(Diag::too_much_code, range, {std::to_string(request.maxInstructions), std::to_string(counter.threads)});
    exhausted = true;
    return false;
  }
  if (work + counter.operations <= request.maxWork)
    return true;
  if (!exhausted)
    error(Diag::too_much_work, range, {std::to_string(request.maxWork)});
  exhausted = true;
  return false;
}

/// Reports a block that a thread must hold while it is reduced, because it is used afterwards, too. A thread has 255
/// registers: of 1024 elements most are spilled and ptxas takes half a minute, for 2048 it takes three.
bool ModuleSema::checkHeldBlocks(KernelOp kernel, SourceRange name) {
  constexpr int64_t mostPerThread = 1024, mostThreads = 1024;
  const int64_t threads = counter.threads;
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    if (!isa<ReduceOp, ScanOp>(op))
      return;
    for (mlir::Value operand : op->getOperands())
      if (auto block = dyn_cast<RankedTensorType>(operand.getType()))
        if (!found && block.getNumElements() > mostPerThread * threads && !operand.hasOneUse())
          found = op;
  });
  if (!found)
    return true;
  const int64_t elements = cast<RankedTensorType>(found->getOperand(0).getType()).getNumElements();
  if (auto place = dyn_cast<FileLineColLoc>(found->getLoc())) // otherwise in a helper
    name = diagnostics.characterAt(module.file, {place.getLine(), place.getColumn()});
  error(Diag::held_elements, name,
        {std::to_string(elements), std::to_string(elements / threads), std::to_string(threads),
         std::to_string(mostPerThread),
         elements <= mostPerThread * mostThreads ? "more warps, or a loop over smaller blocks"
                                                 : "a loop over smaller blocks"});
  return false;
}

/// Returns the value, or an error if it is too large when repeated 'times'.
SymValue ModuleSema::limitSize(SymValue value, SourceRange range, size_t times) {
  if (const SymValue *block = findTooLarge(value))
    return error(Diag::too_many_elements, range, {describe(*block), std::to_string(maxBlockElements)});
  bool isText = value.isConstant() && std::holds_alternative<std::string>(value.constant);
  if (!value.isTuple() && value.elements.empty() && !isText)
    return value;
  size_t size = sizeOf(value), most = host ? mostElements : maxValueSize;
  if (size - 1 > most || times > most / size + 1)
    return error(Diag::value_too_large, range,
                 {isText ? "string" : "tuple", std::to_string(isText ? maxTextSize : most),
                  isText ? "characters" : "elements, including those of nested tuples"});
  return charge(size / 8, range) ? value : SymValue();
}

} // namespace tile::frontend
