// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input values by kind: edge values of a type, and random ones for which its operations round.
#include "InstructionTable.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace tile::sim {
namespace {

/// Returns the same values on every machine, for any position (splitmix64).
uint64_t scramble(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

struct FloatKind {
  unsigned bits, mantissaBits;
};

std::vector<uint64_t> floatEdges(FloatKind kind) {
  uint64_t one = uint64_t(1) << kind.mantissaBits; // the lowest bit of the exponent
  unsigned exponentBits = kind.bits - 1 - kind.mantissaBits;
  uint64_t infinity = ((uint64_t(1) << exponentBits) - 1) * one, bias = (uint64_t(1) << (exponentBits - 1)) - 1;
  std::vector<uint64_t> positive = {0,
                                    1,
                                    one / 2,
                                    one - 1,
                                    one,
                                    one + 1,
                                    bias * one - one - 1,
                                    bias * one - one,
                                    bias * one - 1,
                                    bias * one,
                                    bias * one + 1,
                                    bias * one + one / 2,
                                    bias * one + one,
                                    (bias + 1) * one + one / 4,
                                    (bias * 2 - 2) * one,
                                    infinity - 1,
                                    infinity,
                                    infinity + 1,
                                    infinity | one / 2 | 3};
  std::vector<uint64_t> edges;
  for (uint64_t value : positive) {
    edges.push_back(value);
    edges.push_back(value | uint64_t(1) << (kind.bits - 1));
  }
  return edges;
}

uint64_t randomFloat(FloatKind kind, uint64_t random) {
  uint64_t one = uint64_t(1) << kind.mantissaBits, all = ~uint64_t(0) >> (64 - kind.bits);
  uint64_t bits = random & all, choice = random >> 61;
  if (choice == 0)
    return bits;
  if (choice < 3) // few bits: exact results, ties
    bits &= all << (kind.mantissaBits - 3);
  unsigned exponentBits = kind.bits - 1 - kind.mantissaBits;
  uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1, sign = uint64_t(1) << (kind.bits - 1);
  uint64_t spread = exponentBits < 8 ? 8 : 30;
  uint64_t exponent = bias - spread / 2 + (scramble(random) >> 7) % spread;
  return (bits & (sign | (one - 1))) | exponent * one;
}

/// Values for which conversions to integers and narrower formats round, saturate and overflow.
const double conversionEdges[] = {0.5,       1.5,           2.5,         126.5,      127.5,         128.5,
                                  255.5,     256,           32767.5,     32768.5,    65504,         65519.99609375,
                                  65520,     65535.5,       65536,       448,        464,           463.999,
                                  465,       57344,         61440,       0x1p-10,    0x1p-9,        0x1.8p-9,
                                  0x1p-16,   0x1p-17,       0x1.8p-17,   0x1p-24,    0x1p-25,       0x1.002p-25,
                                  0x1.8p-24, 0x1.0008p0,    0x1.0018p0,  0x1.001p0,  0x1.01p0,      0x1.03p0,
                                  0x1.003p0, 0x1.fffffep30, 0x1p31,      0x1p32,     0x1.fffffep62, 0x1p63,
                                  0x1p64,    0x1.fffp127,   0x1.ff8p127, 0x1.fep127, 0x1p-133,      0x1.8p-134,
                                  0x1p-127,  0x1.8p-127,    0x1p126,     0x1.8p126,  0x1p127,       0.499999970197678};

struct Kind {
  unsigned bits;
  std::vector<uint64_t> edges;
  std::function<uint64_t(uint64_t)> random;
};

Kind integerKind(unsigned bits) {
  uint64_t all = ~uint64_t(0) >> (64 - bits), top = uint64_t(1) << (bits - 1);
  Kind kind{bits, {0, 1, 2, 3, 7, all, all - 1, top, top - 1, top + 1, all / 3, all / 3 * 2, all / 2 / 255}, {}};
  kind.random = [=](uint64_t random) {
    uint64_t value = random & all;
    unsigned shift = (random >> 58) % bits;
    bool ofSign = scramble(random) & 1;
    uint64_t shifted = value >> shift;
    return ofSign ? ~shifted & all : shifted;
  };
  return kind;
}

Kind floatingKind(FloatKind format) {
  return {format.bits, floatEdges(format), [=](uint64_t random) { return randomFloat(format, random); }};
}

Kind pairOf(const Kind &part) {
  Kind kind{2 * part.bits, {}, {}};
  size_t count = part.edges.size();
  for (size_t i = 0; i < count; ++i)
    kind.edges.push_back(part.edges[i] << part.bits | part.edges[(i * 7 + 3) % count]);
  kind.random = [=](uint64_t random) { return part.random(random) << part.bits | part.random(scramble(~random)); };
  return kind;
}

Kind makeKind(const std::string &name) {
  constexpr FloatKind half{16, 10}, bfloat16{16, 7}, single{32, 23}, twice{64, 52};
  if (name == "f16")
    return floatingKind(half);
  if (name == "bf16")
    return floatingKind(bfloat16);
  if (name == "f16x2")
    return pairOf(floatingKind(half));
  if (name == "bf16x2")
    return pairOf(floatingKind(bfloat16));
  if (name == "i16x2")
    return pairOf(integerKind(16));
  if (name == "f32" || name == "f32c") {
    Kind kind = floatingKind(single);
    for (double edge : conversionEdges)
      if (name == "f32c")
        for (float value : {float(edge), -float(edge)})
          kind.edges.push_back(std::bit_cast<uint32_t>(value));
    return kind;
  }
  if (name == "f64" || name == "f64c") {
    Kind kind = floatingKind(twice);
    for (double edge : conversionEdges)
      if (name == "f64c")
        for (double value : {edge, -edge})
          kind.edges.push_back(std::bit_cast<uint64_t>(value));
    return kind;
  }
  if (name == "angle") { // [-2π, 2π]
    Kind kind = floatingKind(single);
    kind.edges = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001};
    kind.random = [](uint64_t random) {
      return std::bit_cast<uint32_t>(float((double(random >> 11) * 0x1p-53 - 0.5) * 4 * 3.14159265358979));
    };
    return kind;
  }
  if (name == "count") { // positions, lengths, distances
    Kind kind = integerKind(32);
    kind.edges.clear();
    for (uint64_t i = 0; i < 40; ++i)
      kind.edges.push_back(i);
    for (uint32_t i : {63u, 64u, 65u, 127u, 128u, 255u, 256u, 257u, 0x80000000u, 0xffffffffu, 0xffffffe0u})
      kind.edges.push_back(i);
    kind.random = [](uint64_t random) { return random % 70; };
    return kind;
  }
  unsigned bits = unsigned(std::stoul(name.substr(1)));
  return integerKind(bits);
}

} // namespace

unsigned kindBits(const std::string &kind) {
  return makeKind(kind).bits;
}

std::vector<uint64_t> inputs(const InstructionCase &instruction, unsigned index) {
  std::vector<uint64_t> values(instruction.count);
  Kind kind = makeKind(instruction.operands[index]);
  if (instruction.operands.size() == 1 && instruction.count == 65536) {
    for (unsigned i = 0; i < instruction.count; ++i)
      values[i] = i;
    return values;
  }
  // Uses all combinations of edge values if they take at most half of the threads; otherwise random ones.
  size_t stride = 1, combinations = 1;
  for (unsigned i = 0; i < instruction.operands.size(); ++i) {
    size_t edges = makeKind(instruction.operands[i]).edges.size();
    stride *= i < index ? edges : 1;
    combinations *= edges;
  }
  bool isComplete = combinations <= instruction.count * 3 / 4;
  for (unsigned i = 0; i < instruction.count; ++i) {
    uint64_t random = scramble(uint64_t(i) * 4 + index + 1000003);
    if (isComplete && i < combinations)
      values[i] = kind.edges[i / stride % kind.edges.size()];
    else if (!isComplete && i < instruction.count / 2)
      values[i] = kind.edges[scramble(random) % kind.edges.size()];
    else
      values[i] = kind.random(random);
  }
  return values;
}

std::vector<uint64_t> summary(const InstructionCase &instruction, const std::vector<uint64_t> &results) {
  if (!instruction.bound.isExact())
    return results;
  constexpr unsigned parts = 8;
  std::vector<uint64_t> hashes(parts, 0);
  size_t each = (results.size() + parts - 1) / parts;
  for (size_t i = 0; i < results.size(); ++i)
    hashes[i / each] = scramble(hashes[i / each] ^ results[i]);
  return hashes;
}

} // namespace tile::sim
