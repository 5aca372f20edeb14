// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dots: a register-tiled loop that accumulates each element in the order of k, in float (f64: double, i8: wrapping
// 32-bit integers). An f16 accumulator is rounded once at the end. tf32 operands are rounded to 10 mantissa bits first.
// tf32x3 splits each operand into a tf32 number and a tf32 remainder and adds the three larger products.
#include "Interpreter/Compiler.h"

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace tile::interp {
namespace {

struct Sizes {
  int64_t m, n, k;
};

/// Accumulates the product of `rows` rows of a and `columns` columns of b into c. The accumulators stay in registers.
template <typename In, typename Acc, int rows, int columns>
void multiplyTile(const In *a, const In *b, Acc *c, Sizes sizes) {
  Acc sums[rows][columns];
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      sums[row][column] = c[row * sizes.n + column];
  for (int64_t k = 0; k < sizes.k; ++k)
    for (int row = 0; row < rows; ++row) {
      Acc left = Acc(a[row * sizes.k + k]);
      for (int column = 0; column < columns; ++column)
        sums[row][column] += left * Acc(b[k * sizes.n + column]);
    }
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      c[row * sizes.n + column] = sums[row][column];
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
    big[i] = roundToTf32(values[i]);
    small[i] = roundToTf32(values[i] - big[i]); // NaN for infinities, whose tf32x3 products are NaN
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
  if (data.threeProducts) { // smaller products first, so that they are not rounded away one by one
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

bool compileDot(Compiler &compiler, Operation *operation) {
  auto op = cast<DotOp>(operation);
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
}

} // namespace tile::interp
