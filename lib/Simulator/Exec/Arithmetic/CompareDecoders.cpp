// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp set selp slct: PTX ISA 9.7.6, 9.7.7 (f16, bf16).
#include "Simulator/Exec/Arithmetic/Comparison.h"

namespace tile::sim {

std::optional<ComparisonKind> takeComparison(Decoding &d, bool isFloat, bool isUnsigned) {
  struct Named {
    std::string_view name;
    ComparisonKind kind;
    enum { Any, Float, Unsigned } of;
  };
  static constexpr Named all[] = {
      {"eq", {Relation::Equal, false, false}, Named::Any},
      {"ne", {Relation::Equal, false, true}, Named::Any}, // for floats, see below
      {"lt", {Relation::Less, false, false}, Named::Any},
      {"le", {Relation::LessEqual, false, false}, Named::Any},
      {"gt", {Relation::Less, true, false}, Named::Any},
      {"ge", {Relation::LessEqual, true, false}, Named::Any},
      {"lo", {Relation::Less, false, false}, Named::Unsigned},
      {"ls", {Relation::LessEqual, false, false}, Named::Unsigned},
      {"hi", {Relation::Less, true, false}, Named::Unsigned},
      {"hs", {Relation::LessEqual, true, false}, Named::Unsigned},
      {"equ", {Relation::NotEqual, false, true}, Named::Float},
      {"neu", {Relation::Equal, false, true}, Named::Float},
      {"ltu", {Relation::LessEqual, true, true}, Named::Float},
      {"leu", {Relation::Less, true, true}, Named::Float},
      {"gtu", {Relation::LessEqual, false, true}, Named::Float},
      {"geu", {Relation::Less, false, true}, Named::Float},
      {"num", {Relation::Ordered, false, false}, Named::Float},
      {"nan", {Relation::Ordered, false, true}, Named::Float},
  };
  for (const Named &named : all) {
    if (named.name != d.peek() || (named.of == Named::Float && !isFloat) ||
        (named.of == Named::Unsigned && !isUnsigned))
      continue;
    d.skip();
    if (named.name == "ne" && isFloat)
      return ComparisonKind{Relation::NotEqual, false, false};
    return named.kind;
  }
  return {};
}

Boolean takeBoolean(Decoding &d) {
  return Boolean(d.takeOne({"and", "or", "xor"}) + 1);
}

namespace {

Type lastType(const Decoding &d) {
  const std::vector<std::string> &suffixes = d.instruction.suffixes;
  return suffixes.empty() ? Type::None : parseType(suffixes.back()).value_or(Type::None);
}
bool isUnsignedType(Type type) {
  return type == Type::U16 || type == Type::U32 || type == Type::U64;
}
bool isBitType(Type type) {
  return type == Type::B16 || type == Type::B32 || type == Type::B64;
}
bool canFlush(Type type) {
  return type == Type::F32 || type == Type::F16 || type == Type::F16x2;
}

/// setp.cmp{.bool}{.ftz}.type p{|q}, a, b{, {!}c}. Computes p = cmp bool c and q = !cmp bool c. In the packed form, p
/// belongs to the lower halves and q to the upper halves.
template <typename T, unsigned parts> class SetPredicate final : public Operation {
public:
  SetPredicate(Decoding &d, ComparisonKind kind, bool flush) : sources(d, 1, kind, flush) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask masks[parts];
    sources.read(warp, masks);
    LaneMask with = boolean == Boolean::None ? 0 : third.read(warp);
    LaneMask other = parts == 2 ? masks[parts - 1] : ~masks[0];
    p.write(warp, active, combine(boolean, masks[0], with));
    q.write(warp, active, combine(boolean, other, with));
    return Step::Next;
  }

  ComparedSources<T, parts> sources;
  PredicateDest p, q;
  Boolean boolean = Boolean::None;
  PredicateSource third;
};

template <typename T, unsigned parts>
Result<OperationPtr> makeSetPredicate(Decoding &d, ComparisonKind kind, Boolean boolean, bool flush) {
  auto operation = std::make_unique<SetPredicate<T, parts>>(d, kind, flush);
  const Operand &to = d.operand(0);
  bool isPair = to.kind == Operand::Kind::Pair;
  operation->p = d.predicateDest(isPair ? to.elements[0] : to);
  if (isPair)
    operation->q = d.predicateDest(to.elements[1]);
  operation->boolean = boolean;
  if (boolean != Boolean::None)
    operation->third = d.predicateSource(d.operand(3));
  return OperationPtr(std::move(operation));
}

bool isFloatComparison(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::F32:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

Result<OperationPtr> decodeSetp(Decoding &d) {
  Type expected = lastType(d);
  std::optional<ComparisonKind> kind = takeComparison(d, isFloatComparison(expected), isUnsignedType(expected));
  Boolean boolean = takeBoolean(d);
  bool flush = d.take("ftz");
  std::optional<Type> type = d.takeType();
  if (!kind || !type || !d.finished(boolean == Boolean::None ? 3 : 4) || (flush && !canFlush(*type)))
    return d.unsupported();
  bool isEquality = kind->relation == Relation::Equal;
  if (isBitType(*type) && !isEquality)
    return d.unsupported();
  if (*type == Type::F16x2)
    return makeSetPredicate<Half, 2>(d, *kind, boolean, flush);
  if (*type == Type::BF16x2)
    return makeSetPredicate<BFloat16, 2>(d, *kind, boolean, flush);
  return chooseType<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64,
                    Type::F16, Type::BF16, Type::F32, Type::F64>(
      d, *type, [&](auto tag) { return makeSetPredicate<typename decltype(tag)::type, 1>(d, *kind, boolean, flush); });
}

/// set.cmp{.bool}{.ftz}.dtype.stype d, a, b{, {!}c}. Sets each part of d to all ones or 1.0 if the comparison holds,
/// and to zero otherwise.
template <typename T, unsigned parts, typename D> class Set final : public Operation {
public:
  Set(Decoding &d, ComparisonKind kind, bool flush, D ones)
      : sources(d, 1, kind, flush), dest(d.dest<D>(0)), ones(ones) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask masks[parts];
    sources.read(warp, masks);
    if (boolean != Boolean::None)
      for (LaneMask &mask : masks)
        mask = combine(boolean, mask, third.read(warp));
    D results[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      results[lane] = masks[0] >> lane & 1 ? ones : D(0);
      if constexpr (parts == 2)
        results[lane] |= masks[1] >> lane & 1 ? ones << 16 : D(0);
    }
    dest.write(warp, active, results);
    return Step::Next;
  }

  ComparedSources<T, parts> sources;
  Dest<D> dest;
  D ones; ///< the value for one part
  Boolean boolean = Boolean::None;
  PredicateSource third;
};

template <typename T, unsigned parts, typename D>
Result<OperationPtr> makeSet(Decoding &d, ComparisonKind kind, Boolean boolean, bool flush, D ones) {
  auto operation = std::make_unique<Set<T, parts, D>>(d, kind, flush, ones);
  operation->boolean = boolean;
  if (boolean != Boolean::None)
    operation->third = d.predicateSource(d.operand(3));
  return OperationPtr(std::move(operation));
}

constexpr uint16_t halfOne = 0x3c00, bfloat16One = 0x3f80;

Result<OperationPtr> decodeSet(Decoding &d) {
  Type expected = lastType(d);
  std::optional<ComparisonKind> kind = takeComparison(d, isFloatComparison(expected), isUnsignedType(expected));
  Boolean boolean = takeBoolean(d);
  bool flush = d.take("ftz");
  std::optional<Type> to = d.takeType(), type = d.takeType();
  if (!kind || !to || !type || !d.finished(boolean == Boolean::None ? 3 : 4) || (flush && !canFlush(*type)) ||
      (isBitType(*type) && kind->relation != Relation::Equal))
    return d.unsupported();
  if (*type == Type::F16x2 && (*to == Type::F16x2 || *to == Type::U32 || *to == Type::S32))
    return makeSet<Half, 2, uint32_t>(d, *kind, boolean, flush, *to == Type::F16x2 ? halfOne : 0xffffu);
  if (*type == Type::BF16x2 && (*to == Type::BF16x2 || *to == Type::U32 || *to == Type::S32))
    return makeSet<BFloat16, 2, uint32_t>(d, *kind, boolean, flush, *to == Type::BF16x2 ? bfloat16One : 0xffffu);
  return chooseType<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64,
                    Type::F16, Type::BF16, Type::F32, Type::F64>(d, *type, [&](auto tag) -> Result<OperationPtr> {
    using T = typename decltype(tag)::type;
    constexpr bool isHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
    if (*to == Type::U32 || *to == Type::S32)
      return makeSet<T, 1, uint32_t>(d, *kind, boolean, flush, ~0u);
    if (*to == Type::F32 && !isHalf)
      return makeSet<T, 1, uint32_t>(d, *kind, boolean, flush, std::bit_cast<uint32_t>(1.0f));
    if ((*to == Type::U16 || *to == Type::S16) && isHalf)
      return makeSet<T, 1, uint16_t>(d, *kind, boolean, flush, uint16_t(0xffff));
    if (*to == Type::F16 && !std::is_same_v<T, BFloat16>)
      return makeSet<T, 1, uint16_t>(d, *kind, boolean, flush, halfOne);
    if (*to == Type::BF16 && !std::is_same_v<T, Half>)
      return makeSet<T, 1, uint16_t>(d, *kind, boolean, flush, bfloat16One);
    return d.unsupported();
  });
}

/// selp.type d, a, b, {!}p
template <typename T> class SelectByPredicate final : public Operation {
public:
  explicit SelectByPredicate(Decoding &d)
      : dest(d.dest<T>(0)), a(d.source<T>(1)), b(d.source<T>(2)), p(d.predicateSource(d.operand(3))) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    T scratch[2][warpSize], results[warpSize];
    const T *x = a.read(warp, scratch[0]), *y = b.read(warp, scratch[1]);
    LaneMask mask = p.read(warp);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      results[lane] = mask & LaneMask(1) << lane ? x[lane] : y[lane];
    dest.write(warp, active, results);
    return Step::Next;
  }

private:
  Dest<T> dest;
  Source<T> a, b;
  PredicateSource p;
};

Result<OperationPtr> decodeSelp(Decoding &d) {
  std::optional<Type> type = d.takeType();
  if (!d.finished(4))
    return d.unsupported();
  return chooseType<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64,
                    Type::F32, Type::F64>(d, type, [&](auto tag) -> Result<OperationPtr> {
    return make<SelectByPredicate<typename decltype(tag)::type>>(d);
  });
}

/// slct. Returns a if c >= 0 (including -0), and b otherwise, including if c is NaN.
template <typename T, typename C> T selectBySign(T a, T b, C c) {
  return c >= 0 ? a : b;
}
template <typename T> T selectBySignFlushed(T a, T b, float c) {
  return numerics::flushSubnormal(c) >= 0 ? a : b;
}

template <typename T> Result<OperationPtr> makeSelectBySign(Decoding &d, Type by, bool flush) {
  if (by == Type::S32)
    return elementwise<&selectBySign<T, int32_t>>(d);
  return flush ? elementwise<&selectBySignFlushed<T>>(d) : elementwise<&selectBySign<T, float>>(d);
}

Result<OperationPtr> decodeSlct(Decoding &d) {
  bool flush = d.take("ftz");
  std::optional<Type> type = d.takeType(), by = d.takeType();
  if ((by != Type::S32 && by != Type::F32) || (flush && by != Type::F32))
    return d.unsupported();
  return chooseType<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64,
                    Type::F32, Type::F64>(
      d, type, [&](auto tag) { return makeSelectBySign<typename decltype(tag)::type>(d, *by, flush); });
}

constexpr DecoderEntry entries[] = {
    {"setp", decodeSetp}, {"set", decodeSet}, {"selp", decodeSelp}, {"slct", decodeSlct}};

} // namespace

std::span<const DecoderEntry> compareDecoders() {
  return entries;
}

} // namespace tile::sim
