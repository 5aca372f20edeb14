// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops of dots of operands in microscaling formats.
#include "KernelBuilder.h"

#include <cmath>

namespace tile::fuzz {

namespace {

/// An operand of tl.dot_scaled: its format, and the axes of its elements and groups along K in memory.
struct ScaledOperand {
  std::string format;
  Axis own;
  bool isLeft;
};

Scalar typeOf(const std::string &format) {
  return format == "e2m1" ? Scalar::UInt8 : format == "e4m3" ? Scalar::Float8E4M3 : Scalar::Float8E5M2;
}

/// The axis of K in units of `count` elements.
Axis inUnits(const Axis &inner, int64_t count, const std::string &name) {
  return {name,
          inner.start + " // " + std::to_string(count),
          "(" + inner.bound + " // " + std::to_string(count) + ")",
          inner.size / count,
          inner.block / count,
          /*isOwn=*/false};
}

} // namespace

/// Emits a loop of scaled dots. Scales are 1/2, 1 and 2, or 1, 2 and 3 of type e4m3, so that all sums are exact.
Value KernelBuilder::scaledLoop(const std::vector<Axis> &own) {
  const auto anyFormat = [&] { return random.pick<std::string>({"e2m1", "e2m1", "e4m3", "e5m2"}); };
  const ScaledOperand operands[] = {{anyFormat(), own[0], true}, {anyFormat(), own[1], false}};
  const bool areFloats = operands[0].format == "e2m1" && operands[1].format == "e2m1" && random.chance(40);
  const int64_t group = areFloats ? 16 : 32;
  const int64_t block = random.pick({64, 128, 128, 256}), size = 32 * random.between(1, 3 * block / 32);
  const std::string k = freshName("k");
  const Axis inner{"offs_" + k, k, addSize(freshName("K"), size), size, block, /*isOwn=*/false};
  const Axis bytes = inUnits(inner, 2, "bytes_" + k), groups = inUnits(inner, group, "groups_" + k);
  const Shape shape = {own[0].block, own[1].block};
  const double trips = std::ceil(static_cast<double>(size) / static_cast<double>(block));
  constexpr double maxTerm = 8 * 8 * 9;
  const double most = static_cast<double>(block) * trips * maxTerm;
  const Value sum = define(
      "acc", {"tl.zeros(" + shapeText(shape) + ", tl.float32)", Scalar::Float32, shape, {-most, most, 1.0 / 16}});
  line("for " + k + " in range(0, " + inner.bound + ", " + std::to_string(block) + "):");
  ++loops;
  indented([&] {
    for (const Axis &axis : {inner, bytes, groups})
      line(axis.offsets + " = " + axis.start + " + tl.arange(0, " + std::to_string(axis.block) + ")");
    std::string text;
    for (const ScaledOperand &operand : operands) {
      const Axis &along = operand.format == "e2m1" ? bytes : inner;
      const Scalar type = typeOf(operand.format);
      // b is K x N, in either memory order.
      const bool isTurned = !operand.isLeft && random.chance(75);
      std::vector<Axis> of = {operand.own, along};
      if (!operand.isLeft && !isTurned)
        std::swap(of[0], of[1]);
      const Value value = load(of, type, /*isPlain=*/true);
      const Value scale = load({operand.own, groups}, Scalar::UInt8, /*isPlain=*/true);
      const std::string some = "(" + scale.text + " % 3 + " + (areFloats ? "1" : "126") + ")";
      const bool isWithout = !areFloats && operand.isLeft && operand.format != "e2m1" && random.chance(15);
      text += (text.empty() ? "" : ", ") + (isTurned ? "tl.trans(" + value.text + ")" : value.text) + ", " +
              (isWithout   ? "None"
               : areFloats ? some + ".to(tl.float32).to(tl.float8e4nv)"
                           : some + ".to(tl.uint8)") +
              ", \"" + operand.format + "\"";
    }
    line(sum.text + " = tl.dot_scaled(" + text + ", " + sum.text + ")");
  });
  --loops;
  return sum;
}

} // namespace tile::fuzz
