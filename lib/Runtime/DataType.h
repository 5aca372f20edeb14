// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element and scalar types of kernel parameters, as spelled in the manifest: `f16`, `i32`, `ptr<f8e4m3>`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tile::runtime {

/// Integers, then floats.
enum class DataType { I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, F8E4M3, F8E5M2 };

std::string_view dataTypeName(DataType type);
std::optional<DataType> parseDataType(std::string_view name);

/// Returns the size in memory and as a kernel argument; i1 occupies one byte.
unsigned dataTypeSize(DataType type);
constexpr bool isFloatType(DataType type) {
  return type >= DataType::F16;
}
constexpr bool isSignedType(DataType type) {
  return type != DataType::I1 && (type < DataType::U8 || type > DataType::U64);
}

/// Holds the values of i64 and u64, and results of arithmetic on them.
using WideInteger = __int128;

/// The smallest and largest value of an integer type.
struct IntegerRange {
  WideInteger lowest = 0;
  WideInteger highest = 0;
};
IntegerRange integerRange(DataType type);

} // namespace tile::runtime
