// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of a launch as seen by the manifest's integer expressions. Reading and evaluation do not allocate.
#pragma once

#include "Runtime/DataType.h"
#include "Runtime/Expression.h"

#include <array>
#include <cstring>
#include <optional>

struct tile_kernel;

namespace tile::runtime {

template <typename T> T readAs(const void *argument) {
  T value;
  std::memcpy(&value, argument, sizeof(T));
  return value;
}

/// Returns the value of an integer argument. A u64 above the range of i64 becomes negative; see evaluate.
inline int64_t readInteger(DataType type, const void *argument) {
  switch (type) {
  case DataType::I8:
    return readAs<int8_t>(argument);
  case DataType::I16:
    return readAs<int16_t>(argument);
  case DataType::I32:
    return readAs<int32_t>(argument);
  case DataType::I1:
  case DataType::U8:
    return readAs<uint8_t>(argument);
  case DataType::U16:
    return readAs<uint16_t>(argument);
  case DataType::U32:
    return readAs<uint32_t>(argument);
  default:
    return readAs<int64_t>(argument);
  }
}

/// Slot i is the value of parameter i if it is an integer; the last slot is num_sms. See expressionNames.
struct ArgumentSlots {
  std::array<int64_t, TILE_MAX_PARAMETERS + 1> values;
};

/// Reads the slots. `arguments` holds a pointer to each argument, as for cuLaunchKernel.
ArgumentSlots readSlots(const tile_kernel &kernel, void *const *arguments, int multiprocessors);

/// Evaluates an expression. On failure returns nullopt and sets the thread's last error to `code`, with a message that
/// calls the expression `what`.
std::optional<int64_t> evaluate(const tile_kernel &kernel, const Expression &expression, const ArgumentSlots &slots,
                                tile_status code, std::string_view what);

} // namespace tile::runtime
