// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Table of the data types; everything about a type is one row.
#include "Runtime/DataType.h"

#include <array>
#include <limits>

namespace tile::runtime {
namespace {

struct Row {
  std::string_view name;
  unsigned size;
  bool isFloat;
  bool isSigned;
};

// In the order of the enumeration.
constexpr std::array<Row, 15> rows = {{{"i1", 1, false, false},
                                       {"i8", 1, false, true},
                                       {"i16", 2, false, true},
                                       {"i32", 4, false, true},
                                       {"i64", 8, false, true},
                                       {"u8", 1, false, false},
                                       {"u16", 2, false, false},
                                       {"u32", 4, false, false},
                                       {"u64", 8, false, false},
                                       {"f16", 2, true, true},
                                       {"bf16", 2, true, true},
                                       {"f32", 4, true, true},
                                       {"f64", 8, true, true},
                                       {"f8e4m3", 1, true, true},
                                       {"f8e5m2", 1, true, true}}};

const Row &rowOf(DataType type) {
  return rows[static_cast<size_t>(type)];
}

} // namespace

std::string_view dataTypeName(DataType type) {
  return rowOf(type).name;
}
unsigned dataTypeSize(DataType type) {
  return rowOf(type).size;
}
bool isFloatType(DataType type) {
  return rowOf(type).isFloat;
}
bool isSignedType(DataType type) {
  return rowOf(type).isSigned;
}

std::optional<DataType> parseDataType(std::string_view name) {
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name)
      return static_cast<DataType>(i);
  return std::nullopt;
}

IntegerRange integerRange(DataType type) {
  if (type == DataType::I1)
    return {0, 1};
  const unsigned bits = dataTypeSize(type) * 8;
  if (bits == 64)
    return {isSignedType(type) ? std::numeric_limits<int64_t>::min() : 0, std::numeric_limits<int64_t>::max()};
  if (isSignedType(type))
    return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
  return {0, (int64_t(1) << bits) - 1};
}

} // namespace tile::runtime
