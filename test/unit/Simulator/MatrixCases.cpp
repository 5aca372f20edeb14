// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixCases.h"

#include "MatrixFactors.h"
#include "Simulator/Exec/Matrix/Fragments.h"

#include <cstring>
#include <fmt/format.h>

namespace tile::sim {
namespace {

using namespace matrix;

constexpr unsigned lanes = 32, warps = matrixThreads / lanes;

std::string names(const std::string &prefix, unsigned count) {
  std::string list;
  for (unsigned i = 0; i < count; ++i)
    list += fmt::format("{}{}{}", i ? ", " : "", prefix, i);
  return "{" + list + "}";
}

/// The common part of a kernel: `%in` and `%out` are the addresses of this CTA's words.
std::string frame(const MatrixCase &of, uint32_t inputWords, const std::string &registers, const std::string &body) {
  return fmt::format(".visible .entry {}(.param .u64 d, .param .u64 a, .param .u64 b)\n{{\n"
                     ".reg .b32 %thread, %cta, %t<8>;\n.reg .b64 %in, %out, %w<8>;\n.reg .pred %p<4>;\n{}"
                     "mov.u32 %thread, %tid.x;\nmov.u32 %cta, %ctaid.x;\n"
                     "ld.param.u64 %out, [d];\nld.param.u64 %in, [a];\n"
                     "mul.wide.u32 %w0, %cta, {};\nadd.s64 %in, %in, %w0;\n"
                     "mul.wide.u32 %w0, %cta, {};\nadd.s64 %out, %out, %w0;\n{}ret;\n}}\n",
                     of.name, registers, inputWords * 4, of.resultWords * 4, body);
}

struct FragmentCounts {
  unsigned left, right, sums;
  unsigned all() const { return left + right + sums; }
};

/// Returns the bits of one register of a fragment from consecutive elements.
template <typename Element> uint64_t packRegister(unsigned bits, unsigned registerBits, Element &&element) {
  uint64_t value = 0;
  for (unsigned i = 0; i < registerBits / bits; ++i)
    value |= element(i) << (bits * i);
  return value;
}

struct MmaVariant {
  const char *name, *instruction;
  MatrixFormat left, right, sum;
  unsigned rows, depth;
  unsigned integerBits = 0; ///< 0: elements are floats
};

/// Returns the words of one warp's fragments: registers of `registerBits`, [register][lane].
std::vector<uint64_t> mmaRegisters(const MatrixFactors &factors, FragmentCounts counts, unsigned bits, unsigned sumBits,
                                   unsigned registerBits) {
  std::vector<uint64_t> registers;
  unsigned perRegister = registerBits / bits;
  for (unsigned r = 0; r < counts.left; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Position at = leftPosition(lane, r, perRegister, factors.rows);
      registers.push_back(packRegister(
          bits, registerBits, [&](unsigned i) { return factors.left[at.row * factors.depth + at.column + i]; }));
    }
  for (unsigned r = 0; r < counts.right; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Position at = rightPosition(lane, r, perRegister);
      registers.push_back(packRegister(
          bits, registerBits, [&](unsigned i) { return factors.right[(at.row + i) * factors.columns + at.column]; }));
    }
  unsigned perSum = registerBits / sumBits;
  for (unsigned r = 0; r < counts.sums; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane)
      registers.push_back(packRegister(sumBits, registerBits, [&](unsigned i) {
        Position at = accumulatorPosition(lane, r * perSum + i);
        return factors.sums[at.row * factors.columns + at.column];
      }));
  return registers;
}

MatrixCase mmaCase(const MmaVariant &variant, uint64_t seed) {
  constexpr unsigned columns = 8;
  unsigned bits = variant.integerBits ? variant.integerBits : variant.left.bits();
  unsigned sumBits = variant.integerBits ? 32 : variant.sum.bits(), registerBits = bits == 64 ? 64 : 32;
  unsigned perWarp = lanes * registerBits;
  FragmentCounts counts{variant.rows * variant.depth * bits / perWarp, columns * variant.depth * bits / perWarp,
                        variant.rows * columns * sumBits / perWarp};
  unsigned words = registerBits / 32, ctaWords = counts.all() * matrixThreads * words;
  MatrixCase result;
  result.name = variant.name;
  result.instruction = fmt::format("mma.sync.aligned.{}", variant.instruction);
  result.ctas = variant.integerBits ? 24 : 240 / words;
  result.resultWords = counts.sums * matrixThreads * words;
  for (unsigned cta = 0; cta < result.ctas; ++cta)
    for (unsigned warp = 0; warp < warps; ++warp) {
      unsigned index = cta + warp * result.ctas;
      MatrixFactors factors =
          variant.integerBits ? integerFactors(seed, index, variant.rows, columns, variant.depth, variant.integerBits)
                              : floatFactors(seed, index, variant.rows, columns, variant.depth, variant.left,
                                             variant.right, variant.sum);
      for (uint64_t value : mmaRegisters(factors, counts, bits, sumBits, registerBits))
        for (unsigned word = 0; word < words; ++word)
          result.inputs.push_back(uint32_t(value >> 32 * word));
    }

  unsigned bytes = registerBits / 8;
  std::string body =
      fmt::format("shr.u32 %t0, %thread, 5;\nand.b32 %t1, %thread, 31;\n"
                  "mad.lo.u32 %t2, %t0, {}, %t1;\nmul.wide.u32 %w1, %t2, {};\nadd.s64 %in, %in, %w1;\n"
                  "mad.lo.u32 %t3, %t0, {}, %t1;\nmul.wide.u32 %w2, %t3, {};\nadd.s64 %out, %out, %w2;\n",
                  counts.all() * lanes, bytes, counts.sums * lanes, bytes);
  std::string type = registerBits == 64 ? "f64" : variant.integerBits || sumBits == 16 ? "b32" : "f32";
  std::string factorType = registerBits == 64 ? "f64" : "b32";
  unsigned at = 0;
  auto loads = [&](const char *prefix, unsigned count, const std::string &registerType) {
    for (unsigned i = 0; i < count; ++i, ++at)
      body += fmt::format("ld.global.{} {}{}, [%in+{}];\n", registerType, prefix, i, at * lanes * bytes);
  };
  loads("%l", counts.left, factorType);
  loads("%r", counts.right, factorType);
  loads("%s", counts.sums, type);
  body += fmt::format("{} {}, {}, {}, {};\n", result.instruction, names("%s", counts.sums), names("%l", counts.left),
                      names("%r", counts.right), names("%s", counts.sums));
  for (unsigned i = 0; i < counts.sums; ++i)
    body += fmt::format("st.global.{} [%out+{}], %s{};\n", type, i * lanes * bytes, i);
  std::string registers = fmt::format(".reg .{0} %l<8>, %r<4>;\n.reg .{1} %s<4>;\n", factorType, type);
  result.kernel = frame(result, ctaWords, registers, body);
  return result;
}

struct WgmmaVariant {
  const char *name, *instruction, *immediates;
  MatrixFormat left, right, sum;
  unsigned depth;
  bool leftInRegisters = false;
  unsigned integerBits = 0;
};

/// Position in the plain K-major layout: core matrices of 8 lines times 16 bytes, two of them 128 bytes apart.
unsigned plainOffset(unsigned line, unsigned byte) {
  return line / 8 * 256 + byte / 16 * 128 + line % 8 * 16 + byte % 16;
}

MatrixCase wgmmaCase(const WgmmaVariant &variant, uint64_t seed) {
  constexpr unsigned rows = 64, columns = 8, memoryWords = 1024, rightAt = 2048;
  unsigned bits = variant.integerBits ? variant.integerBits : variant.left.bits();
  unsigned sumBits = variant.integerBits ? 32 : variant.sum.bits(), sums = sumBits == 16 ? 2 : 4;
  unsigned leftRegisters = variant.leftInRegisters ? 4 : 0;
  unsigned ctaWords = memoryWords + (sums + leftRegisters) * matrixThreads;
  MatrixCase result;
  result.name = variant.name;
  result.instruction = fmt::format("wgmma.mma_async.sync.aligned.{}", variant.instruction);
  result.ctas = variant.integerBits ? 24 : 144;
  result.resultWords = sums * matrixThreads;
  for (unsigned cta = 0; cta < result.ctas; ++cta) {
    MatrixFactors factors =
        variant.integerBits
            ? integerFactors(seed, cta, rows, columns, variant.depth, variant.integerBits)
            : floatFactors(seed, cta, rows, columns, variant.depth, variant.left, variant.right, variant.sum);
    std::vector<uint32_t> words(ctaWords);
    auto *memory = reinterpret_cast<unsigned char *>(words.data());
    for (unsigned k = 0; k < variant.depth; ++k) {
      for (unsigned row = 0; row < rows; ++row)
        std::memcpy(memory + plainOffset(row, k * bits / 8), &factors.left[row * variant.depth + k], bits / 8);
      for (unsigned column = 0; column < columns; ++column)
        std::memcpy(memory + rightAt + plainOffset(column, k * bits / 8), &factors.right[k * columns + column],
                    bits / 8);
    }
    for (unsigned thread = 0; thread < matrixThreads; ++thread) {
      unsigned lane = thread % lanes, firstRow = thread / lanes * 16;
      for (unsigned r = 0; r < sums; ++r)
        words[memoryWords + r * matrixThreads + thread] = uint32_t(packRegister(sumBits, 32, [&](unsigned i) {
          Position at = accumulatorPosition(lane, r * (32 / sumBits) + i);
          return factors.sums[(firstRow + at.row) * columns + at.column];
        }));
      for (unsigned r = 0; r < leftRegisters; ++r)
        words[memoryWords + (sums + r) * matrixThreads + thread] = uint32_t(packRegister(bits, 32, [&](unsigned i) {
          Position at = leftPosition(lane, r, 32 / bits);
          return factors.left[(firstRow + at.row) * variant.depth + at.column + i];
        }));
    }
    result.inputs.insert(result.inputs.end(), words.begin(), words.end());
  }

  std::string type = variant.integerBits || sumBits == 16 ? "b32" : "f32", body;
  body = "shl.b32 %t0, %thread, 5;\ncvt.u64.u32 %w1, %t0;\nadd.s64 %w2, %in, %w1;\n"
         "ld.global.v4.b32 {%t1, %t2, %t3, %t4}, [%w2];\nmov.u32 %t5, memory;\nadd.u32 %t6, %t5, %t0;\n"
         "st.shared.v4.b32 [%t6], {%t1, %t2, %t3, %t4};\nld.global.v4.b32 {%t1, %t2, %t3, %t4}, [%w2+16];\n"
         "st.shared.v4.b32 [%t6+16], {%t1, %t2, %t3, %t4};\nmul.wide.u32 %w3, %thread, 4;\nadd.s64 %in, %in, %w3;\n"
         "add.s64 %out, %out, %w3;\n";
  for (unsigned i = 0; i < sums + leftRegisters; ++i)
    body += fmt::format("ld.global.{} {}{}, [%in+{}];\n", i < sums ? type : "b32", i < sums ? "%s" : "%l",
                        i < sums ? i : i - sums, (memoryWords + i * matrixThreads) * 4);
  // Leading byte offset 128, stride byte offset 256.
  uint64_t constant = uint64_t(128 / 16) << 16 | uint64_t(256 / 16) << 32;
  body += fmt::format("fence.proxy.async.shared::cta;\nbar.sync 0;\ncvt.u64.u32 %w4, %t5;\nshr.u64 %w4, %w4, 4;\n"
                      "add.s64 %w5, %w4, {};\nadd.s64 %w6, %w5, {};\nmov.pred %p0, 1;\nwgmma.fence.sync.aligned;\n"
                      "{} {}, {}, %w6, %p0{};\n"
                      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
                      constant, rightAt / 16, result.instruction, names("%s", sums),
                      leftRegisters ? names("%l", 4) : "%w5", variant.immediates);
  for (unsigned i = 0; i < sums; ++i)
    body += fmt::format("st.global.{} [%out+{}], %s{};\n", type, i * matrixThreads * 4, i);
  std::string registers = fmt::format(".reg .{} %s<4>;\n.reg .b32 %l<4>;\n", type);
  result.kernel = frame(result, ctaWords, registers, body);
  return result;
}

constexpr uint32_t imageBytes = 49152, identityAt = imageBytes - 8192; // what static shared memory may have

uint64_t descriptor(uint32_t at, uint32_t leading, uint32_t stride, uint32_t baseOffset, uint32_t swizzle) {
  return uint64_t(at / 16) | uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 | uint64_t(baseOffset) << 49 |
         uint64_t(swizzle) << 62;
}

/// Returns descriptors for one major dimension: typical ones of kernels, and unusual ones.
std::vector<uint64_t> layoutDescriptors(bool isLineMajor) {
  std::vector<uint64_t> all;
  for (uint32_t swizzle = 0; swizzle < 4; ++swizzle) {
    constexpr uint32_t eightRows[] = {128, 1024, 512, 256};
    uint32_t rows = eightRows[swizzle];
    auto add = [&](uint32_t at, uint32_t leading, uint32_t stride, uint32_t baseOffset = 0) {
      all.push_back(descriptor(at, leading, stride, baseOffset, swizzle));
    };
    if (swizzle == 0) {
      add(0, 128, 256);
      add(48, 256, 128);
      add(4096 + 128, 2048, 128);
      add(16, 16 * 77, 16 * 99);
      add(144, 144, 80);
      continue;
    }
    uint32_t leading = isLineMajor ? 2 * rows : 16;
    for (uint32_t step : {0, 32, 64, 96}) // along K in a swizzled row
      add(step, leading, rows);
    add(1024 + 16, leading, 2 * rows);
    add(128, 2048, rows);
    add(256, 4096, rows, 2);
    add(384, 2048, rows, 3);
    add(512 + 32, 2048, rows, 4);
    add(0, leading + 128, rows + 128);
    add(2048, rows, 2048);
  }
  return all;
}

/// The operand under test is the left one (transposed or not) or the right one; the other is the identity, K-major.
MatrixCase layoutCase(const char *name, bool isLeft, bool isLineMajor) {
  constexpr unsigned sums = 64;
  uint64_t identity = descriptor(identityAt, 128, 256, 0, 0);
  MatrixCase result;
  result.name = name;
  result.instruction = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16";
  result.resultWords = sums * matrixThreads;
  for (uint64_t tested : layoutDescriptors(isLineMajor)) {
    uint64_t left = isLeft ? tested : identity, right = isLeft ? identity : tested;
    for (uint64_t bits : {left, right}) {
      result.inputs.push_back(uint32_t(bits));
      result.inputs.push_back(uint32_t(bits >> 32));
    }
    ++result.ctas;
  }
  std::string body = fmt::format(
      "ld.param.u64 %w1, [b];\nmov.u32 %t0, memory;\nmov.u32 %t1, %thread;\n"
      "copy:\nshl.b32 %t2, %t1, 2;\nadd.u32 %t3, %t0, %t2;\ncvt.u64.u32 %w2, %t2;\nadd.s64 %w3, %w1, %w2;\n"
      "ld.global.b32 %t4, [%w3];\nst.shared.b32 [%t3], %t4;\nadd.u32 %t1, %t1, {};\nsetp.lt.u32 %p1, %t1, {};\n"
      "@%p1 bra copy;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\nld.global.b64 %w4, [%in];\nld.global.b64 %w5, [%in+8];\n"
      "cvt.u64.u32 %w6, %t0;\nshr.u64 %w6, %w6, 4;\nadd.s64 %w4, %w4, %w6;\nadd.s64 %w5, %w5, %w6;\n"
      "mov.pred %p0, 0;\nwgmma.fence.sync.aligned;\n{} {}, %w4, %w5, %p0, 1, 1, {}, {};\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
      "mul.wide.u32 %w7, %thread, 4;\nadd.s64 %out, %out, %w7;\n",
      matrixThreads, imageBytes / 4, result.instruction, names("%s", sums), int(isLeft && isLineMajor),
      int(!isLeft && isLineMajor));
  for (unsigned i = 0; i < sums; ++i)
    body += fmt::format("st.global.f32 [%out+{}], %s{};\n", i * matrixThreads * 4, i);
  std::string registers = fmt::format(".reg .f32 %s<{}>;\n", sums);
  result.kernel = frame(result, 4, registers, body);
  return result;
}

} // namespace

std::vector<uint32_t> matrixImage() {
  auto bitsOf = [](int value) { // f16 of an integer
    if (value == 0)
      return uint16_t(0);
    unsigned magnitude = value < 0 ? -value : value, exponent = 31 - __builtin_clz(magnitude);
    return uint16_t((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 0x3ff));
  };
  std::vector<uint16_t> image(imageBytes / 2);
  MatrixRandom random(12345);
  for (uint32_t i = 0; i < identityAt / 2; ++i)
    image[i] = bitsOf(int(random.below(4095)) - 2047);
  for (unsigned i = 0; i < 16; ++i)
    image[(identityAt + plainOffset(i, i * 2)) / 2] = bitsOf(1);
  std::vector<uint32_t> words(imageBytes / 4);
  std::memcpy(words.data(), image.data(), imageBytes);
  return words;
}

std::vector<MatrixCase> matrixCases() {
  const MatrixFormat &f16 = f16Format, &bf16 = bf16Format, &tf32 = tf32Format, &e4m3 = e4m3Format, &e5m2 = e5m2Format,
                     &f32 = f32Format, &f64 = f64Format;
  const MatrixFormat none{};
  const MmaVariant mmas[] = {
      {"f16_k8", "m16n8k8.row.col.f32.f16.f16.f32", f16, f16, f32, 16, 8},
      {"f16_k8_half", "m16n8k8.row.col.f16.f16.f16.f16", f16, f16, f16, 16, 8},
      {"f16_k16", "m16n8k16.row.col.f32.f16.f16.f32", f16, f16, f32, 16, 16},
      {"f16_k16_half", "m16n8k16.row.col.f16.f16.f16.f16", f16, f16, f16, 16, 16},
      {"bf16_k8", "m16n8k8.row.col.f32.bf16.bf16.f32", bf16, bf16, f32, 16, 8},
      {"bf16_k16", "m16n8k16.row.col.f32.bf16.bf16.f32", bf16, bf16, f32, 16, 16},
      {"tf32_k4", "m16n8k4.row.col.f32.tf32.tf32.f32", tf32, tf32, f32, 16, 4},
      {"tf32_k8", "m16n8k8.row.col.f32.tf32.tf32.f32", tf32, tf32, f32, 16, 8},
      {"e4m3_k32", "m16n8k32.row.col.f32.e4m3.e4m3.f32", e4m3, e4m3, f32, 16, 32},
      {"e5m2_e4m3_k32", "m16n8k32.row.col.f32.e5m2.e4m3.f32", e5m2, e4m3, f32, 16, 32},
      {"e5m2_k32", "m16n8k32.row.col.f32.e5m2.e5m2.f32", e5m2, e5m2, f32, 16, 32},
      {"e4m3_e5m2_k16", "m16n8k16.row.col.f32.e4m3.e5m2.f32", e4m3, e5m2, f32, 16, 16},
      {"e4m3_k32_half", "m16n8k32.row.col.f16.e4m3.e4m3.f16", e4m3, e4m3, f16, 16, 32},
      {"e5m2_k16_half", "m16n8k16.row.col.f16.e5m2.e5m2.f16", e5m2, e5m2, f16, 16, 16},
      {"f64_m8", "m8n8k4.row.col.f64.f64.f64.f64", f64, f64, f64, 8, 4},
      {"f64_k4", "m16n8k4.row.col.f64.f64.f64.f64", f64, f64, f64, 16, 4},
      {"f64_k8", "m16n8k8.row.col.f64.f64.f64.f64", f64, f64, f64, 16, 8},
      {"f64_k16", "m16n8k16.row.col.f64.f64.f64.f64", f64, f64, f64, 16, 16},
      {"s8_u8_m8", "m8n8k16.row.col.s32.s8.u8.s32", none, none, none, 8, 16, 8},
      {"s8_k16", "m16n8k16.row.col.satfinite.s32.s8.s8.s32", none, none, none, 16, 16, 8},
      {"s8_k32", "m16n8k32.row.col.s32.s8.s8.s32", none, none, none, 16, 32, 8},
      {"u8_s8_k32", "m16n8k32.row.col.satfinite.s32.u8.s8.s32", none, none, none, 16, 32, 8},
      {"u8_k32", "m16n8k32.row.col.satfinite.s32.u8.u8.s32", none, none, none, 16, 32, 8},
      {"s4_m8", "m8n8k32.row.col.satfinite.s32.s4.s4.s32", none, none, none, 8, 32, 4},
      {"s4_k32", "m16n8k32.row.col.s32.s4.s4.s32", none, none, none, 16, 32, 4},
      {"s4_u4_k64", "m16n8k64.row.col.satfinite.s32.s4.u4.s32", none, none, none, 16, 64, 4},
      {"b1_m8", "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", none, none, none, 8, 128, 1},
      {"b1_k128", "m16n8k128.row.col.s32.b1.b1.s32.and.popc", none, none, none, 16, 128, 1},
      {"b1_k256", "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", none, none, none, 16, 256, 1},
  };
  const WgmmaVariant wgmmas[] = {
      {"w_f16", "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0", f16, f16, f32, 16},
      {"w_f16_registers", "m64n8k16.f32.f16.f16", ", 1, 1, 0", f16, f16, f32, 16, true},
      {"w_f16_half", "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0", f16, f16, f16, 16},
      {"w_f16_negated", "m64n8k16.f32.f16.f16", ", -1, 1, 0, 0", f16, f16, f32, 16},
      {"w_bf16", "m64n8k16.f32.bf16.bf16", ", 1, -1, 0, 0", bf16, bf16, f32, 16},
      {"w_tf32", "m64n8k8.f32.tf32.tf32", ", 1, 1", tf32, tf32, f32, 8},
      {"w_tf32_registers", "m64n8k8.f32.tf32.tf32", ", 1, 1", tf32, tf32, f32, 8, true},
      {"w_e4m3", "m64n8k32.f32.e4m3.e4m3", ", 1, 1", e4m3, e4m3, f32, 32},
      {"w_e4m3_e5m2", "m64n8k32.f32.e4m3.e5m2", ", 1, 1", e4m3, e5m2, f32, 32},
      {"w_e5m2_registers", "m64n8k32.f32.e5m2.e5m2", ", 1, 1", e5m2, e5m2, f32, 32, true},
      {"w_e4m3_half", "m64n8k32.f16.e4m3.e4m3", ", 1, 1", e4m3, e4m3, f16, 32},
      {"w_e5m2_e4m3_half", "m64n8k32.f16.e5m2.e4m3", ", 1, 1", e5m2, e4m3, f16, 32},
      {"w_s8", "m64n8k32.s32.s8.s8", "", none, none, none, 32, false, 8},
      {"w_s8_saturate", "m64n8k32.s32.s8.s8.satfinite", "", none, none, none, 32, false, 8},
      {"w_u8_s8_registers", "m64n8k32.s32.u8.s8.satfinite", "", none, none, none, 32, true, 8},
  };
  std::vector<MatrixCase> cases;
  for (const MmaVariant &variant : mmas)
    cases.push_back(mmaCase(variant, cases.size()));
  for (const WgmmaVariant &variant : wgmmas)
    cases.push_back(wgmmaCase(variant, cases.size()));
  cases.push_back(layoutCase("layout_left", true, false));
  cases.push_back(layoutCase("layout_left_transposed", true, true));
  cases.push_back(layoutCase("layout_right", false, false));
  cases.push_back(layoutCase("layout_right_transposed", false, true));
  return cases;
}

std::string matrixModule(const std::vector<MatrixCase> &cases) {
  std::string text = fmt::format(".version 8.7\n.target sm_90a\n.address_size 64\n"
                                 ".shared .align 1024 .b8 memory[{}];\n",
                                 imageBytes);
  for (const MatrixCase &matrixCase : cases)
    text += matrixCase.kernel;
  return text;
}

std::vector<uint32_t> matrixSummary(const MatrixCase &matrixCase, const std::vector<uint32_t> &results) {
  constexpr unsigned classes = 48;
  std::vector<uint32_t> hashes(classes, 2166136261u); // FNV-1a
  for (size_t i = 0; i < results.size(); ++i) {
    uint32_t &hash = hashes[i / matrixCase.resultWords % classes];
    for (unsigned byte = 0; byte < 4; ++byte)
      hash = (hash ^ (results[i] >> 8 * byte & 0xff)) * 16777619u;
  }
  return hashes;
}

} // namespace tile::sim
