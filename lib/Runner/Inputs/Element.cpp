// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts elements. 8- and 16-bit floats are decoded through tables, because checking a large result decodes every
// element.
#include "Runner/Inputs/Element.h"

#include "Runtime/FloatFormat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tile::runner {
namespace {

using runtime::decodeFloat;
using runtime::encodeFloat;

template <typename T> T readAs(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T> double loadNumber(const void *element) {
  return static_cast<double>(readAs<T>(element));
}

template <DataType type, typename Bits> double loadSmallFloat(const void *element) {
  static const std::vector<double> table = [] {
    std::vector<double> values(size_t(1) << (8 * sizeof(Bits)));
    for (size_t bits = 0; bits < values.size(); ++bits)
      values[bits] = decodeFloat(type, bits);
    return values;
  }();
  return table[readAs<Bits>(element)];
}

template <typename T> void storeInteger(void *element, double value) {
  constexpr double lowest = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double highest = static_cast<double>(std::numeric_limits<T>::max());
  const double rounded = std::nearbyint(value);
  // `highest` (2^63 or 2^64) is representable in double, but not in T, so the comparison is >=.
  const T result = std::isnan(value)    ? T(0)
                   : rounded >= highest ? std::numeric_limits<T>::max()
                   : rounded <= lowest  ? std::numeric_limits<T>::min()
                                        : static_cast<T>(rounded);
  std::memcpy(element, &result, sizeof(T));
}

void storeBool(void *element, double value) {
  *static_cast<uint8_t *>(element) = value != 0;
}

template <DataType type, typename Bits> void storeFloat(void *element, double value) {
  const Bits bits = static_cast<Bits>(encodeFloat(type, value));
  std::memcpy(element, &bits, sizeof(bits));
}

} // namespace

LoadElement elementLoader(DataType type) {
  switch (type) {
  case DataType::I1:
  case DataType::U8:
    return loadNumber<uint8_t>;
  case DataType::I8:
    return loadNumber<int8_t>;
  case DataType::I16:
    return loadNumber<int16_t>;
  case DataType::I32:
    return loadNumber<int32_t>;
  case DataType::I64:
    return loadNumber<int64_t>;
  case DataType::U16:
    return loadNumber<uint16_t>;
  case DataType::U32:
    return loadNumber<uint32_t>;
  case DataType::U64:
    return loadNumber<uint64_t>;
  case DataType::F32:
    return loadNumber<float>;
  case DataType::F64:
    return loadNumber<double>;
  case DataType::F16:
    return loadSmallFloat<DataType::F16, uint16_t>;
  case DataType::BF16:
    return loadSmallFloat<DataType::BF16, uint16_t>;
  case DataType::F8E4M3:
    return loadSmallFloat<DataType::F8E4M3, uint8_t>;
  case DataType::F8E5M2:
    return loadSmallFloat<DataType::F8E5M2, uint8_t>;
  }
  return nullptr;
}

StoreElement elementStorer(DataType type) {
  switch (type) {
  case DataType::I1:
    return storeBool;
  case DataType::I8:
    return storeInteger<int8_t>;
  case DataType::I16:
    return storeInteger<int16_t>;
  case DataType::I32:
    return storeInteger<int32_t>;
  case DataType::I64:
    return storeInteger<int64_t>;
  case DataType::U8:
    return storeInteger<uint8_t>;
  case DataType::U16:
    return storeInteger<uint16_t>;
  case DataType::U32:
    return storeInteger<uint32_t>;
  case DataType::U64:
    return storeInteger<uint64_t>;
  case DataType::F16:
    return storeFloat<DataType::F16, uint16_t>;
  case DataType::BF16:
    return storeFloat<DataType::BF16, uint16_t>;
  case DataType::F32:
    return storeFloat<DataType::F32, uint32_t>;
  case DataType::F64:
    return storeFloat<DataType::F64, uint64_t>;
  case DataType::F8E4M3:
    return storeFloat<DataType::F8E4M3, uint8_t>;
  case DataType::F8E5M2:
    return storeFloat<DataType::F8E5M2, uint8_t>;
  }
  return nullptr;
}

} // namespace tile::runner
