// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conditions on a call's arguments under which a variant serves it: the assumptions of the compiler, the parameters
// that it fixed, and the encodability of tensor maps. All conditions are derived from the manifest.
//
//   manifests ─▶ distinct conditions over the parameters of the general variant ─▶ mask of a call: bit i = condition i
//
// Evaluation does not allocate.
#pragma once

#include "Runtime/Manifest.h"

#include <bitset>
#include <cstdint>

namespace tile::runtime {

/// Maximum number of distinct conditions of one artifact.
constexpr size_t maxConditions = 1024;
using ConditionMask = std::bitset<maxConditions>;

struct Condition {
  enum class Kind : uint8_t {
    Alignment,  ///< the pointer in `slot` is a multiple of `divisor`
    Divisor,    ///< the integer in `slot` is a multiple of `divisor`
    Value,      ///< the integer in `slot` is `value`
    MapSize,    ///< `expression`, a dimension of a tensor map of the pointer in `slot`, is in range
    MapStride,  ///< `expression` times `divisor` bytes is a valid stride of a tensor map
    Requirement ///< `expression` is not 0
  };
  Kind kind = Kind::Alignment;
  unsigned slot = 0; ///< parameter of the general variant
  uint64_t divisor = 1;
  int64_t value = 0;
  std::optional<Expression> expression;

  bool operator==(const Condition &) const = default;
};

/// A call as seen by conditions. Slot i is parameter i of the general variant, an address or an integer; the last slot
/// is num_sms.
struct CallSlots {
  std::span<const int64_t> values;
  const Manifest &general;

  /// Returns true if the slots, which are signed, hold the exact values of all parameters that the expression reads.
  /// They cannot hold u64 values of 2^63 or more.
  bool canEvaluate(const Expression &expression) const;
};

bool holds(const Condition &condition, const CallSlots &call);

/// A simplified condition that takes a few instructions to test: the value in `slot` has zeros where `zeros` has ones,
/// and is in the range from `lowest` to `lowest` + `width`.
struct SlotTest {
  unsigned slot = 0;
  uint64_t zeros = 0;
  uint64_t lowest = 0, width = UINT64_MAX;

  bool holds(std::span<const int64_t> slots) const {
    const uint64_t value = static_cast<uint64_t>(slots[slot]);
    return ((value & zeros) == 0) & (value - lowest <= width);
  }
};
/// Returns the condition as a SlotTest, or nullopt if it cannot be expressed as one.
std::optional<SlotTest> simplify(const Condition &condition);

/// Returns the values of the parameters in the expression: "M=70, N=16".
std::string valuesIn(const Expression &expression, const CallSlots &call);

/// Explains why the condition does not hold: "parameter 3 'K' is 7, which is not a multiple of 8".
Error explainFailure(const Condition &condition, const CallSlots &call);

/// Returns the value of an integer constant, or 0 or 1 for a boolean one.
std::optional<int64_t> integerConstant(const Manifest &manifest, std::string_view name);

/// Returns the names that a variant's expressions use, mapped to slots of the general variant's parameters.
ExpressionNames namesInCall(const Manifest &variant, const Manifest &general);

/// Derives all conditions of the variant.
Result<std::vector<Condition>> deriveConditions(const Manifest &variant, const Manifest &general);

} // namespace tile::runtime
