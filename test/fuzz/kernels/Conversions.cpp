// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of conversions between all types, from any bits, with ties as often as not. Each conversion rounds once, so
// the result is the same on all devices although it is not exact.
#include "KernelBuilder.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

namespace {

struct Source {
  Scalar bits;  ///< the type of the buffer
  Scalar value; ///< the type as which its bits are interpreted
};

} // namespace

/// Emits one conversion of numbers that lie halfway between two results, or next to the midpoint.
void KernelBuilder::tieStatement() {
  struct Target {
    Scalar type;
    int64_t precision;
  };
  const Target target = random.pick<Target>({{Scalar::BFloat16, 8},
                                             {Scalar::BFloat16, 8},
                                             {Scalar::Float16, 11},
                                             {Scalar::Float8E4M3, 4},
                                             {Scalar::Float8E5M2, 3},
                                             {Scalar::Float32, 24}});
  // Integers are in the range of the type.
  const bool isSmall = target.type == Scalar::BFloat16 || target.type == Scalar::Float32;
  const bool isFraction = !isSmall || random.chance(40);
  const Scalar source = isFraction || target.type == Scalar::Float32
                            ? Scalar::Int64
                            : random.pick({Scalar::Int32, Scalar::Int32, Scalar::UInt32, Scalar::Int64});
  const int64_t block = random.pick({32, 64}), room = (bitsOf(source) == 64 ? 50 : 30) - target.precision;
  const std::string input = freshName("bits"), output = freshName("out"), name = freshName("c");
  const std::string index =
      programNumber + " * " + std::to_string(block) + " + tl.arange(0, " + std::to_string(block) + ")";
  pointers.push_back(input + ": \"" + pointerName(source) + "\"");
  pointers.push_back(output + ": \"" + pointerName(target.type) + "\"");
  directives += "#: buffer " + input + "[" + std::to_string(block * programs) + "] = random\n";
  directives += "#: buffer " + output + "[" + std::to_string(block * programs) + "] = zeros\n";
  // The number consists of the bits of a result, one more bit, and zeros.
  const int64_t top = int64_t(1) << target.precision, zeros = random.between(room / 2, room - 1);
  line(name + " = (((tl.load(" + input + " + " + index + ") & " + std::to_string(top - 1) + ") | " +
       std::to_string(top + 1) + ") << " + std::to_string(zeros) + ").to(" + languageName(source) + ")");
  line(name + " = (" + name +
       random.pick<std::string>({" + 1", " - 1", " + tl.arange(0, " + std::to_string(block) + ") % 3 - 1"}) + ").to(" +
       languageName(source) + ")");
  if (isFraction) {
    constexpr int64_t least = 8; // no subnormal number
    const int64_t shift = zeros + std::min(target.precision, least);
    line(name + " = " + name + ".to(tl.float64) * " + numberText(std::ldexp(1, -static_cast<int>(shift)), true));
  }
  line("tl.store(" + output + " + " + index + ", " + name + ".to(" + languageName(target.type) + "))");
}

void KernelBuilder::conversionStatement() {
  const Source source = random.pick<Source>({{Scalar::Int32, Scalar::Float32},
                                             {Scalar::Int32, Scalar::Float32},
                                             {Scalar::Int64, Scalar::Float64},
                                             {Scalar::Int64, Scalar::Float64},
                                             {Scalar::Int16, Scalar::Float16},
                                             {Scalar::Int16, Scalar::BFloat16},
                                             {Scalar::Int32, Scalar::Int32},
                                             {Scalar::Int64, Scalar::Int64},
                                             {Scalar::UInt32, Scalar::UInt32},
                                             {Scalar::UInt64, Scalar::UInt64},
                                             {Scalar::Int8, Scalar::Float8E4M3},
                                             {Scalar::Int8, Scalar::Float8E5M2}});
  if (inHelper || programs > 64)
    return;
  if (random.chance(50))
    return tieStatement();
  const int64_t block = random.pick({64, 128, 256});
  const std::string input = freshName("bits"), output = freshName("out");
  const std::string index =
      programNumber + " * " + std::to_string(block) + " + tl.arange(0, " + std::to_string(block) + ")";
  pointers.push_back(input + ": \"" + pointerName(source.bits) + "\"");
  directives += "#: buffer " + input + "[" + std::to_string(block * programs) + "] = random\n";
  const std::string name = freshName("c");
  line(name + " = tl.load(" + input + " + " + index + ")");
  // Bits that are zero at the end make ties, and those that are zero in front small integers.
  const int64_t bits = bitsOf(source.bits);
  if (random.chance(50))
    line(name + " = (" + name + " >> " + std::to_string(random.below(bits)) + ").to(" + languageName(source.bits) +
         ")");
  if (random.chance(60)) {
    const std::string zeros = std::to_string(random.below(bits));
    // Setting the last bit puts the number just beyond a tie, which rounding twice would miss.
    line(name + " = (((" + name + " >> " + zeros + ") << " + zeros + ")" + (random.chance(50) ? " | 1" : "") + ").to(" +
         languageName(source.bits) + ")");
  }
  if (source.bits != source.value)
    line(name + " = " + name + ".to(" + languageName(source.value) + ", bitcast=True)");
  Scalar type = source.value;
  const int64_t steps = random.between(1, 4);
  for (int64_t step = 0; step < steps; ++step) {
    Scalar next = anyType();
    while (next == Scalar::Int1 || next == type)
      next = anyType();
    const bool narrows = isFloat(type) && isFloat(next) && bitsOf(next) < bitsOf(type);
    const bool truncates = narrows && type == Scalar::Float32 && !isNarrowFloat(next) && random.chance(15);
    line(name + " = " + name + ".to(" + languageName(next) + (truncates ? ", fp_downcast_rounding=\"rtz\")" : ")"));
    type = next;
  }
  pointers.push_back(output + ": \"" + pointerName(type) + "\"");
  directives += "#: buffer " + output + "[" + std::to_string(block * programs) + "] = zeros\n";
  line("tl.store(" + output + " + " + index + ", " + name + ")");
}

} // namespace tile::fuzz
