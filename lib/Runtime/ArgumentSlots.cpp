// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the argument slots of a kernel and evaluates its expressions.
#include "Runtime/ArgumentSlots.h"

#include "Runtime/ErrorState.h"
#include "Runtime/Kernel.h"

namespace tile::runtime {

ArgumentSlots readSlots(const tile_kernel &kernel, void *const *arguments, int multiprocessors) {
  ArgumentSlots slots; // left uninitialized for pointers and floats, which expressions do not read
  const size_t count = kernel.checks.size();
  for (size_t i = 0; i < count; ++i) {
    const ParameterCheck &check = kernel.checks[i];
    if (!check.isPointer && !isFloatType(check.type))
      slots.values[i] = readInteger(check.type, arguments[i]);
  }
  slots.values[count] = multiprocessors;
  return slots;
}

std::optional<int64_t> evaluate(const tile_kernel &kernel, const Expression &expression, const ArgumentSlots &slots,
                                tile_status code, std::string_view what) {
  const size_t count = kernel.checks.size();
  if (const std::optional<unsigned> slot = expression.loadedSlot();
      slot && (*slot == count || kernel.checks[*slot].type != DataType::U64))
    return slots.values[*slot];
  for (unsigned slot : expression.usedSlots())
    if (slot < count && kernel.checks[slot].type == DataType::U64 && slots.values[slot] < 0) {
      reportError(code, "parameter '{}' is too large for the {} expression '{}'",
                  kernel.artifact.manifest.parameters[slot].name, what, expression.text());
      return std::nullopt;
    }
  const Evaluation evaluation = expression.evaluate({slots.values.data(), count + 1});
  if (evaluation.error == EvaluationError::None)
    return evaluation.value;
  reportError(code, "{} expression '{}': {}", what, expression.text(), evaluationErrorText(evaluation.error));
  return std::nullopt;
}

} // namespace tile::runtime
