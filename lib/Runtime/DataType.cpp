// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Table of the data types, with one row for each type.
#include "Runtime/DataType.h"

#include <array>
#include <limits>

namespace tile::runtime {
namespace {

struct Row {
  std::string_view name;
  unsigned size;
};

// In the order of the enumeration.
constexpr std::array<Row, 15> rows = {{{"i1", 1},
                                       {"i8", 1},
                                       {"i16", 2},
                                       {"i32", 4},
                                       {"i64", 8},
                                       {"u8", 1},
                                       {"u16", 2},
                                       {"u32", 4},
                                       {"u64", 8},
                                       {"f16", 2},
                                       {"bf16", 2},
                                       {"f32", 4},
                                       {"f64", 8},
                                       {"f8e4m3", 1},
                                       {"f8e5m2", 1}}};

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
  if (isSignedType(type))
    return {-(WideInteger(1) << (bits - 1)), (WideInteger(1) << (bits - 1)) - 1};
  return {0, (WideInteger(1) << bits) - 1};
}

} // namespace tile::runtime
