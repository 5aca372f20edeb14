// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic wraps at the type's width. Division by zero is an error, reported for the element. The most
// negative integer divided by -1 wraps. A shift by at least the width equals repeated shifts by one (0, or copies of
// the sign bit), as in PTX.
#include "Interpreter/Compiler.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::interp {
namespace {

/// Integers of `width` bits: U is the type in the frame, W and SW are the types of the arithmetic.
template <unsigned width> struct Int {
  static constexpr unsigned kWidth = width;
  using U = std::conditional_t<
      width <= 8, uint8_t,
      std::conditional_t<width == 16, uint16_t, std::conditional_t<width == 32, uint32_t, uint64_t>>>;
  using W = std::conditional_t<width == 64, uint64_t, uint32_t>;
  using SW = std::make_signed_t<W>;
  /// Holds the exact product of two integers.
  using Wide = std::conditional_t<width == 64, unsigned __int128, uint64_t>;
  using SWide = std::conditional_t<width == 64, __int128, int64_t>;

  static U wrap(W value) { return width == 1 ? U(value & 1) : U(value); }
  static SW sign(W value) { return width == 1 ? -SW(value & 1) : SW(std::make_signed_t<U>(value)); }
};

bool failOverflow(Machine &machine, const Instruction &instruction, int64_t left, int64_t right, unsigned width,
                  int64_t element) {
  StringRef name = instruction.op->getName().getStringRef();
  char sign = name == "arith.addi" ? '+' : name == "arith.subi" ? '-' : '*';
  return machine.fail(instruction,
                      llvm::formatv("integer overflow: {0} {1} {2} does not fit in {3} bits", left, sign, right, width),
                      element);
}

template <typename T, auto fn> bool binary(Machine &machine, const Instruction &instruction) {
  using U = typename T::U;
  using W = typename T::W;
  const U *a = machine.at<U>(instruction.in[0]), *b = machine.at<U>(instruction.in[1]);
  U *__restrict result = machine.at<U>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = T::wrap(W(fn(T(), W(a[i]), W(b[i]))));
  return true;
}

/// Computes additions, subtractions and multiplications, with an optional check for signed overflow.
template <typename T, auto fn> bool wrapping(Machine &machine, const Instruction &instruction) {
  if (machine.options.checkOverflow && !instruction.op->hasAttr(unsignedAttrName) && T::kWidth > 1) {
    using U = typename T::U;
    using SWide = typename T::SWide;
    const U *a = machine.at<U>(instruction.in[0]), *b = machine.at<U>(instruction.in[1]);
    for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
      SWide left = T::sign(a[i]), right = T::sign(b[i]), exact = fn(T(), left, right);
      if (exact != SWide(T::sign(typename T::W(exact))))
        return failOverflow(machine, instruction, int64_t(left), int64_t(right), T::kWidth, i);
    }
  }
  return binary<T, fn>(machine, instruction);
}

template <typename T, auto fn> bool division(Machine &machine, const Instruction &instruction) {
  using U = typename T::U;
  const U *divisor = machine.at<U>(instruction.in[1]);
  int64_t count = machine.countOf(instruction);
  const U *zero = std::find(divisor, divisor + count, U(0));
  if (zero != divisor + count)
    return machine.fail(instruction, "integer division by zero", zero - divisor);
  return binary<T, fn>(machine, instruction);
}

template <typename T, auto fn> bool unary(Machine &machine, const Instruction &instruction) {
  using U = typename T::U;
  using W = typename T::W;
  const U *a = machine.at<U>(instruction.in[0]);
  U *__restrict result = machine.at<U>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = T::wrap(W(fn(T(), W(a[i]))));
  return true;
}

/// Computes two results: the low and the high half of a multiplication, or a sum and its carry.
template <typename T, auto fn> bool extended(Machine &machine, const Instruction &instruction) {
  using U = typename T::U;
  using W = typename T::W;
  const U *a = machine.at<U>(instruction.in[0]), *b = machine.at<U>(instruction.in[1]);
  U *__restrict low = machine.at<U>(instruction.out[0]);
  U *__restrict high = machine.at<U>(instruction.out[1]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
    typename T::Wide product = fn(T(), W(a[i]), W(b[i]));
    low[i] = T::wrap(W(product));
    high[i] = T::wrap(W(product >> T::kWidth));
  }
  return true;
}

template <typename T> bool addExtended(Machine &machine, const Instruction &instruction) {
  using U = typename T::U;
  const U *a = machine.at<U>(instruction.in[0]), *b = machine.at<U>(instruction.in[1]);
  U *__restrict sum = machine.at<U>(instruction.out[0]);
  uint8_t *__restrict carry = machine.at<uint8_t>(instruction.out[1]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
    sum[i] = T::wrap(typename T::W(a[i]) + b[i]);
    carry[i] = sum[i] < a[i];
  }
  return true;
}

/// One kernel for each width, in the order of Kind.
using Kernels = std::array<Execute, 5>;

template <auto fn>
constexpr Kernels kBinary = {binary<Int<1>, fn>, binary<Int<8>, fn>, binary<Int<16>, fn>, binary<Int<32>, fn>,
                             binary<Int<64>, fn>};
template <auto fn>
constexpr Kernels kWrapping = {wrapping<Int<1>, fn>, wrapping<Int<8>, fn>, wrapping<Int<16>, fn>, wrapping<Int<32>, fn>,
                               wrapping<Int<64>, fn>};
template <auto fn>
constexpr Kernels kDivision = {division<Int<1>, fn>, division<Int<8>, fn>, division<Int<16>, fn>, division<Int<32>, fn>,
                               division<Int<64>, fn>};
template <auto fn>
constexpr Kernels kUnary = {unary<Int<1>, fn>, unary<Int<8>, fn>, unary<Int<16>, fn>, unary<Int<32>, fn>,
                            unary<Int<64>, fn>};
template <auto fn>
constexpr Kernels kExtended = {extended<Int<1>, fn>, extended<Int<8>, fn>, extended<Int<16>, fn>, extended<Int<32>, fn>,
                               extended<Int<64>, fn>};
constexpr Kernels kAddExtended = {addExtended<Int<1>>, addExtended<Int<8>>, addExtended<Int<16>>, addExtended<Int<32>>,
                                  addExtended<Int<64>>};

void add(HandlerTable &table, StringRef name, const Kernels &kernels) {
  table[name] = [&kernels](Compiler &compiler, Operation *op) {
    Kind kind = compiler.slotOf(op->getOperand(0)).kind;
    if (!isInteger(kind))
      return compiler.fail(op, "the interpreter does not support '" + op->getName().getStringRef() + "' of this type");
    compiler.emit(op, kernels[size_t(kind)]);
    return true;
  };
}

template <typename T> typename T::SW divideSigned(T, typename T::W a, typename T::W b) {
  using SW = typename T::SW;
  SW divisor = T::sign(b);
  return divisor == -1 ? SW(0 - a) : T::sign(a) / divisor;
}

template <typename T> typename T::SW remainderSigned(T, typename T::W a, typename T::W b) {
  typename T::SW divisor = T::sign(b);
  return divisor == -1 ? 0 : T::sign(a) % divisor;
}

/// Returns the quotient rounded up (`direction` 1) or down (-1).
template <typename T> typename T::SW divideRounded(T type, typename T::W a, typename T::W b, int direction) {
  typename T::SW quotient = divideSigned(type, a, b), remainder = remainderSigned(type, a, b);
  bool isNegative = (T::sign(a) < 0) != (T::sign(b) < 0);
  return quotient + (remainder != 0 && isNegative == (direction < 0) ? direction : 0);
}

template <typename T> typename T::W power(T, typename T::W base, typename T::W exponentBits) {
  using W = typename T::W;
  typename T::SW exponent = T::sign(exponentBits);
  if (exponent < 0) // 1 / base^n, rounded towards zero
    return T::sign(base) == 1 ? W(1) : T::sign(base) == -1 ? W(exponent & 1 ? -1 : 1) : W(0);
  W result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

void registerArithmetic(HandlerTable &table) {
  add(table, "arith.addi", kWrapping<[](auto t, auto a, auto b) { return a + b; }>);
  add(table, "arith.subi", kWrapping<[](auto t, auto a, auto b) { return a - b; }>);
  add(table, "arith.muli", kWrapping<[](auto t, auto a, auto b) { return a * b; }>);
  add(table, "arith.andi", kBinary<[](auto t, auto a, auto b) { return a & b; }>);
  add(table, "arith.ori", kBinary<[](auto t, auto a, auto b) { return a | b; }>);
  add(table, "arith.xori", kBinary<[](auto t, auto a, auto b) { return a ^ b; }>);
  add(table, "arith.maxsi", kBinary<[](auto t, auto a, auto b) { return t.sign(a) > t.sign(b) ? a : b; }>);
  add(table, "arith.minsi", kBinary<[](auto t, auto a, auto b) { return t.sign(a) < t.sign(b) ? a : b; }>);
  add(table, "arith.maxui", kBinary<[](auto t, auto a, auto b) { return a > b ? a : b; }>);
  add(table, "arith.minui", kBinary<[](auto t, auto a, auto b) { return a < b ? a : b; }>);
  add(table, "arith.shli",
      kBinary<[](auto t, auto a, auto b) { return b < t.kWidth ? a << (b & (sizeof(a) * 8 - 1)) : decltype(a)(0); }>);
  add(table, "arith.shrui",
      kBinary<[](auto t, auto a, auto b) { return b < t.kWidth ? a >> (b & (sizeof(a) * 8 - 1)) : decltype(a)(0); }>);
  add(table, "arith.shrsi",
      kBinary<[](auto t, auto a, auto b) { return t.sign(a) >> (b < t.kWidth ? b : decltype(b)(t.kWidth - 1)); }>);
}

void registerDivision(HandlerTable &table) {
  add(table, "arith.divui", kDivision<[](auto t, auto a, auto b) { return a / b; }>);
  add(table, "arith.remui", kDivision<[](auto t, auto a, auto b) { return a % b; }>);
  add(table, "arith.ceildivui", kDivision<[](auto t, auto a, auto b) { return a / b + (a % b != 0); }>);
  add(table, "arith.divsi", kDivision<[](auto t, auto a, auto b) { return divideSigned(t, a, b); }>);
  add(table, "arith.remsi", kDivision<[](auto t, auto a, auto b) { return remainderSigned(t, a, b); }>);
  add(table, "arith.floordivsi", kDivision<[](auto t, auto a, auto b) { return divideRounded(t, a, b, -1); }>);
  add(table, "arith.ceildivsi", kDivision<[](auto t, auto a, auto b) { return divideRounded(t, a, b, 1); }>);
}

} // namespace

void registerIntegerOps(HandlerTable &table) {
  registerArithmetic(table);
  registerDivision(table);
  add(table, "arith.mului_extended", kExtended<[](auto t, auto a, auto b) {
        using Wide = typename decltype(t)::Wide;
        return Wide(a) * Wide(b);
      }>);
  add(table, "arith.mulsi_extended", kExtended<[](auto t, auto a, auto b) {
        using T = decltype(t);
        return typename T::Wide(typename T::SWide(t.sign(a)) * t.sign(b));
      }>);
  add(table, "arith.addui_extended", kAddExtended);
  add(table, "math.absi", kUnary<[](auto t, auto a) { return t.sign(a) < 0 ? 0 - a : a; }>);
  add(table, "math.ctpop", kUnary<[](auto t, auto a) { return llvm::popcount(a); }>);
  add(table, "math.ctlz", kUnary<[](auto t, auto a) { return llvm::countl_zero(a) - int(sizeof(a) * 8 - t.kWidth); }>);
  add(table, "math.cttz", kUnary<[](auto t, auto a) { return a ? llvm::countr_zero(a) : int(t.kWidth); }>);
  add(table, "math.ipowi", kBinary<[](auto t, auto a, auto b) { return power(t, a, b); }>);
}

} // namespace tile::interp
