// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bit operations, logic and shifts: PTX ISA 9.7.1, 9.7.8, and prmt.
#include "Simulator/Exec/Arithmetic/Elementwise.h"
#include "Simulator/Numerics/Bits.h"

namespace tile::sim {
namespace {

using namespace numerics;

// A logic operation on predicates, which computes on the masks of all lanes.
class PredicateLogic final : public Operation {
public:
  enum class Kind { And, Or, Xor };
  PredicateLogic(Kind kind, PredicateDest dest, PredicateSource a, PredicateSource b)
      : kind(kind), dest(dest), a(a), b(b) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask x = a.read(warp), y = b.read(warp);
    dest.write(warp, active, kind == Kind::And ? x & y : kind == Kind::Or ? x | y : x ^ y);
    return Step::Next;
  }

private:
  Kind kind;
  PredicateDest dest;
  PredicateSource a, b;
};

template <template <typename> typename Function, PredicateLogic::Kind kind>
Result<OperationPtr> decodeLogic(Decoding &d) {
  std::optional<Type> type = d.takeType();
  if (type == Type::Pred && d.finished(3))
    return make<PredicateLogic>(kind, d.predicateDest(d.operand(0)), d.predicateSource(d.operand(1)),
                                d.predicateSource(d.operand(2)));
  return chooseType<Type::B16, Type::B32, Type::B64>(
      d, type, [&](auto tag) { return elementwise<&Function<typename decltype(tag)::type>::apply>(d); });
}

template <typename T> struct And {
  static T apply(T a, T b) { return bitAnd(a, b); }
};
template <typename T> struct Or {
  static T apply(T a, T b) { return bitOr(a, b); }
};
template <typename T> struct Xor {
  static T apply(T a, T b) { return bitXor(a, b); }
};

Result<OperationPtr> decodeNot(Decoding &d) {
  std::optional<Type> type = d.takeType();
  if (type == Type::Pred && d.finished(2)) {
    PredicateSource ones;
    ones.constant = allLanes;
    return make<PredicateLogic>(PredicateLogic::Kind::Xor, d.predicateDest(d.operand(0)),
                                d.predicateSource(d.operand(1)), ones);
  }
  return chooseType<Type::B16, Type::B32, Type::B64>(
      d, type, [&](auto tag) { return elementwise<&bitNot<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeCnot(Decoding &d) {
  return chooseType<Type::B16, Type::B32, Type::B64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&logicalNot<typename decltype(tag)::type>>(d); });
}

/// lop3. The lookup table is known at decode time; the result is the OR of those of its eight rows that it selects. The
/// form with .and or .or has the operands d|p, a, b, c, table, q, where p = (d != 0) op q.
class Lookup final : public Operation {
public:
  Dest<uint32_t> dest;
  PredicateDest isNonzero;
  PredicateSource with;
  bool isOr = false;
  Source<uint32_t> a, b, c;
  uint8_t table = 0;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint32_t scratch[3][warpSize], results[warpSize] = {};
    const uint32_t *x = a.read(warp, scratch[0]), *y = b.read(warp, scratch[1]), *z = c.read(warp, scratch[2]);
    for (unsigned row = 0; row < 8; ++row) {
      if (!(table >> row & 1))
        continue;
      uint32_t flipA = row & 4 ? 0 : ~0u, flipB = row & 2 ? 0 : ~0u, flipC = row & 1 ? 0 : ~0u;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        results[lane] |= (x[lane] ^ flipA) & (y[lane] ^ flipB) & (z[lane] ^ flipC);
    }
    if (!isNonzero.isSink) {
      LaneMask nonzero = 0;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        nonzero |= LaneMask(results[lane] != 0) << lane;
      LaneMask other = with.read(warp);
      isNonzero.write(warp, active, isOr ? nonzero | other : nonzero & other);
    }
    dest.write(warp, active, results);
    return Step::Next;
  }
};

Result<OperationPtr> decodeLop3(Decoding &d) {
  int boolean = d.takeOne({"or", "and"});
  bool hasPredicate = boolean >= 0;
  if (d.takeType() != Type::B32 || !d.finished(hasPredicate ? 6 : 5))
    return d.unsupported();
  const Operand &table = d.operand(4);
  if (table.kind != Operand::Kind::Immediate || table.bits > 255)
    return d.error("the table must be a constant from 0 to 255");
  auto lookup = std::make_unique<Lookup>();
  const Operand *to = &d.operand(0);
  if (hasPredicate) {
    if (to->kind != Operand::Kind::Pair)
      return d.error("expected a destination d|p");
    lookup->isNonzero = d.predicateDest(to->elements[1]);
    lookup->with = d.predicateSource(d.operand(5));
    lookup->isOr = boolean == 0;
    to = &to->elements[0];
  }
  lookup->dest = d.dest<uint32_t>(*to);
  lookup->a = d.source<uint32_t>(1);
  lookup->b = d.source<uint32_t>(2);
  lookup->c = d.source<uint32_t>(3);
  lookup->table = uint8_t(table.bits);
  return OperationPtr(std::move(lookup));
}

Result<OperationPtr> decodeShl(Decoding &d) {
  return chooseType<Type::B16, Type::B32, Type::B64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&shiftLeft<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeShr(Decoding &d) {
  return chooseType<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&shiftRight<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeShf(Decoding &d) {
  int direction = d.takeOne({"l", "r"}), mode = d.takeOne({"clamp", "wrap"});
  if (direction < 0 || mode < 0 || d.takeType() != Type::B32)
    return d.unsupported();
  if (direction == 0)
    return mode == 0 ? elementwise<&funnelShift<true, true>>(d) : elementwise<&funnelShift<true, false>>(d);
  return mode == 0 ? elementwise<&funnelShift<false, true>>(d) : elementwise<&funnelShift<false, false>>(d);
}

Result<OperationPtr> decodePopc(Decoding &d) {
  return chooseType<Type::B32, Type::B64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&countOnes<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeClz(Decoding &d) {
  return chooseType<Type::B32, Type::B64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&countLeadingZeros<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeBfind(Decoding &d) {
  bool shiftAmount = d.take("shiftamt");
  return chooseType<Type::U32, Type::U64, Type::S32, Type::S64>(d, d.takeType(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return shiftAmount ? elementwise<&findBit<T, true>>(d) : elementwise<&findBit<T, false>>(d);
  });
}

Result<OperationPtr> decodeFns(Decoding &d) {
  if (d.takeType() != Type::B32)
    return d.unsupported();
  return elementwise<&findNthSet>(d);
}

Result<OperationPtr> decodeBrev(Decoding &d) {
  return chooseType<Type::B32, Type::B64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&reverseBits<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeBfe(Decoding &d) {
  return chooseType<Type::U32, Type::U64, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&extractField<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeBfi(Decoding &d) {
  return chooseType<Type::B32, Type::B64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&insertField<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeSzext(Decoding &d) {
  int mode = d.takeOne({"clamp", "wrap"});
  if (mode < 0)
    return d.unsupported();
  return chooseType<Type::U32, Type::S32>(d, d.takeType(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return mode == 0 ? elementwise<&extendBits<T, true>>(d) : elementwise<&extendBits<T, false>>(d);
  });
}

Result<OperationPtr> decodeBmsk(Decoding &d) {
  int mode = d.takeOne({"clamp", "wrap"});
  if (mode < 0 || d.takeType() != Type::B32)
    return d.unsupported();
  return mode == 0 ? elementwise<&maskOfBits<true>>(d) : elementwise<&maskOfBits<false>>(d);
}

Result<OperationPtr> decodePrmt(Decoding &d) {
  if (d.takeType() != Type::B32)
    return d.unsupported();
  switch (d.takeOne({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})) {
  case 0:
    return elementwise<&permuteBytes<Permute::Forward4>>(d);
  case 1:
    return elementwise<&permuteBytes<Permute::Backward4>>(d);
  case 2:
    return elementwise<&permuteBytes<Permute::Replicate8>>(d);
  case 3:
    return elementwise<&permuteBytes<Permute::EdgeLeft>>(d);
  case 4:
    return elementwise<&permuteBytes<Permute::EdgeRight>>(d);
  case 5:
    return elementwise<&permuteBytes<Permute::Replicate16>>(d);
  }
  return elementwise<&permuteBytes<Permute::Select>>(d);
}

constexpr DecoderEntry entries[] = {
    {"and", decodeLogic<And, PredicateLogic::Kind::And>},
    {"or", decodeLogic<Or, PredicateLogic::Kind::Or>},
    {"xor", decodeLogic<Xor, PredicateLogic::Kind::Xor>},
    {"not", decodeNot},
    {"cnot", decodeCnot},
    {"lop3", decodeLop3},
    {"shl", decodeShl},
    {"shr", decodeShr},
    {"shf", decodeShf},
    {"popc", decodePopc},
    {"clz", decodeClz},
    {"bfind", decodeBfind},
    {"fns", decodeFns},
    {"brev", decodeBrev},
    {"bfe", decodeBfe},
    {"bfi", decodeBfi},
    {"szext", decodeSzext},
    {"bmsk", decodeBmsk},
    {"prmt", decodePrmt},
};

} // namespace

std::span<const DecoderEntry> bitDecoders() {
  return entries;
}

} // namespace tile::sim
