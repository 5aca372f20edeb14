// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits on the compile-time growth of a kernel, and messages, which have notes about the calls that lead to their
// position.
//
// Helpers and unrolled loops are copied at each use, and tuples and strings can double with each line, so ten lines can
// exceed the capacity of any machine. The limits count work rather than time, so that a program compiles everywhere or
// nowhere.

#include "Frontend/Sema/Part.h"

#include <filesystem>

using namespace mlir;

namespace tile::frontend {

namespace {

/// Maximum numbers of nested elements of a tuple and of characters of a string. Real shapes and arguments have tens.
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

/// Returns the innermost calls, which explain a message in a helper. Deep recursion needs no more of them.
std::vector<std::pair<SourceRange, std::string>> Session::callsAround() const {
  constexpr size_t maxCalls = 5;
  std::vector<std::pair<SourceRange, std::string>> calls;
  for (auto frame = frames.rbegin(); frame != frames.rend() && calls.size() < maxCalls; ++frame)
    if (!frame->function->name.empty()) // statements of a module have no function
      calls.emplace_back(frame->call, frame->function->name);
  return calls;
}

SymValue Session::error(Diag id, SourceRange range, const std::vector<std::string> &arguments,
                        std::optional<std::pair<SourceRange, std::string>> note) {
  auto builder = diagnostics.report(id, range, arguments);
  if (note)
    builder.note(note->first, note->second);
  for (const auto &[call, function] : callsAround())
    builder.note(call, "in '" + function + "' called here");
  return {};
}

DiagnosticEngine::Builder Session::warn(Diag id, SourceRange range, const std::vector<std::string> &arguments) {
  auto builder = diagnostics.report(id, range, arguments);
  for (const auto &[call, function] : callsAround())
    builder.note(call, "in '" + function + "' called here");
  return builder;
}

mlir::Location Session::location(SourceRange range) {
  LineColumn place = diagnostics.locate(range);
  const std::string &name = diagnostics.file(range.file).name;
  // Debuggers resolve the line table of a cubin from another working directory, so paths are absolute.
  std::error_code failed;
  std::filesystem::path path =
      name.starts_with('<') ? std::filesystem::path(name) : std::filesystem::absolute(name, failed);
  mlir::Location here =
      FileLineColLoc::get(&emitter.context, failed ? name : path.lexically_normal().string(), place.line, place.column);
  return frames.empty() ? here : mlir::Location(CallSiteLoc::get(here, frames.back().caller));
}

/// Counts work. Returns false if the limit is exceeded, which is reported once.
bool Session::charge(size_t amount, SourceRange range) {
  work += amount;
  if (emitter.counter.instructions > request.maxInstructions) {
    if (!exhausted)
      error(Diag::too_much_code, range,
            {std::to_string(request.maxInstructions), std::to_string(emitter.counter.threads)});
    exhausted = true;
    return false;
  }
  if (work + emitter.counter.operations <= request.maxWork)
    return true;
  if (!exhausted)
    error(Diag::too_much_work, range, {std::to_string(request.maxWork)});
  exhausted = true;
  return false;
}

/// Returns the value, or reports an error if `times` copies of it are too large.
SymValue Session::limitSize(SymValue value, SourceRange range, size_t times) {
  if (const SymValue *block = findTooLarge(value))
    return error(Diag::too_many_elements, range, {describe(*block), std::to_string(maxBlockElements)});
  bool isText = value.isConstant() && std::holds_alternative<std::string>(value.constant);
  if (!value.isTuple() && value.elements.empty() && !isText)
    return value;
  size_t size = sizeOf(value), most = host ? PythonContext::mostElements : maxValueSize;
  if (size - 1 > most || times > most / size + 1)
    return error(Diag::value_too_large, range,
                 {isText ? "string" : "tuple", std::to_string(isText ? maxTextSize : most),
                  isText ? "characters" : "elements, including those of nested tuples"});
  return charge(size / 8, range) ? value : SymValue();
}

} // namespace tile::frontend
