// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dots: a register-tiled loop that accumulates each element in the order of k, in float (f64: double, i8: wrapping
// 32-bit integers). An f16 accumulator is rounded once at the end. tf32 operands are truncated to 10 mantissa bits
// first. tf32x3 splits each operand into a tf32 value and a tf32 remainder and adds the three larger partial products.
#include "Interpreter/Compiler.h"

#include <cmath>
#include <limits>

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace tile::interp {
namespace {

struct Sizes {
  int64_t m, n, k;
};

/// Multiplies `rows` rows of a by `columns` columns of b and accumulates into c. The accumulators stay in registers.
template <typename In, typename Acc, int rows, int columns>
void multiplyTile(const In *a, const In *b, Acc *c, Sizes sizes) {
  Acc accumulators[rows][columns];
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      accumulators[row][column] = c[row * sizes.n + column];
  for (int64_t k = 0; k < sizes.k; ++k)
    for (int row = 0; row < rows; ++row) {
      Acc left = Acc(a[row * sizes.k + k]);
      for (int column = 0; column < columns; ++column)
        accumulators[row][column] += left * Acc(b[k * sizes.n + column]);
    }
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      c[row * sizes.n + column] = accumulators[row][column];
}

template <typename In, typename Acc, int rows> void multiplyRows(const In *a, const In *b, Acc *c, Sizes sizes) {
  constexpr int kColumns = 8; // with 4 rows: 8 of the 16 vector registers of baseline x86-64 hold accumulators
  int64_t column = 0;
  for (; column + kColumns <= sizes.n; column += kColumns)
    multiplyTile<In, Acc, rows, kColumns>(a, b + column, c + column, sizes);
  for (; column < sizes.n; ++column)
    multiplyTile<In, Acc, rows, 1>(a, b + column, c + column, sizes);
}

template <typename In, typename Acc> void multiply(const In *a, const In *b, Acc *c, Sizes sizes) {
  constexpr int kRows = 4;
  int64_t row = 0;
  for (; row + kRows <= sizes.m; row += kRows)
    multiplyRows<In, Acc, kRows>(a + row * sizes.k, b, c + row * sizes.n, sizes);
  for (; row < sizes.m; ++row)
    multiplyRows<In, Acc, 1>(a + row * sizes.k, b, c + row * sizes.n, sizes);
}

/// Inputs: a, b, accumulator; the result starts as a copy of the accumulator.
template <typename In, typename Acc> bool dot(Machine &machine, const Instruction &instruction) {
  const auto &sizes = instruction.dataAs<Sizes>();
  Acc *result = machine.at<Acc>(instruction.out[0]);
  std::memcpy(result, machine.at<Acc>(instruction.in[2]), size_t(instruction.count) * sizeof(Acc));
  multiply(machine.at<In>(instruction.in[0]), machine.at<In>(instruction.in[1]), result, sizes);
  if constexpr (std::is_same_v<Acc, float>)
    roundInPlace(instruction.kind, result, instruction.count);
  return true;
}

/// Slots of the operands' tf32 parts.
struct Tf32Data {
  Sizes sizes;
  size_t bigA, bigB, smallA, smallB;
  bool threeProducts;
};

void splitTf32(const float *values, float *big, float *small, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    big[i] = truncateToTf32(values[i]);
    small[i] = truncateToTf32(values[i] - big[i]); // NaN for infinities, whose tf32x3 products are NaN
  }
}

bool dotTf32(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<Tf32Data>();
  Sizes sizes = data.sizes;
  float *bigA = machine.at<float>(data.bigA), *bigB = machine.at<float>(data.bigB);
  float *smallA = machine.at<float>(data.smallA), *smallB = machine.at<float>(data.smallB);
  splitTf32(machine.at<float>(instruction.in[0]), bigA, smallA, sizes.m * sizes.k);
  splitTf32(machine.at<float>(instruction.in[1]), bigB, smallB, sizes.k * sizes.n);
  float *result = machine.at<float>(instruction.out[0]);
  std::memcpy(result, machine.at<float>(instruction.in[2]), size_t(instruction.count) * sizeof(float));
  if (data.threeProducts) { // smaller partial products first, so that they are not rounded away one by one
    multiply(smallA, bigB, result, sizes);
    multiply(bigA, smallB, result, sizes);
  }
  multiply(bigA, bigB, result, sizes);
  return true;
}

void emitTf32(Compiler &compiler, DotOp op, Sizes sizes) {
  Slot parts[] = {compiler.scratch(Kind::F32, sizes.m * sizes.k), compiler.scratch(Kind::F32, sizes.k * sizes.n),
                  compiler.scratch(Kind::F32, sizes.m * sizes.k), compiler.scratch(Kind::F32, sizes.k * sizes.n)};
  Tf32Data data{sizes,           parts[0].offset, parts[1].offset,
                parts[2].offset, parts[3].offset, op.getPrecision() == InputPrecision::tf32x3};
  compiler.emit(op, dotTf32).data = std::make_shared<const Tf32Data>(data);
  for (Slot part : parts)
    compiler.release(part);
}

/// The format of an operand of a scaled dot. `lines` are rows of a, or columns of b.
struct ScaledOperand {
  Slot values, scale; ///< an operand without scales has a slot of size 0
  ScaledFormat format;
  bool isLeft;             ///< k is the second dimension, otherwise the first.
  bool isPackedByK = true; ///< True if two neighbours along k share a byte (e2m1).
  size_t decoded;          ///< Offset of the scaled values: lines x depth floats (a), or depth x lines (b).
};

struct ScaledData {
  Sizes sizes;
  ScaledOperand a, b;
  Kind rounded; ///< The format to which scaled elements are rounded.
};

/// Returns the value of a 4-bit float: sign, two bits of exponent, one of mantissa.
float decodeE2M1(unsigned bits) {
  static constexpr float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  float magnitude = magnitudes[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

float elementOf(Machine &machine, const ScaledOperand &operand, int64_t line, int64_t k, Sizes sizes) {
  int64_t row = operand.isLeft ? line : k, column = operand.isLeft ? k : line;
  int64_t width = operand.isLeft ? sizes.k : sizes.n;
  const bool isPacked = operand.format == ScaledFormat::e2m1;
  unsigned half = 0;
  if (isPacked && operand.isPackedByK == operand.isLeft) { // neighbours in a row
    half = column & 1;
    column /= 2;
    width /= 2;
  } else if (isPacked) {
    half = row & 1;
    row /= 2;
  }
  const int64_t index = row * width + column;
  if (operand.values.kind != Kind::I8)
    return machine.at<float>(operand.values.offset)[index];
  const auto byte = machine.at<uint8_t>(operand.values.offset)[index];
  return isPacked ? decodeE2M1(half ? byte >> 4 : byte)
                  : decode(operand.format == ScaledFormat::e4m3 ? Kind::F8E4M3 : Kind::F8E5M2, byte);
}

float scaleOf(Machine &machine, Slot scale, int64_t index) {
  constexpr uint8_t nanByte = 255;
  constexpr int bias = 127;
  if (scale.kind != Kind::I8)
    return machine.at<float>(scale.offset)[index];
  const auto byte = machine.at<uint8_t>(scale.offset)[index];
  return byte == nanByte ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - bias);
}

void decodeOperand(Machine &machine, const ScaledOperand &operand, Sizes sizes, Kind rounded) {
  const int64_t lines = operand.isLeft ? sizes.m : sizes.n, groups = operand.scale.count / lines;
  auto *decoded = machine.at<float>(operand.decoded);
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t k = 0; k < sizes.k; ++k) {
      float value = elementOf(machine, operand, line, k, sizes);
      if (groups != 0)
        value *= scaleOf(machine, operand.scale, line * groups + k / (sizes.k / groups));
      decoded[operand.isLeft ? line * sizes.k + k : k * sizes.n + line] = value;
    }
  roundInPlace(rounded, decoded, lines * sizes.k);
}

bool dotScaled(Machine &machine, const Instruction &instruction) {
  const auto &data = instruction.dataAs<ScaledData>();
  decodeOperand(machine, data.a, data.sizes, data.rounded);
  decodeOperand(machine, data.b, data.sizes, data.rounded);
  auto *result = machine.at<float>(instruction.out[0]);
  std::memcpy(result, machine.at<float>(instruction.in[0]), size_t(instruction.count) * sizeof(float));
  multiply(machine.at<float>(data.a.decoded), machine.at<float>(data.b.decoded), result, data.sizes);
  return true;
}

void emitScaled(Compiler &compiler, Operation *op, ScaledData data, Value acc) {
  Slot decoded[] = {compiler.scratch(Kind::F32, data.sizes.m * data.sizes.k),
                    compiler.scratch(Kind::F32, data.sizes.k * data.sizes.n)};
  data.a.decoded = decoded[0].offset;
  data.b.decoded = decoded[1].offset;
  Slot result = compiler.define(op->getResult(0));
  compiler.emit(op, dotScaled, {compiler.slotOf(acc).offset}, {result.offset}, result).data =
      std::make_shared<const ScaledData>(data);
  for (Slot part : decoded)
    compiler.release(part);
}

Slot slotOrNone(Compiler &compiler, Value value) {
  return value ? compiler.slotOf(value) : Slot{};
}

bool compileDotScaled(Compiler &compiler, Operation *operation) {
  auto op = cast<DotScaledOp>(operation);
  Sizes sizes{op.getType().getDimSize(0), op.getType().getDimSize(1), op.getDepth()};
  bool isHalf = op.getAFormat() == ScaledFormat::fp16 || op.getBFormat() == ScaledFormat::fp16;
  ScaledOperand a{compiler.slotOf(op.getA()),
                  slotOrNone(compiler, op.getAScale()),
                  op.getAFormat(),
                  /*isLeft=*/true,
                  !op.getAPackedByRow(),
                  0},
      b{compiler.slotOf(op.getB()),
        slotOrNone(compiler, op.getBScale()),
        op.getBFormat(),
        /*isLeft=*/false,
        !op.getBPackedByColumn(),
        0};
  emitScaled(compiler, op, {sizes, a, b, isHalf ? Kind::F16 : Kind::BF16}, op.getAcc());
  return true;
}

/// Returns how an operand of a dot with scales is read; operands that are stored as bytes are e2m1.
ScaledOperand scaledOperand(Compiler &compiler, Value value, Value scale, bool isLeft) {
  Slot slot = compiler.slotOf(value);
  return {slot,   compiler.slotOf(scale), slot.kind == Kind::I8 ? ScaledFormat::e2m1 : ScaledFormat::e4m3,
          isLeft, /*isPackedByK=*/true,   0};
}

bool compileDot(Compiler &compiler, Operation *operation) {
  auto op = cast<DotOp>(operation);
  if (op.isScaled()) {
    ScaledOperand a = scaledOperand(compiler, op.getA(), op.getAScale(), /*isLeft=*/true),
                  b = scaledOperand(compiler, op.getB(), op.getBScale(), /*isLeft=*/false);
    emitScaled(compiler, op, {{op.getType().getDimSize(0), op.getType().getDimSize(1), op.getDepth()}, a, b, Kind::F32},
               op.getAcc());
    return true;
  }
  Sizes sizes{op.getA().getType().getDimSize(0), op.getB().getType().getDimSize(1), op.getA().getType().getDimSize(1)};
  Kind kind = compiler.slotOf(op.getA()).kind;
  if (kind == Kind::F32 && op.getPrecision() != InputPrecision::ieee) {
    emitTf32(compiler, op, sizes);
    return true;
  }
  Execute execute = kind == Kind::I8    ? dot<int8_t, uint32_t>
                    : kind == Kind::F64 ? dot<double, double>
                                        : dot<float, float>;
  compiler.emit(op, execute).data = std::make_shared<const Sizes>(sizes);
  return true;
}

} // namespace

void registerDotOps(HandlerTable &table) {
  table["tile.dot"] = compileDot;
  table["tile.dot_scaled"] = compileDotScaled;
}

} // namespace tile::interp
