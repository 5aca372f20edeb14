// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over ranges that users rarely write and passes easily miscount: empty by more than a step, at the edge of their
// type, of every integer type, downwards, with bounds that depend on the program or on data.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

/// The range of a bound; for 64 bits limited to literals of the language.
struct Limits {
  int64_t low, high;
};

Limits limitsOf(Scalar type) {
  const unsigned bits = bitsOf(type);
  if (bits == 64)
    return {isUnsigned(type) ? 0 : INT64_MIN + 1, INT64_MAX};
  if (isUnsigned(type))
    return {0, (int64_t(1) << bits) - 1};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

/// Returns a + b without leaving the limits.
int64_t addWithin(int64_t a, int64_t b, const Limits &limits) {
  if (b >= 0 ? a > limits.high - b : a < limits.low - b)
    return b >= 0 ? limits.high : limits.low;
  return a + b;
}

/// Returns the number of iterations of a range that counts up.
int64_t tripsOf(int64_t lower, int64_t upper, int64_t step) {
  if (lower >= upper)
    return 0;
  const uint64_t distance = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower);
  return static_cast<int64_t>((distance - 1) / static_cast<uint64_t>(step) + 1);
}

} // namespace

/// Returns a scalar expression with the value: a constant, a parameter, or the sum of both.
std::string KernelBuilder::integerExpression(int64_t value, Scalar type) {
  const std::string suffix = ".to(" + languageName(type) + ")";
  const bool fitsParameter = value >= INT32_MIN && value <= INT32_MAX;
  if (!inHelper && fitsParameter && random.chance(60))
    return addInteger(freshName("bound"), value) + suffix;
  return "tl.full((), " + std::to_string(value) + ", " + languageName(type) + ")";
}

/// Returns where a loop over blocks of an axis begins: usually at 0, but also elsewhere, even beyond the end.
std::string KernelBuilder::firstOffset(int64_t block, int64_t size) {
  if (random.chance(80))
    return "0";
  if (random.chance(50))
    return programNumber + " * " + std::to_string(random.pick({block, block / 2, 4 * block}));
  const int64_t beyond = random.pick<int64_t>({1, block - 1, block, block + 1, 3 * block, 5 * block + 2});
  return addInteger(freshName("first"), random.chance(50) ? size + beyond : random.pick({block, 2 * block}));
}

void KernelBuilder::rangeStatement(int depth) {
  const Scalar type =
      random.pick({Scalar::Int32, Scalar::Int32, Scalar::Int32, Scalar::Int32, Scalar::Int64, Scalar::Int64,
                   Scalar::Int16, Scalar::Int8, Scalar::UInt8, Scalar::UInt16, Scalar::UInt32, Scalar::UInt64});
  const Limits limits = limitsOf(type);
  const int64_t step = random.pick<int64_t>({1, 1, 2, 3, 4, 5, 8, 16, 32, 100});
  const int64_t span =
      random.pick<int64_t>({-100 * step, -3 * step - 1, -2 * step, -step - 1, -step, -step + 1, -1, 0, 1, step - 1,
                            step, step + 1, 2 * step, 3 * step - 1, 4 * step + 1, 9 * step});
  // Each program begins elsewhere, so that some ranges are empty and others are not.
  const bool isOwn = !inHelper && bitsOf(type) >= 32 && random.chance(35);
  const int64_t base = isOwn ? random.pick<int64_t>({0, 0, 5, 64})
                             : random.pick<int64_t>({0, 0, 0, 1, 7, limits.low, limits.low + 1, limits.high - step,
                                                     limits.high - 2 * step - 1, limits.high});
  const int64_t lower = std::clamp(base, limits.low, limits.high), upper = addWithin(lower, span, limits);
  // A literal step would convert a narrow range to 32 bits.
  const bool isNarrow = bitsOf(type) < 32, isDown = !isUnsigned(type) && !isNarrow && random.chance(20);
  const int64_t trips = tripsOf(lower, upper, step);

  const std::string first = freshName("first"), last = freshName("last"), i = freshName("i");
  std::string lowerText = integerExpression(lower, type);
  if (isOwn)
    lowerText = "(" + lowerText + " + " + programNumber + " * " +
                std::to_string(random.pick<int64_t>({step, step + 1, 3 * step, 128})) + ")";
  line(first + " = " + lowerText);
  line(last + " = " + integerExpression(upper, type));
  std::string stepText = std::to_string(step);
  if (isNarrow)
    stepText = "tl.full((), " + stepText + ", " + languageName(type) + ")";
  if (!inHelper && !isDown && random.chance(25))
    stepText = addInteger(freshName("step"), step) + ".to(" + languageName(type) + ")";
  const std::string bounds =
      isDown ? last + ", " + first + ", -" + std::to_string(step) : first + ", " + last + ", " + stepText;
  const std::string options = random.pick<std::string>(
      {"", "", "", ", num_stages=3", ", loop_unroll_factor=4", ", loop_unroll_factor=2", ", flatten=True"});

  Loop over;
  over.head = "for " + i + " in " + (options.empty() ? "range(" : "tl.range(") + bounds + options + "):";
  over.trips = trips;
  const double most = static_cast<double>(std::max(lower, upper));
  over.counter =
      Value{i,
            type,
            {},
            isOwn || bitsOf(type) == 64 ? rangeOf(type) : Range{static_cast<double>(std::min(lower, upper)), most, 1}};
  // Emit a loop that counts and reads data of its iteration, like loops with prefetched copies.
  const int64_t block = random.pick({16, 32, 128});
  const bool reads = !inHelper && trips * step < 2000;
  const std::string count = freshName("count"), total = freshName("total"), source = freshName("x");
  // Offsets of the next block are carried or computed from the counter, equally often.
  const bool advances = random.chance(40);
  const std::string cursor = freshName("cursor"), size = std::to_string(block);
  line(count + " = 0");
  if (advances)
    line(cursor + " = tl.arange(0, " + size + ")");
  line(total + " = tl.zeros((" + std::to_string(block) + ",), tl.int32)");
  const Scalar element = random.pick({Scalar::Int32, Scalar::Int8, Scalar::Float32, Scalar::Float16, Scalar::Int64});
  if (reads) {
    pointers.push_back(source + ": \"" + pointerName(element) + "\"");
    directives += "#: buffer " + source + "[" + std::to_string((trips * step + 1) * block) + "] = random\n";
  }
  over.opening = [&] {
    line(count + " += 1");
    if (!reads)
      return;
    // Narrow types cannot represent the distance.
    const std::string wide = bitsOf(type) < 32 ? ".to(tl.int32)" : "";
    const std::string distance = isDown ? last + wide + " - " + i : i + wide + " - " + first;
    const std::string offsets =
        advances ? cursor : "(" + distance + ").to(tl.int32) * " + size + " + tl.arange(0, " + size + ")";
    const Value loaded = define("v", {"tl.load(" + source + " + " + offsets + ")",
                                      element,
                                      {block},
                                      isFloat(element) ? Range{-8, 8, 1} : Range{-8, 7, 1}});
    line(total + " += " + cast(loaded, Scalar::Int32).text);
  };
  if (advances)
    over.tail = cursor + " += " + std::to_string(block * step);
  loop(over, depth);
  values.push_back({count, Scalar::Int32, {}, {0, static_cast<double>(trips), 1}});
  if (!inHelper)
    sink({"(" + total + " + " + count + ")", Scalar::Int32, {block}, rangeOf(Scalar::Int32)});
}

} // namespace tile::fuzz
