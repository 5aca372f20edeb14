// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Video instructions, compared with the definitions of the PTX ISA (9.7.17) for edge values and random ones.
#include "RunPtx.h"

#include <array>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace tile::sim {
namespace {

struct Case {
  std::string text; ///< reads %a, %b, %c; writes %d
  std::function<uint32_t(uint32_t a, uint32_t b, uint32_t c)> expected;
};

constexpr unsigned numThreads = 128;

/// Returns values of which each is an edge of bytes, halves or words, or random.
std::vector<uint64_t> makeInputs(unsigned seed) {
  constexpr uint32_t edges[] = {0,          1,          2,      31,     32,         33,         0x7f,
                                0x80,       0xff,       0x7fff, 0x8000, 0xffff,     0x7fffffff, 0x80000000,
                                0xffffffff, 0x80808080, 0x7f7f, 0xff00, 0x7f7f7f7f, 0xff00ff00, 0x00ff80ff};
  std::mt19937 random(seed);
  std::vector<uint64_t> values;
  for (unsigned i = 0; i < numThreads; ++i)
    values.push_back(random() % 4 ? edges[random() % std::size(edges)] : random());
  return values;
}

std::string moduleOf(const std::string &body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pd, .param .u64 pa, "
         ".param .u64 pb, .param .u64 pc)\n{\n.reg .b32 %a, %b, %c, %d, %t;\n.reg .b64 %rd<9>;\n" +
         body + "ret;\n}\n";
}

/// Runs all cases in one kernel, of which each thread has its own inputs.
void check(const std::vector<Case> &cases) {
  std::string body = "mov.u32 %t, %tid.x;\nmul.wide.u32 %rd0, %t, 8;\n";
  for (const char *operand : {"d", "a", "b", "c"})
    body +=
        fmt::format("ld.param.u64 %rd1, [p{0}];\nadd.s64 %rd1, %rd1, %rd0;\n{1}", operand,
                    *operand == 'd' ? "mov.b64 %rd2, %rd1;\n" : fmt::format("ld.global.b32 %{}, [%rd1];\n", operand));
  for (const Case &one : cases)
    body += fmt::format("mov.b32 %d, 0;\n{}\nst.global.b32 [%rd2], %d;\nadd.s64 %rd2, %rd2, {};\n", one.text,
                        8 * numThreads);
  auto module = parsePtx(moduleOf(body));
  ASSERT_TRUE(module) << module.error().message;
  std::vector<uint64_t> results(cases.size() * numThreads), a = makeInputs(1), b = makeInputs(2), c = makeInputs(3);
  runtime::Status status = runPtx(*module, "k", 1, numThreads, {results, a, b, c});
  ASSERT_TRUE(status) << status.error().message;
  for (size_t i = 0; i < cases.size(); ++i)
    for (unsigned thread = 0; thread < numThreads; ++thread) {
      const uint32_t expected = cases[i].expected(uint32_t(a[thread]), uint32_t(b[thread]), uint32_t(c[thread]));
      ASSERT_EQ(uint32_t(results[i * numThreads + thread]), expected)
          << cases[i].text << std::hex << " a " << a[thread] << " b " << b[thread] << " c " << c[thread];
    }
}

/// Returns the value that a selector such as "b2" or "h1" gives an operand.
int64_t selected(uint32_t value, const std::string &part, bool isSigned) {
  std::array<uint8_t, 4> bytes;
  std::memcpy(bytes.data(), &value, 4);
  if (part.empty())
    return isSigned ? int64_t(int32_t(value)) : int64_t(value);
  const unsigned index = unsigned(part[1] - '0');
  if (part[0] == 'b')
    return isSigned ? int64_t(int8_t(bytes[index])) : int64_t(bytes[index]);
  const uint16_t half = uint16_t(bytes[2 * index] | bytes[2 * index + 1] << 8);
  return isSigned ? int64_t(int16_t(half)) : int64_t(half);
}

__int128 saturated(__int128 value, unsigned bits, bool isSigned) {
  const __int128 most = isSigned ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1, least = isSigned ? -most - 1 : 0;
  return value > most ? most : value < least ? least : value;
}

/// Applies the second operation or the merge to the result of a scalar operation.
uint32_t finished(__int128 value, const std::string &second, const std::string &part, uint32_t c, bool isSigned) {
  const __int128 third = isSigned ? __int128(int32_t(c)) : __int128(c);
  if (second == ".add")
    return uint32_t(value + third);
  if (second == ".min")
    return uint32_t(value < third ? value : third);
  if (second == ".max")
    return uint32_t(value > third ? value : third);
  if (part.empty())
    return uint32_t(value);
  std::array<uint8_t, 4> bytes;
  std::memcpy(bytes.data(), &c, 4);
  const unsigned index = unsigned(part[1] - '0');
  if (part[0] == 'b') {
    bytes[index] = uint8_t(value);
  } else {
    bytes[2 * index] = uint8_t(value);
    bytes[2 * index + 1] = uint8_t(value >> 8);
  }
  std::memcpy(&c, bytes.data(), 4);
  return c;
}

std::string dotted(const std::string &part) {
  return part.empty() ? "" : "." + part;
}
std::string typeOf(bool isSigned) {
  return isSigned ? ".s32" : ".u32";
}

/// The parts of operands a and b, of which each case uses the next pair.
const std::array<std::pair<std::string, std::string>, 7> parts = {
    {{"", ""}, {"b0", "h1"}, {"h0", "b3"}, {"", "b1"}, {"b2", ""}, {"h1", "h0"}, {"b3", "b2"}}};
/// The second operation, and the part of the destination.
const std::array<std::pair<std::string, std::string>, 8> ends = {
    {{"", ""}, {".add", ""}, {".min", ""}, {".max", ""}, {"", "b0"}, {"", "b3"}, {"", "h0"}, {"", "h1"}}};

struct ScalarNames {
  std::string a, b, second, part;
  std::string operands() const {
    return fmt::format(" %d{}, %a{}, %b{}{};", dotted(part), dotted(a), dotted(b),
                       second.empty() && part.empty() ? "" : ", %c");
  }
};

TEST(Video, scalarArithmetic) {
  std::vector<Case> cases;
  for (const std::string name : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (unsigned types = 0; types < 8; ++types)
      for (const bool saturates : {false, true})
        for (const auto &[second, part] : ends) {
          const bool d = types & 1, a = types & 2, b = types & 4;
          const auto &[partA, partB] = parts[cases.size() % parts.size()];
          const ScalarNames names = {partA, partB, second, part};
          cases.push_back(
              {name + typeOf(d) + typeOf(a) + typeOf(b) + (saturates ? ".sat" : "") + second + names.operands(),
               [=](uint32_t x, uint32_t y, uint32_t z) {
                 const int64_t left = selected(x, names.a, a), right = selected(y, names.b, b);
                 __int128 value = name == "vadd"   ? left + right
                                  : name == "vsub" ? left - right
                                  : name == "vmin" ? std::min(left, right)
                                  : name == "vmax" ? std::max(left, right)
                                                   : std::abs(left - right);
                 if (saturates)
                   value = saturated(value, names.part.empty() ? 32 : names.part[0] == 'b' ? 8 : 16, d);
                 return finished(value, names.second, names.part, z, d);
               }});
        }
  check(cases);
}

TEST(Video, shifts) {
  std::vector<Case> cases;
  for (const bool isLeft : {false, true})
    for (unsigned flags = 0; flags < 16; ++flags)
      for (const auto &[second, part] : ends) {
        const bool d = flags & 1, a = flags & 2, saturates = flags & 4, wraps = flags & 8;
        const auto &[partA, partB] = parts[cases.size() % parts.size()];
        const ScalarNames names = {partA, partB, second, part};
        cases.push_back({(isLeft ? "vshl" : "vshr") + typeOf(d) + typeOf(a) + ".u32" + (saturates ? ".sat" : "") +
                             (wraps ? ".wrap" : ".clamp") + second + names.operands(),
                         [=](uint32_t x, uint32_t y, uint32_t z) {
                           __int128 value = selected(x, names.a, a);
                           const int64_t by = selected(y, names.b, false);
                           for (int64_t count = wraps ? by % 32 : std::min<int64_t>(by, 32); count > 0; --count)
                             value = isLeft ? value * 2 : (value - (value & 1)) / 2;
                           if (saturates)
                             value = saturated(value, names.part.empty() ? 32 : names.part[0] == 'b' ? 8 : 16, d);
                           return finished(value, names.second, names.part, z, d);
                         }});
      }
  check(cases);
}

bool compares(const std::string &relation, int64_t a, int64_t b) {
  return relation == ".eq"   ? a == b
         : relation == ".ne" ? a != b
         : relation == ".lt" ? a < b
         : relation == ".le" ? a <= b
         : relation == ".gt" ? a > b
                             : a >= b;
}
const std::array<std::string, 6> relations = {".eq", ".ne", ".lt", ".le", ".gt", ".ge"};

TEST(Video, scalarComparisons) {
  std::vector<Case> cases;
  for (unsigned types = 0; types < 4; ++types)
    for (const std::string &relation : relations)
      for (const auto &[second, part] : ends) {
        const bool a = types & 1, b = types & 2;
        const auto &[partA, partB] = parts[cases.size() % parts.size()];
        const ScalarNames names = {partA, partB, second, part};
        cases.push_back({"vset" + typeOf(a) + typeOf(b) + relation + second + names.operands(),
                         [=](uint32_t x, uint32_t y, uint32_t z) {
                           const bool holds = compares(relation, selected(x, names.a, a), selected(y, names.b, b));
                           return finished(holds, names.second, names.part, z, false);
                         }});
      }
  check(cases);
}

/// The definition of vmad in the ISA, in two's complement of 128 bits.
uint32_t multiplyAdd(int64_t a, int64_t b, uint32_t c, bool negatesProduct, bool negatesAddend, bool addsOne,
                     bool isSignedC, bool isSigned, bool saturates, unsigned shift) {
  using Wide = unsigned __int128;
  Wide product = Wide(__int128(a) * b), addend = isSignedC ? Wide(__int128(int32_t(c))) : Wide(c);
  Wide low = addsOne ? 1 : 0;
  if (negatesProduct) {
    product = ~product;
    low = 1;
  } else if (negatesAddend) {
    addend = ~addend;
    low = 1;
  }
  const __int128 sum = __int128(product + addend + low) >> shift;
  return uint32_t(saturates ? saturated(sum, 32, isSigned) : sum);
}

TEST(Video, multiplyAdd) {
  std::vector<Case> cases;
  for (unsigned types = 0; types < 4; ++types)
    for (const std::string signs : {"", "a", "b", "ab", "c", "p"})
      for (const bool saturates : {false, true})
        for (const unsigned shift : {0u, 7u, 15u}) {
          const bool a = types & 1, b = types & 2;
          const auto has = [&](char sign) { return signs.find(sign) != std::string::npos; };
          const bool product = has('a') != has('b'), addend = has('c'), one = has('p');
          const std::string partA = parts[cases.size() % parts.size()].first;
          const std::string partB = parts[cases.size() % parts.size()].second;
          const auto minus = [&](char sign) { return has(sign) ? "-" : ""; };
          cases.push_back(
              {fmt::format("vmad.s32{}{}{}{}{} %d, {}%a{}, {}%b{}, {}%c;", typeOf(a), typeOf(b), one ? ".po" : "",
                           saturates ? ".sat" : "", shift ? fmt::format(".shr{}", shift) : "", minus('a'),
                           dotted(partA), minus('b'), dotted(partB), minus('c')),
               [=](uint32_t x, uint32_t y, uint32_t z) {
                 const bool isSignedC = a || b || product;
                 return multiplyAdd(selected(x, partA, a), selected(y, partB, b), z, product, addend, one, isSignedC,
                                    isSignedC || addend, saturates, shift);
               }});
        }
  check(cases);
}

/// The selectors of one SIMD instruction: of the destination, a and b.
struct SimdNames {
  std::string mask, a, b;
};

/// Returns the element that the result's element `i` takes from {b, a}.
int64_t element(uint32_t x, uint32_t y, std::string part, unsigned first, unsigned count, unsigned i, bool isSigned) {
  const unsigned index = part.empty() ? first + i : unsigned(part[part.size() - 1 - i] - '0');
  const uint32_t word = index < count ? x : y;
  return selected(word, (count == 2 ? "h" : "b") + std::to_string(index % count), isSigned);
}

uint32_t simd(const SimdNames &names, unsigned count, bool accumulates, uint32_t c,
              const std::function<int64_t(unsigned)> &compute) {
  uint32_t result = c;
  for (unsigned i = 0; i < count; ++i) {
    if (!names.mask.empty() && names.mask.find(char('0' + i)) == std::string::npos)
      continue;
    if (accumulates)
      result += uint32_t(compute(i));
    else
      result = finished(compute(i), "", (count == 2 ? "h" : "b") + std::to_string(i), result, false);
  }
  return result;
}

SimdNames nextNames(unsigned count, size_t index) {
  static const std::array<SimdNames, 4> halves = {
      {{"", "", ""}, {"h0", "h32", "h01"}, {"h1", "h13", ""}, {"h10", "", "h20"}}};
  static const std::array<SimdNames, 5> bytes = {
      {{"", "", ""}, {"b0", "b7654", "b0123"}, {"b310", "b1357", ""}, {"b32", "", "b7070"}, {"b3210", "b4", ""}}};
  if (count == 2)
    return halves[index % halves.size()];
  SimdNames names = bytes[index % bytes.size()];
  if (names.a == "b4")
    names.a = "b4444";
  return names;
}

std::string simdOperands(const SimdNames &names) {
  return fmt::format(" %d{}, %a{}, %b{}, %c;", dotted(names.mask), dotted(names.a), dotted(names.b));
}

TEST(Video, simdArithmetic) {
  std::vector<Case> cases;
  for (const std::string name : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (const unsigned count : {2u, 4u})
      for (unsigned types = 0; types < 8; ++types)
        for (const std::string end : {"", ".sat", ".add"}) {
          const bool d = types & 1, a = types & 2, b = types & 4;
          const SimdNames names = nextNames(count, cases.size());
          cases.push_back({name + std::to_string(count) + typeOf(d) + typeOf(a) + typeOf(b) + end + simdOperands(names),
                           [=](uint32_t x, uint32_t y, uint32_t z) {
                             return simd(names, count, end == ".add", z, [&](unsigned i) -> int64_t {
                               const int64_t left = element(x, y, names.a, 0, count, i, a);
                               const int64_t right = element(x, y, names.b, count, count, i, b);
                               const int64_t sum = left + right;
                               const int64_t value = name == "vadd"    ? sum
                                                     : name == "vsub"  ? left - right
                                                     : name == "vavrg" ? (sum >= 0 ? sum + 1 : sum - (sum & 1)) / 2
                                                     : name == "vmin"  ? std::min(left, right)
                                                     : name == "vmax"  ? std::max(left, right)
                                                                       : std::abs(left - right);
                               return end == ".sat" ? int64_t(saturated(value, 32 / count, d)) : value;
                             });
                           }});
        }
  check(cases);
}

TEST(Video, simdComparisons) {
  std::vector<Case> cases;
  for (const unsigned count : {2u, 4u})
    for (unsigned types = 0; types < 4; ++types)
      for (const std::string &relation : relations)
        for (const std::string end : {"", ".add"}) {
          const bool a = types & 1, b = types & 2;
          const SimdNames names = nextNames(count, cases.size());
          cases.push_back(
              {"vset" + std::to_string(count) + typeOf(a) + typeOf(b) + relation + end + simdOperands(names),
               [=](uint32_t x, uint32_t y, uint32_t z) {
                 return simd(names, count, end == ".add", z, [&](unsigned i) -> int64_t {
                   return compares(relation, element(x, y, names.a, 0, count, i, a),
                                   element(x, y, names.b, count, count, i, b));
                 });
               }});
        }
  check(cases);
}

TEST(Video, negative_whatTheIsaDoesNotAllow) {
  const auto error = [](const std::string &instruction) {
    auto module = parsePtx(moduleOf(instruction));
    if (!module)
      return module.error().message;
    GlobalMemory memory;
    auto program = Program::load(*module, "k", memory);
    return program ? std::string() : program.error().message;
  };
  for (const char *instruction :
       {"vadd.s32.s32 %d, %a, %b;", "vadd.s32.s32.s32.add %d, %a, %b;", "vadd.s32.s32.s32 %d, %a, %b, %c, %d;",
        "vadd.s32.s32.s32 %d.b0, %a, %b;", "vshl.u32.u32.u32 %d, %a, %b;", "vshl.u32.u32.s32.clamp %d, %a, %b;",
        "vset.s32.s32.lo %d, %a, %b;", "vmad.s32.s32.s32.shr8 %d, %a, %b, %c;", "vmad.s32.s32.s32 %d.b0, %a, %b, %c;",
        "vadd4.s32.s32.s32 %d, %a, %b;", "vadd4.s32.s32.s32.sat.add %d, %a, %b, %c;", "vset4.u32.u32 %d, %a, %b, %c;",
        "vadd2.s32.s32.s32 %d, %a, %b, %c.h0;", "vnot.s32.s32.s32 %d, %a, %b;"})
    EXPECT_NE(error(instruction).find("unsupported instruction"), std::string::npos)
        << instruction << " gives '" << error(instruction) << "'";
  for (const char *instruction :
       {"vadd.s32.s32.s32 %d, %a.b4, %b;", "vadd.s32.s32.s32 %d, %a.h10, %b;", "vadd2.s32.s32.s32 %d.h01, %a, %b, %c;",
        "vadd2.s32.s32.s32 %d, %a.h4, %b, %c;", "vadd4.s32.s32.s32 %d, %a, %b.b8888, %c;",
        "vadd4.s32.s32.s32 %d.h1, %a, %b, %c;", "vmad.s32.s32.s32 %d, %a.b7, %b, %c;"})
    EXPECT_NE(error(instruction).find("cannot select"), std::string::npos)
        << instruction << " gives '" << error(instruction) << "'";
  for (const char *instruction : {"vadd.s32.s32.s32 %d, -%a, %b;", "vadd4.s32.s32.s32 %d, %a, -%b, %c;"})
    EXPECT_NE(error(instruction).find("only vmad can negate its operands"), std::string::npos) << instruction;
  for (const char *instruction : {"vmad.s32.s32.s32 %d, -%a, %b, -%c;", "vmad.s32.s32.s32.po %d, %a, %b, -%c;"})
    EXPECT_NE(error(instruction).find("either a * b or c can be negated"), std::string::npos) << instruction;
  EXPECT_NE(error("vadd.s32.s32.s32.add %d.b0, %a, %b, %c;").find("exclude each other"), std::string::npos);
  EXPECT_NE(error("vmad.s32.s32.s32 %d, %a, %b, -%tid.x;").find("'-' needs a register"), std::string::npos);
  EXPECT_NE(error("add.s32 %d, %a.b0, %b;").find("elements of vector registers ('%a.b0')"), std::string::npos);
}

} // namespace
} // namespace tile::sim
