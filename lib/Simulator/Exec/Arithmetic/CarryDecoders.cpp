// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extended-precision arithmetic: each lane has a carry flag, Warp::carry, which passes from one instruction to the
// next.
//
// add.cc sets the flag to the carry out, and addc adds the flag and, with .cc, sets it. sub.cc sets the flag to the
// *borrow*, which subc subtracts. PTX ISA 9.7.2.
#include "Simulator/Exec/Arithmetic/Elementwise.h"
#include "Simulator/Numerics/Integer.h"

namespace tile::sim {
namespace {

using namespace numerics;

/// Computes d = ±(a * b) + c + carry. For add and sub, one factor is 1.
template <typename T> class WithCarry final : public Operation {
public:
  enum class Kind { Add, Sub, MadLow, MadHigh };

  WithCarry(Decoding &d, Kind kind, bool takesCarry, bool setsCarry)
      : kind(kind), takesCarry(takesCarry), setsCarry(setsCarry), dest(d.dest<T>(0)), a(d.source<T>(1)),
        b(d.source<T>(2)) {
    if (kind == Kind::MadLow || kind == Kind::MadHigh)
      c = d.source<T>(3);
  }

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask carryIn = takesCarry ? warp.carry : 0, carryOut = 0;
    T results[warpSize] = {};
    forLanes(active, [&](unsigned lane) {
      bool carry = carryIn >> lane & 1;
      T x = a.one(warp, lane), y = b.one(warp, lane);
      bool out = false;
      if (kind == Kind::Sub) {
        results[lane] = T(x - y - carry);
        out = x < y || (x == y && carry);
      } else {
        if (kind != Kind::Add) {
          x = product(x, y);
          y = c.one(warp, lane);
        }
        results[lane] = T(x + y + carry);
        out = carry ? results[lane] <= x : results[lane] < x;
      }
      carryOut |= LaneMask(out) << lane;
    });
    dest.write(warp, active, results);
    if (setsCarry)
      warp.carry = (warp.carry & ~active) | carryOut;
    return Step::Next;
  }

private:
  T product(T x, T y) const {
    if (kind == Kind::MadLow)
      return mulLow(x, y);
    return isSigned ? T(mulHigh(std::make_signed_t<T>(x), std::make_signed_t<T>(y))) : mulHigh(x, y);
  }

  Kind kind;
  bool takesCarry, setsCarry;

public:
  bool isSigned = false;

private:
  Dest<T> dest;
  Source<T> a, b, c;
};

/// Decodes the suffixes from `.cc`, which is optional, or from the type on.
template <typename Kind>
Result<OperationPtr> decodeCarry(Decoding &d, Kind kind32, bool takesCarry, size_t operandCount) {
  bool setsCarry = d.take("cc");
  std::optional<Type> type = d.takeType();
  bool isSigned = type == Type::S32 || type == Type::S64;
  if (!d.finished(operandCount))
    return d.unsupported();
  return chooseType<Type::U32, Type::U64, Type::S32, Type::S64>(d, type, [&](auto tag) {
    using T = std::make_unsigned_t<typename decltype(tag)::type>;
    auto operation = std::make_unique<WithCarry<T>>(d, typename WithCarry<T>::Kind(int(kind32)), takesCarry, setsCarry);
    operation->isSigned = isSigned;
    return Result<OperationPtr>(OperationPtr(std::move(operation)));
  });
}

using Kind = WithCarry<uint32_t>::Kind;

Result<OperationPtr> decodeAddc(Decoding &d) {
  return decodeAddCarry(d, true);
}
Result<OperationPtr> decodeSubc(Decoding &d) {
  return decodeSubCarry(d, true);
}
Result<OperationPtr> decodeMadc(Decoding &d) {
  switch (d.takeOne({"lo", "hi"})) {
  case 0:
    return decodeMadCarry(d, false, true);
  case 1:
    return decodeMadCarry(d, true, true);
  }
  return d.unsupported();
}

constexpr DecoderEntry entries[] = {{"addc", decodeAddc}, {"subc", decodeSubc}, {"madc", decodeMadc}};

} // namespace

Result<OperationPtr> decodeAddCarry(Decoding &d, bool takesCarry) {
  return decodeCarry(d, Kind::Add, takesCarry, 3);
}
Result<OperationPtr> decodeSubCarry(Decoding &d, bool takesCarry) {
  return decodeCarry(d, Kind::Sub, takesCarry, 3);
}
Result<OperationPtr> decodeMadCarry(Decoding &d, bool isHigh, bool takesCarry) {
  return decodeCarry(d, isHigh ? Kind::MadHigh : Kind::MadLow, takesCarry, 4);
}

std::span<const DecoderEntry> carryDecoders() {
  return entries;
}

} // namespace tile::sim
