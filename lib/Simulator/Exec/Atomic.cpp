// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red: read, modify and write one value per lane, one lane after another. PTX ISA 9.7.13.5 and 7.
#include "Simulator/Exec/MemoryPort.h"
#include "Simulator/Exec/MemorySuffixes.h"
#include "Simulator/Numerics/Formats.h"

#include <algorithm>
#include <cmath>

namespace tile::sim {

namespace {

using numerics::bfloat16Format;
using numerics::halfFormat;

enum class AtomicOp { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec };

/// Combines 16-bit floats. They are added in double, where sums are exact, and rounded once.
template <const numerics::Format &format> uint16_t combineSmall(AtomicOp op, uint16_t a, uint16_t b) {
  double x = numerics::decode<format>(a), y = numerics::decode<format>(b);
  if (op == AtomicOp::Add)
    return numerics::encode<format>(x + y);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? format.nan : std::isnan(x) ? b : a;
  bool first = op == AtomicOp::Min ? x < y || (x == y && std::signbit(x)) : x > y || (x == y && !std::signbit(x));
  return first ? a : b;
}

struct HalfValue {
  uint16_t bits;
};
struct BFloat16Value {
  uint16_t bits;
};
HalfValue combine(AtomicOp op, HalfValue a, HalfValue b) {
  return {combineSmall<halfFormat>(op, a.bits, b.bits)};
}
BFloat16Value combine(AtomicOp op, BFloat16Value a, BFloat16Value b) {
  return {combineSmall<bfloat16Format>(op, a.bits, b.bits)};
}
template <typename T> struct PairOf {
  T low, high;
};
template <typename T> PairOf<T> combine(AtomicOp op, PairOf<T> a, PairOf<T> b) {
  return {combine(op, a.low, b.low), combine(op, a.high, b.high)};
}

template <typename T> T combine(AtomicOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return op == AtomicOp::Exch ? b : a + b;
  } else if constexpr (sizeof(T) == 16) {
    return b; // .exch; the only other operation, .cas, is handled separately
  } else {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case AtomicOp::Add:
      return T(U(a) + U(b));
    case AtomicOp::Min:
      return std::min(a, b);
    case AtomicOp::Max:
      return std::max(a, b);
    case AtomicOp::And:
      return a & b;
    case AtomicOp::Or:
      return a | b;
    case AtomicOp::Xor:
      return a ^ b;
    case AtomicOp::Inc: // wraps to 0 after b
      return U(a) >= U(b) ? 0 : a + 1;
    case AtomicOp::Dec: // wraps to b below 0, and from above b
      return U(a) == 0 || U(a) > U(b) ? b : a - 1;
    default:
      return b;
    }
  }
}

/// Flushes a subnormal to zero: f32 additions in global memory do so, but those in shared memory do not (PTX ISA
/// 9.7.13.5).
float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

template <typename T> class Atomic final : public Operation {
public:
  Atomic(AtomicOp op, const MemorySuffixes &suffixes, AddressSource address, std::vector<Dest<T>> dests,
         std::vector<Source<T>> values, std::optional<Source<T>> replacement)
      : op(op), suffixes(suffixes), address(address), dests(std::move(dests)), values(std::move(values)),
        replacement(replacement) {}

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    uint64_t addresses[warpSize];
    std::byte *host[warpSize];
    address.read(warp, active, addresses);
    LaneAccess access;
    access.instruction = instruction;
    access.kind = AccessKind::Atomic;
    access.order = suffixes.order;
    access.scope = suffixes.scope;
    access.bytes = sizeof(T) * values.size();
    access.isVector = values.size() > 1;
    if (!resolveLanes(warp, suffixes.space, active, addresses, access, host))
      return Step::Fault;
    bool changed = false;
    for (LaneMask remaining = active; remaining; remaining &= remaining - 1) {
      unsigned lane = firstLane(remaining);
      for (size_t i = 0; i < values.size(); ++i)
        changed |= update(warp, lane, i, host[lane] + i * sizeof(T), access.space[lane] == Space::Global);
    }
    Cluster &cluster = warp.cta.cluster;
    const bool isGlobal = access.space[firstLane(active)] == Space::Global;
    Step step = Step::Next;
    if (!changed) {
      step = warp.notePoll(fragment, firstLane(active), isGlobal);
    } else if (isGlobal) {
      cluster.noteGlobalChange();
    } else {
      cluster.noteProgress();
    }
    return step;
  }

private:
  /// Executes the operation for one lane. Returns true if memory has changed.
  bool update(Warp &warp, unsigned lane, size_t index, std::byte *host, bool isGlobal) const {
    T old, operand = values[index].one(warp, lane), result;
    std::memcpy(&old, host, sizeof(T));
    if (replacement)
      result = std::memcmp(&old, &operand, sizeof(T)) == 0 ? replacement->one(warp, lane) : old;
    else if constexpr (std::is_same_v<T, float>)
      result = op == AtomicOp::Add && isGlobal ? flush(flush(old) + flush(operand)) : combine(op, old, operand);
    else
      result = combine(op, old, operand);
    std::memcpy(host, &result, sizeof(T));
    if (!dests.empty())
      dests[index].one(warp, lane, old);
    return std::memcmp(&old, &result, sizeof(T)) != 0;
  }

  AtomicOp op;
  MemorySuffixes suffixes;
  AddressSource address;
  std::vector<Dest<T>> dests; ///< empty for red
  std::vector<Source<T>> values;
  std::optional<Source<T>> replacement; ///< the new value of cas
};

template <typename T> OperationPtr makeAtomic(Decoding &d, AtomicOp op, const MemorySuffixes &suffixes, bool isRed) {
  size_t next = 0;
  std::vector<Dest<T>> dests;
  if (!isRed)
    for (const Operand &element : elementsOf(d.operand(next++)))
      dests.push_back(d.dest<T>(element));
  AddressSource address = d.address(d.operand(next++));
  std::vector<Source<T>> values;
  for (const Operand &element : elementsOf(d.operand(next++)))
    values.push_back(d.source<T>(element));
  std::optional<Source<T>> replacement;
  if (op == AtomicOp::Cas)
    replacement = d.source<T>(d.operand(next));
  if (!isRed && dests.size() != values.size()) {
    d.failed = true;
    d.failure = "the number of results must equal the number of values";
  }
  return make<Atomic<T>>(op, suffixes, address, std::move(dests), std::move(values), replacement);
}

bool isBitOp(AtomicOp op) {
  return op == AtomicOp::And || op == AtomicOp::Or || op == AtomicOp::Xor || op == AtomicOp::Exch ||
         op == AtomicOp::Cas;
}
bool isCount(AtomicOp op) {
  return op == AtomicOp::Inc || op == AtomicOp::Dec;
}
bool isOrdered(AtomicOp op) {
  return op == AtomicOp::Add || op == AtomicOp::Min || op == AtomicOp::Max;
}

/// Makes the operation for a type. The tables of PTX ISA 9.7.13.5 list the operations of each type.
Result<OperationPtr> makeTyped(Decoding &d, AtomicOp op, Type type, const MemorySuffixes &suffixes, bool isRed) {
  switch (type) {
  case Type::B16:
    if (op == AtomicOp::Cas || op == AtomicOp::Exch)
      return makeAtomic<uint16_t>(d, op, suffixes, isRed);
    break;
  case Type::B32:
    if (isBitOp(op))
      return makeAtomic<uint32_t>(d, op, suffixes, isRed);
    break;
  case Type::B64:
    if (isBitOp(op))
      return makeAtomic<uint64_t>(d, op, suffixes, isRed);
    break;
  case Type::B128:
    if (!isRed && (op == AtomicOp::Cas || op == AtomicOp::Exch))
      return makeAtomic<unsigned __int128>(d, op, suffixes, isRed);
    break;
  case Type::U32:
    if (isOrdered(op) || isCount(op) || op == AtomicOp::Exch || op == AtomicOp::Cas)
      return makeAtomic<uint32_t>(d, op, suffixes, isRed);
    break;
  case Type::U64:
    if (isOrdered(op) || op == AtomicOp::Exch || op == AtomicOp::Cas)
      return makeAtomic<uint64_t>(d, op, suffixes, isRed);
    break;
  case Type::S32:
    if (isOrdered(op))
      return makeAtomic<int32_t>(d, op, suffixes, isRed);
    break;
  case Type::S64:
    if (isOrdered(op))
      return makeAtomic<int64_t>(d, op, suffixes, isRed);
    break;
  case Type::F32:
    if (op == AtomicOp::Add || op == AtomicOp::Exch)
      return makeAtomic<float>(d, op, suffixes, isRed);
    break;
  case Type::F64:
    if (op == AtomicOp::Add)
      return makeAtomic<double>(d, op, suffixes, isRed);
    break;
  case Type::F16:
    if (isOrdered(op))
      return makeAtomic<HalfValue>(d, op, suffixes, isRed);
    break;
  case Type::BF16:
    if (isOrdered(op))
      return makeAtomic<BFloat16Value>(d, op, suffixes, isRed);
    break;
  case Type::F16x2:
    if (isOrdered(op))
      return makeAtomic<PairOf<HalfValue>>(d, op, suffixes, isRed);
    break;
  case Type::BF16x2:
    if (isOrdered(op))
      return makeAtomic<PairOf<BFloat16Value>>(d, op, suffixes, isRed);
    break;
  default:
    break;
  }
  return d.unsupported();
}

Result<OperationPtr> decode(Decoding &d, bool isRed) {
  if (isRed && d.take("async"))
    return decodeAsyncStore(d);
  MemorySuffixes suffixes;
  suffixes.order = MemoryOrder::Relaxed;
  int op = -1;
  unsigned vector = 1;
  bool isNoFtz = false;
  std::optional<Type> type;
  // The ISA puts order, scope and space before the operation. ptxas accepts any sequence, and others write some of them
  // after the operation: libcu++ `atom.add.relaxed.gpu.s32`, for example, and NCCL
  // `red.relaxed.gpu.global.v4.bf16x2.add`.
  for (std::string_view before; before = d.peek(), !before.empty();) {
    takeOrderAndSpace(d, suffixes);
    if (op < 0)
      op = d.takeOne({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
    isNoFtz |= !isNoFtz && d.take("noftz");
    suffixes.hasPolicy |= !suffixes.hasPolicy && d.take("L2::cache_hint");
    if (vector == 1)
      vector = takeVector(d);
    if (!type)
      type = d.takeType();
    if (d.peek() == before)
      return d.unsupported();
  }
  size_t operands = (isRed ? 2 : 3) + (op == int(AtomicOp::Cas)) + suffixes.hasPolicy;
  if (op < 0 || !type || !d.finished(operands) || elementsOf(d.operand(isRed ? 1 : 2)).size() != vector)
    return d.unsupported();
  return makeTyped(d, AtomicOp(op), *type, suffixes, isRed);
}

Result<OperationPtr> decodeAtomic(Decoding &d) {
  return decode(d, false);
}
Result<OperationPtr> decodeReduction(Decoding &d) {
  return decode(d, true);
}

} // namespace

std::span<const DecoderEntry> atomicDecoders() {
  static constexpr DecoderEntry table[] = {{"atom", decodeAtomic}, {"red", decodeReduction}};
  return table;
}

} // namespace tile::sim
