// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tcgen05.mma on the machine: results for types, shapes, majors and swizzles, against sums of small integers.
#include "TensorKernel.h"

#include <functional>

using namespace tile::sim;

namespace {

/// Small integers that all types represent.
int leftAt(unsigned row, unsigned k) {
  return int((row * 7 + k * 3) % 5) - 2;
}
int rightAt(unsigned k, unsigned column) {
  return int((k * 5 + column * 2) % 5) - 2;
}

/// Bits of -2 … 2 in a floating-point format.
uint32_t floatBits(int value, unsigned exponentBits, unsigned mantissaBits) {
  const uint32_t bias = (1u << (exponentBits - 1)) - 1, magnitude = std::abs(value);
  const uint32_t exponent = magnitude == 0 ? 0 : bias + (magnitude == 2);
  return uint32_t(value < 0) << (exponentBits + mantissaBits) | exponent << mantissaBits;
}

struct Type {
  std::string kind;
  uint32_t number; ///< encoding in the instruction descriptor
  unsigned storageBits, bits;
  std::function<uint32_t(int)> encode;
};
const Type f16{"f16", 0, 16, 16, [](int v) { return floatBits(v, 5, 10); }};
const Type bf16{"f16", 1, 16, 16, [](int v) { return floatBits(v, 8, 7); }};
const Type tf32{"tf32", 2, 32, 32, [](int v) { return floatBits(v, 8, 23); }};
const Type e4m3{"f8f6f4", 0, 8, 8, [](int v) { return floatBits(v, 4, 3); }};
const Type e5m2{"f8f6f4", 1, 8, 8, [](int v) { return floatBits(v, 5, 2); }};
const Type e2m3{"f8f6f4", 3, 8, 6, [](int v) { return floatBits(v, 2, 3); }};
const Type e3m2{"f8f6f4", 4, 8, 6, [](int v) { return floatBits(v, 3, 2); }};
const Type e2m1{"f8f6f4", 5, 8, 4, [](int v) { return floatBits(v, 2, 1); }};
const Type s8{"i8", 1, 8, 8, [](int v) { return uint32_t(v) & 0xff; }};
const Type u8{"i8", 0, 8, 8, [](int v) { return uint32_t(v + 2); }};

struct Case {
  Type left = f16, right = f16;
  unsigned m = 128, n = 16;
  unsigned swizzle = 0; ///< swizzle mode of both operands
  bool leftLineMajor = false, rightLineMajor = false;
  uint32_t more = 0; ///< bits of the instruction descriptor

  unsigned depth() const { return 256 / left.storageBits; }
  uint32_t descriptor() const {
    const uint32_t result = left.kind == "i8" ? 2 : 1;
    return result << 4 | left.number << 7 | right.number << 10 | uint32_t(leftLineMajor) << 15 |
           uint32_t(rightLineMajor) << 16 | n / 8 << 17 | m / 16 << 24 | more;
  }
};

unsigned widthOf(unsigned swizzle) {
  return swizzle == 0 ? 16 : swizzle == 6 ? 32 : swizzle == 4 ? 64 : 128;
}

/// The canonical layout of an operand (PTX ISA 9.7.16.5): byte offsets of its elements, and its descriptor.
struct Layout {
  unsigned lines, depth, bytes, swizzle;
  bool isLineMajor;

  unsigned width() const { return widthOf(swizzle); }
  unsigned group() const { return swizzle == 1 ? 4 : 8; } ///< k of a repeating pattern, line-major
  unsigned stride() const {
    if (!isLineMajor)
      return swizzle == 0 ? 8 * 32 : 8 * width();
    return swizzle == 0 ? depth * 16 : group() * width();
  }
  unsigned leading() const {
    if (!isLineMajor)
      return 128;
    return swizzle == 0 ? 128 : (depth + group() - 1) / group() * group() * width();
  }
  unsigned offset(unsigned line, unsigned k) const {
    unsigned at = 0;
    if (!isLineMajor) {
      const unsigned byte = k * bytes;
      at = line / 8 * stride() +
           (swizzle == 0 ? line % 8 * 16 + byte / 16 * leading() + byte % 16 : line % 8 * width() + byte);
    } else {
      const unsigned byte = line * bytes;
      at = swizzle == 0 ? k % 8 * 16 + k / 8 * leading() + byte / 16 * stride() + byte % 16
                        : k % group() * width() + k / group() * stride() + byte % width() + byte / width() * leading();
    }
    if (swizzle == 1)
      return at ^ (at >> 7 & 3) << 5;
    return swizzle == 0 ? at : at ^ (at >> 7 & (width() / 16 - 1)) << 4;
  }
  unsigned size() const {
    unsigned most = 0;
    for (unsigned line = 0; line < lines; ++line)
      for (unsigned k = 0; k < depth; ++k)
        most = std::max(most, offset(line, k) + bytes);
    return (most + 1023) / 1024 * 1024;
  }
  uint64_t descriptor(unsigned start) const { return TensorKernel::bits(start, leading(), stride(), swizzle); }
};

/// Elements of fewer bits than their storage: 16 of them are packed at the start of 16 bytes.
void store(std::byte *memory, const Type &type, unsigned offset, uint32_t bits) {
  if (type.bits == type.storageBits) {
    std::memcpy(memory + offset, &bits, type.bits / 8);
    return;
  }
  const unsigned first = offset % 16 * type.bits;
  for (unsigned i = 0; i < type.bits; ++i)
    if (bits >> i & 1)
      memory[offset / 16 * 16 + (first + i) / 8] |= std::byte(1 << (first + i) % 8);
}

struct Factors {
  Layout left, right;
  Factors(const Case &c)
      : left{c.m, c.depth(), c.left.storageBits / 8, c.swizzle, c.leftLineMajor},
        right{c.n, c.depth(), c.left.storageBits / 8, c.swizzle, c.rightLineMajor} {}
  void fill(const Case &c, std::byte *memory) const {
    for (unsigned k = 0; k < c.depth(); ++k) {
      for (unsigned row = 0; row < c.m; ++row)
        store(memory, c.left, left.offset(row, k), c.left.encode(leftAt(row, k)));
      for (unsigned column = 0; column < c.n; ++column)
        store(memory + left.size(), c.right, right.offset(column, k), c.right.encode(rightAt(k, column)));
    }
  }
};

TensorKernel kernelOf(const Case &c) {
  const Factors factors(c);
  TensorKernel text;
  text.sharedBytes = (factors.left.size() + factors.right.size() + 2047) / 2048 * 2048;
  text.columns = (c.n + 7) / 8 * 8;
  text.left = factors.left.descriptor(0);
  text.right = factors.right.descriptor(factors.left.size());
  text.mma = "tcgen05.mma.cta_group::1.kind::" + c.left.kind + " [%r10], %d10, %d11, " +
             std::to_string(c.descriptor()) + ", 0;\n";
  return text;
}

int productAt(const Case &c, unsigned row, unsigned column) {
  int sum = 0, offset = c.left.kind == "i8" && c.left.number == 0 ? 2 : 0;
  for (unsigned k = 0; k < c.depth(); ++k)
    sum += (leftAt(row, k) + offset) * (rightAt(k, column) + (c.right.kind == "i8" && c.right.number == 0 ? 2 : 0));
  return sum;
}

void expectProduct(const SimulatedKernel &kernel, const Case &c, const TensorKernel &text, int scale = 1) {
  auto *words = reinterpret_cast<const uint32_t *>(kernel.buffers[1].data());
  for (unsigned row = 0; row < c.m; ++row)
    for (unsigned column = 0; column < c.n; ++column) {
      const unsigned lane = c.m == 64 ? row % 16 + row / 16 * 32 : row;
      const int expected = scale * productAt(c, row, column);
      uint32_t bits = uint32_t(expected);
      if (c.left.kind != "i8") {
        float value = float(expected);
        std::memcpy(&bits, &value, sizeof(bits));
      }
      ASSERT_EQ(words[lane * text.columns + column], bits) << "row " << row << ", column " << column;
    }
}

void expectRight(const Case &c) {
  TensorKernel text = kernelOf(c);
  if (c.m == 64) // the other lanes have no elements
    text.beforeMma = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r0};\ntcgen05.wait::st.sync.aligned;\n";
  if (c.m == 64)
    for (unsigned column = 1; column < text.columns; ++column)
      text.beforeMma += "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12+" + std::to_string(column) + "], {%r0};\n";
  if (c.m == 64)
    text.beforeMma += "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
                      "tcgen05.fence::after_thread_sync;\n";
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  expectProduct(*kernel, c, text);
}

TEST(TensorMma, multipliesEachType) {
  for (auto [left, right] : {std::pair(f16, f16), std::pair(bf16, bf16), std::pair(tf32, tf32), std::pair(e4m3, e4m3),
                             std::pair(e5m2, e4m3), std::pair(e2m3, e3m2), std::pair(e2m1, e5m2), std::pair(e4m3, e2m1),
                             std::pair(s8, s8), std::pair(u8, s8), std::pair(u8, u8)}) {
    SCOPED_TRACE(left.kind + " " + std::to_string(left.number) + " " + std::to_string(right.number));
    expectRight({.left = left, .right = right});
  }
}

TEST(TensorMma, readsSwizzledFactors) {
  for (unsigned swizzle : {2u, 4u, 6u})
    for (const Type &type : {f16, e4m3, tf32}) {
      SCOPED_TRACE(type.kind + " swizzle " + std::to_string(swizzle));
      expectRight({.left = type, .right = type, .swizzle = swizzle});
    }
}

TEST(TensorMma, readsTransposedFactors) {
  for (unsigned swizzle : {0u, 2u, 4u, 6u})
    for (const Type &type : {f16, e4m3, s8})
      for (bool isLeft : {false, true}) {
        SCOPED_TRACE(type.kind + " swizzle " + std::to_string(swizzle) + (isLeft ? " left" : " right"));
        expectRight({.left = type,
                     .right = type,
                     .n = 64,
                     .swizzle = swizzle,
                     .leftLineMajor = isLeft,
                     .rightLineMajor = !isLeft});
      }
  expectRight({.left = tf32, .right = tf32, .n = 32, .swizzle = 1, .leftLineMajor = true, .rightLineMajor = true});
}

TEST(TensorMma, spreadsSixtyFourRows) {
  expectRight({.m = 64, .n = 8});
  expectRight({.left = e4m3, .right = e5m2, .m = 64, .n = 24, .swizzle = 2});
}

TEST(TensorMma, hasShapesUpTo256Columns) {
  expectRight({.n = 32});
  expectRight({.n = 64, .swizzle = 2});
}

TEST(TensorMma, negates) {
  Case c{.more = 1u << 13};
  TensorKernel text = kernelOf(c);
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  expectProduct(*kernel, c, text, -1);
  c.more = 1u << 13 | 1u << 14;
  text = kernelOf(c);
  kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  expectProduct(*kernel, c, text);
}

TEST(TensorMma, accumulatesAndScalesWhatIsThere) {
  Case c;
  TensorKernel text = kernelOf(c);
  std::string again = text.mma;
  again.replace(again.rfind(", 0;"), 4, ", 1;");
  text.mma += again + again;
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  expectProduct(*kernel, c, text, 3);
  // 3 * product / 2 + product / 2 is twice the product.
  again.replace(again.rfind(", 1;"), 4, ", 1, 1;");
  text = kernelOf(c);
  text.mma += again + again; // (1 / 2 + 1) / 2 + 1 = 7 / 4: only where the product is a multiple of 4
  kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  auto *values = reinterpret_cast<const float *>(kernel->buffers[1].data());
  for (unsigned row = 0; row < c.m; ++row)
    for (unsigned column = 0; column < c.n; ++column)
      ASSERT_EQ(values[row * text.columns + column], 1.75f * float(productAt(c, row, column)));
}

TEST(TensorMma, leavesDisabledLanes) {
  Case c;
  TensorKernel text = kernelOf(c);
  std::string some = "mov.b32 %r20, 0xff;\nmov.b32 %r21, 0;\n" + text.mma;
  some.replace(some.rfind(", 0;"), 4, ", {%r20, %r21, %r21, %r21}, 1;");
  text.mma += some;
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  auto *values = reinterpret_cast<const float *>(kernel->buffers[1].data());
  for (unsigned row = 0; row < c.m; ++row)
    ASSERT_EQ(values[row * text.columns + 3], float(productAt(c, row, 3) * (row < 8 ? 1 : 2)));
}

/// Thread t of 128 stores row t of A to columns 32 to 39.
TEST(TensorMma, takesAFromTensorMemory) {
  Case c;
  TensorKernel text = kernelOf(c);
  text.mma = "add.s32 %r13, %r10, 32;\ntcgen05.mma.cta_group::1.kind::f16 [%r10], [%r13], %d11, " +
             std::to_string(c.descriptor()) + ", 0;\n";
  text.beforeMma = "shr.u32 %r20, %r0, 3;\nshl.b32 %r20, %r20, 8;\nand.b32 %r21, %r0, 7;\nshl.b32 %r21, %r21, 4;\n"
                   "add.s32 %r20, %r20, %r21;\nadd.s32 %r20, %r20, %r11;\n"
                   "ld.shared.v4.b32 {%t0, %t1, %t2, %t3}, [%r20];\nld.shared.v4.b32 {%t4, %t5, %t6, %t7}, "
                   "[%r20+128];\n"
                   "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r12+32], {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7};\n"
                   "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
                   "tcgen05.fence::after_thread_sync;\n";
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  expectProduct(*kernel, c, text);

  text.beforeMma.erase(text.beforeMma.find("tcgen05.wait::st"), 31); // st may not have been done
  text.make()->expectAlways(ReportKind::EarlyUse, "tcgen05.st still writes");
}

/// The same with tcgen05.cp, which is ordered with the MMA: rows of 32 bytes.
TEST(TensorMma, takesACopyOfAFromTensorMemory) {
  Case c;
  TensorKernel text = kernelOf(c);
  text.mma = "add.s32 %r13, %r10, 32;\ntcgen05.cp.cta_group::1.128x256b [%r13], %d10;\n"
             "tcgen05.mma.cta_group::1.kind::f16 [%r10], [%r13], %d11, " +
             std::to_string(c.descriptor()) + ", 0;\n";
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  expectProduct(*kernel, c, text);
}

TEST(TensorMma, splitsTheColumnsOfWeightStationaryShapes) {
  for (unsigned m : {32u, 64u, 128u}) {
    Case c{.n = 64};
    c.m = m;
    TensorKernel text = kernelOf(c);
    text.mma.replace(text.mma.find(".cta_group"), 0, ".ws");
    auto kernel = text.make();
    Factors(c).fill(c, kernel->input.data());
    const unsigned parts = 128 / m, partColumns = c.n / parts;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      auto reports = kernel->run(seed);
      for (const Report &report : reports) // columns that belong to no part stay uninitialized
        EXPECT_EQ(report.kind, ReportKind::Uninitialized) << kernel->text(reports);
    }
    auto *values = reinterpret_cast<const float *>(kernel->buffers[1].data());
    for (unsigned row = 0; row < m; ++row)
      for (unsigned column = 0; column < c.n; ++column)
        ASSERT_EQ(values[(row + column / partColumns * m) * text.columns + column % partColumns],
                  float(productAt(c, row, column)))
            << m << " row " << row << " column " << column;
  }
}

/// Both halves of the lanes have a copy of A; the copy in the upper half has other rows.
TEST(TensorMma, takesACopyOfAForEachPartOfTheColumns) {
  Case c{.n = 64};
  c.m = 64;
  TensorKernel text = kernelOf(c);
  text.mma = "add.s32 %r13, %r10, 32;\ntcgen05.mma.ws.cta_group::1.kind::f16 [%r10], [%r13], %d11, " +
             std::to_string(c.descriptor()) + ", 0;\n";
  text.beforeMma = "add.u32 %r22, %r0, 8;\nsetp.lt.u32 %p4, %r0, 64;\nselp.b32 %r22, %r0, %r22, %p4;\n"
                   "and.b32 %r22, %r22, 63;\n"
                   "shr.u32 %r20, %r22, 3;\nshl.b32 %r20, %r20, 8;\nand.b32 %r21, %r22, 7;\nshl.b32 %r21, %r21, 4;\n"
                   "add.s32 %r20, %r20, %r21;\nadd.s32 %r20, %r20, %r11;\n"
                   "ld.shared.v4.b32 {%t0, %t1, %t2, %t3}, [%r20];\nld.shared.v4.b32 {%t4, %t5, %t6, %t7}, "
                   "[%r20+128];\n"
                   "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r12+32], {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7};\n"
                   "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
                   "tcgen05.fence::after_thread_sync;\n";
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  for (const Report &report : kernel->run(0)) // columns that belong to no part stay uninitialized
    EXPECT_EQ(report.kind, ReportKind::Uninitialized) << report.message;
  auto *values = reinterpret_cast<const float *>(kernel->buffers[1].data());
  for (unsigned lane = 0; lane < 128; ++lane)
    for (unsigned column = 0; column < 32; ++column) {
      const unsigned row = lane < 64 ? lane : (lane + 8) % 64;
      ASSERT_EQ(values[lane * text.columns + column], float(productAt(c, row, column + lane / 64 * 32)))
          << lane << " " << column;
    }
}

TEST(TensorMma, givesHalvesAColumnEach) {
  Case c;
  TensorKernel text = kernelOf(c);
  text.mma = "tcgen05.mma.cta_group::1.kind::f16 [%r10], %d10, %d11, " + std::to_string(c.descriptor() & ~(1u << 4)) +
             ", 0;\n";
  auto kernel = text.make();
  Factors(c).fill(c, kernel->input.data());
  kernel->expectNone();
  auto *words = reinterpret_cast<const uint32_t *>(kernel->buffers[1].data());
  for (unsigned row = 0; row < c.m; ++row) {
    _Float16 half = _Float16(productAt(c, row, 5));
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof(bits));
    ASSERT_EQ(words[row * text.columns + 5], bits);
  }
}

TEST(TensorMma, refusesShapesAndMajorsThatTheKindDoesNotHave) {
  auto expect = [](Case c, const std::string &words) {
    TensorKernel text = kernelOf(c);
    text.make()->expectAlways(ReportKind::InvalidOperand, words);
  };
  expect({.n = 24}, "M 128 and N 24");
  expect({.n = 8}, "M 128 and N 8");
  expect({.more = 1u << 3}, "saturation");
  expect({.more = 1u << 2}, "sparse");
  expect({.left = f16, .right = bf16}, "different types");
  expect({.left = s8, .right = s8, .more = 1u << 13}, "negate");
  expect({.left = e2m1, .right = e4m3, .more = 1u << 15}, "K-major");
  Case c;
  TensorKernel text = kernelOf(c);
  text.left &= 0xffffffff;
  text.make()->expectAlways(ReportKind::InvalidOperand, "its upper half is lost");
}

TEST(TensorMma, knowsWhichTargetsHaveWhat) {
  auto errorOf = [](TensorKernel text, const std::string &target) -> std::string {
    text.target = target;
    SimulatedKernel kernel(text.body(), 2, "", {"9.0", target, 16384, 16384});
    GlobalMemory memory;
    auto program = Program::load(*kernel.module, "k", memory);
    return program ? "" : program.error().message;
  };
  const TensorKernel integers = kernelOf({.left = s8, .right = s8}), floats = kernelOf({});
  for (const char *target : {"sm_100a", "sm_110a"})
    EXPECT_EQ(errorOf(integers, target), "");
  for (const char *target : {"sm_103a", "sm_100f"}) {
    EXPECT_EQ(errorOf(floats, target), "");
    EXPECT_NE(errorOf(integers, target).find("no kind::i8"), std::string::npos);
  }
  for (const char *target : {"sm_90a", "sm_120a", "sm_100"})
    EXPECT_NE(errorOf(floats, target).find("no tensor memory"), std::string::npos);
  TensorKernel mixed = floats;
  mixed.dealloc.replace(mixed.dealloc.find("group::1"), 8, "group::2");
  EXPECT_NE(errorOf(mixed, "sm_100a").find("must be the same for all"), std::string::npos);
}

} // namespace
