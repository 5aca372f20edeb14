// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold of a call's arguments so that a variant serves it, as its manifest says: what the compiler assumed,
// the parameters that it fixed, and that tensor maps can be encoded.
//
//   manifests ─▶ conditions, each once, over the parameters of the general variant ─▶ a call's mask: bit i, condition i
//
// Evaluating touches no heap.
#pragma once

#include "Runtime/Manifest.h"

#include <bitset>
#include <cstdint>

namespace tile::runtime {

/// Most different conditions of one artifact.
constexpr size_t mostConditions = 1024;
using ConditionMask = std::bitset<mostConditions>;

struct Condition {
  enum class Kind : uint8_t {
    Alignment,  ///< the pointer in `slot` divides by `divisor`
    Divisor,    ///< the integer in `slot` divides by `divisor`
    Value,      ///< the integer in `slot` is `value`
    MapSize,    ///< `expression`, a dimension of a tensor map of the pointer in `slot`, is in range
    MapStride,  ///< `expression` times `divisor` bytes is a stride of such a map
    Requirement ///< `expression` is not 0
  };
  Kind kind = Kind::Alignment;
  unsigned slot = 0; ///< parameter of the general variant
  uint64_t divisor = 1;
  int64_t value = 0;
  std::optional<Expression> expression;

  bool operator==(const Condition &) const = default;
};

/// A call as conditions see it: slot i is parameter i of the general variant, an address or an integer; the last one is
/// num_sms.
struct CallSlots {
  std::span<const int64_t> values;
  const Manifest &general;

  /// Whether the expression means what it says: u64 beyond the signed range are not.
  bool canEvaluate(const Expression &expression) const;
};

bool holds(const Condition &condition, const CallSlots &call);

/// What most conditions say, in a few instructions: the value in `slot` has zeros where `zeros` has ones, and is none
/// of those below `lowest` or more than `width` above it.
struct SlotTest {
  unsigned slot = 0;
  uint64_t zeros = 0;
  uint64_t lowest = 0, width = UINT64_MAX;

  bool holds(std::span<const int64_t> slots) const {
    const uint64_t value = static_cast<uint64_t>(slots[slot]);
    return ((value & zeros) == 0) & (value - lowest <= width);
  }
};
/// Nothing: the condition says more.
std::optional<SlotTest> simplify(const Condition &condition);

/// "M=70, N=16": the parameters that the expression names.
std::string valuesIn(const Expression &expression, const CallSlots &call);

/// Why the condition does not hold: "parameter 3 'K' is 7, which is not a multiple of 8".
Error explainFailure(const Condition &condition, const CallSlots &call);

/// The value of an integer constant, or a boolean one as 0 or 1.
std::optional<int64_t> integerConstant(const Manifest &manifest, std::string_view name);

/// Names of a variant's expressions, with the slots of the general variant's parameters.
ExpressionNames namesInCall(const Manifest &variant, const Manifest &general);

/// All that must hold for the variant.
Result<std::vector<Condition>> deriveConditions(const Manifest &variant, const Manifest &general);

} // namespace tile::runtime
