// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vote match redux elect activemask, and the code shared by .sync instructions: PTX ISA 9.7.9, 9.7.13.
#include "Simulator/Exec/Arithmetic/WarpOperations.h"

#include "Simulator/Exec/Arithmetic/Family.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Numerics/Integer.h"
#include "Simulator/Numerics/MinMax.h"

namespace tile::sim {

Step WarpOperation::execute(Warp &warp, Fragment &, LaneMask active) const {
  LaneMask groups[warpSize];
  unsigned groupCount = 0;
  for (LaneMask left = active; left;) {
    unsigned lane = firstLane(left);
    LaneMask mask = members.one(warp, lane);
    if (!(mask >> lane & 1))
      return warp.fault(ReportKind::InvalidOperand, instruction->loc, int32_t(lane),
                        fmt::format("{} is executed by lane {}, which is not in its member mask {:#010x}",
                                    instruction->text(), lane, mask));
    LaneMask group = mask & warp.alive;
    if (group & ~active)
      return Step::Wait;
    for (LaneMask others = group & left; others; others &= others - 1)
      if (LaneMask other = members.one(warp, firstLane(others)); other != mask)
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, int32_t(lane),
                          fmt::format("{} has the member mask {:#010x} in lane {}, but {:#010x} in lane {}, which that "
                                      "mask contains",
                                      instruction->text(), mask, lane, other, firstLane(others)));
    groups[groupCount++] = group;
    left &= ~group;
  }
  // The lanes synchronize but do not see each other's memory accesses, which only bar.warp.sync orders.
  for (unsigned i = 0; i < groupCount; ++i)
    exchange(warp, groups[i]);
  return Step::Next;
}

std::string WarpOperation::describeWait(const Warp &warp, const Fragment &fragment) const {
  LaneMask mask = members.one(warp, firstLane(fragment.lanes)) & warp.alive;
  return fmt::format("lanes {:#010x} wait at {} for the lanes {:#010x}", fragment.lanes, instruction->text(),
                     mask & ~fragment.lanes);
}

namespace {

enum class Vote { All, Any, Uniform, Ballot };

class VoteOperation final : public WarpOperation {
public:
  VoteOperation(Decoding &d, Vote vote)
      : WarpOperation(d.source<uint32_t>(2)), vote(vote), a(d.predicateSource(d.operand(1))) {
    if (vote == Vote::Ballot)
      ballot = d.dest<uint32_t>(0);
    else
      result = d.predicateDest(d.operand(0));
  }

protected:
  void exchange(Warp &warp, LaneMask group) const override {
    LaneMask votes = a.read(warp) & group;
    if (vote == Vote::Ballot) {
      uint32_t values[warpSize];
      std::fill_n(values, warpSize, votes);
      ballot.write(warp, group, values);
      return;
    }
    bool holds = vote == Vote::All ? votes == group : vote == Vote::Any ? votes != 0 : votes == 0 || votes == group;
    result.write(warp, group, holds ? allLanes : 0);
  }

private:
  Vote vote;
  PredicateSource a;
  PredicateDest result;
  Dest<uint32_t> ballot;
};

/// Decodes vote.sync.mode.type d, {!}a, membermask.
Result<OperationPtr> decodeVote(Decoding &d) {
  bool isSync = d.take("sync");
  int vote = d.takeOne({"all", "any", "uni", "ballot"});
  isSync |= !isSync && d.take("sync"); // CUB has vote.ballot.sync
  std::optional<Type> type = d.takeType();
  if (!isSync || vote < 0 || type != (vote == int(Vote::Ballot) ? Type::B32 : Type::Pred) || !d.finished(3))
    return d.unsupported();
  return make<VoteOperation>(d, Vote(vote));
}

/// match.any returns the lanes that have the same value. match.all returns all lanes if they have the same value, and 0
/// otherwise.
template <typename T> class MatchOperation final : public WarpOperation {
public:
  MatchOperation(Decoding &d, bool isAll) : WarpOperation(d.source<uint32_t>(2)), isAll(isAll), a(d.source<T>(1)) {
    const Operand &to = d.operand(0);
    bool isPair = to.kind == Operand::Kind::Pair;
    dest = d.dest<uint32_t>(isPair ? to.elements[0] : to);
    if (isPair)
      same = d.predicateDest(to.elements[1]);
  }

protected:
  void exchange(Warp &warp, LaneMask group) const override {
    T scratch[warpSize];
    const T *values = a.read(warp, scratch);
    uint32_t results[warpSize] = {};
    bool allSame = true;
    forLanes(group, [&](unsigned lane) {
      forLanes(group,
               [&](unsigned other) { results[lane] |= values[lane] == values[other] ? LaneMask(1) << other : 0; });
      allSame &= results[lane] == group;
    });
    if (isAll && !allSame)
      std::fill_n(results, warpSize, 0);
    dest.write(warp, group, results);
    same.write(warp, group, allSame ? allLanes : 0);
  }

private:
  bool isAll;
  Source<T> a;
  Dest<uint32_t> dest;
  PredicateDest same;
};

Result<OperationPtr> decodeMatch(Decoding &d) {
  int mode = d.takeOne({"any", "all"});
  if (mode < 0 || !d.take("sync"))
    return d.unsupported();
  std::optional<Type> type = d.takeType();
  if (!d.finished(3) || (mode == 0 && d.operand(0).kind == Operand::Kind::Pair))
    return d.unsupported();
  return chooseType<Type::B32, Type::B64>(d, type, [&](auto tag) -> Result<OperationPtr> {
    return make<MatchOperation<typename decltype(tag)::type>>(d, mode == 1);
  });
}

/// redux. Every lane gets the combination of all lanes' values.
template <typename T> class ReduceOperation final : public WarpOperation {
public:
  using Combine = T (*)(T, T);
  ReduceOperation(Decoding &d, Combine combine, bool ofMagnitudes)
      : WarpOperation(d.source<uint32_t>(2)), combine(combine), ofMagnitudes(ofMagnitudes), a(d.source<T>(1)),
        dest(d.dest<T>(0)) {}

protected:
  void exchange(Warp &warp, LaneMask group) const override {
    T scratch[warpSize], results[warpSize];
    const T *values = a.read(warp, scratch);
    T result = prepared(values[firstLane(group)]);
    forLanes(group & (group - 1), [&](unsigned lane) { result = combine(result, prepared(values[lane])); });
    if constexpr (std::is_same_v<T, float>)
      result = numerics::canonical(result);
    std::fill_n(results, warpSize, result);
    dest.write(warp, group, results);
  }

private:
  T prepared(T value) const {
    if constexpr (std::is_same_v<T, float>)
      return ofMagnitudes ? numerics::absolute(value) : value;
    return value;
  }
  Combine combine;
  bool ofMagnitudes;
  Source<T> a;
  Dest<T> dest;
};

template <typename T> Result<OperationPtr> decodeIntegerRedux(Decoding &d, int operation) {
  static constexpr typename ReduceOperation<T>::Combine combines[] = {&numerics::wrappingAdd<T>, &numerics::minimum<T>,
                                                                      &numerics::maximum<T>};
  return operation < 3 ? Result<OperationPtr>(make<ReduceOperation<T>>(d, combines[operation], false))
                       : Result<OperationPtr>(d.unsupported());
}

/// Decodes redux.sync.op{.abs}{.NaN}.type d, a, membermask.
Result<OperationPtr> decodeRedux(Decoding &d) {
  if (!d.take("sync"))
    return d.unsupported();
  int operation = d.takeOne({"add", "min", "max", "and", "or", "xor"});
  bool ofMagnitudes = d.take("abs"), propagate = d.take("NaN");
  std::optional<Type> type = d.takeType();
  if (operation < 0 || !d.finished(3) || ((ofMagnitudes || propagate) && type != Type::F32))
    return d.unsupported();
  using namespace numerics;
  if (type == Type::U32)
    return decodeIntegerRedux<uint32_t>(d, operation);
  if (type == Type::S32)
    return decodeIntegerRedux<int32_t>(d, operation);
  if (type == Type::B32 && operation >= 3) {
    static constexpr ReduceOperation<uint32_t>::Combine combines[] = {
        [](uint32_t a, uint32_t b) { return a & b; },
        [](uint32_t a, uint32_t b) { return a | b; },
        [](uint32_t a, uint32_t b) { return a ^ b; },
    };
    return make<ReduceOperation<uint32_t>>(d, combines[operation - 3], false);
  }
  if (type == Type::F32 && (operation == 1 || operation == 2)) {
    ReduceOperation<float>::Combine combine = operation == 1
                                                  ? (propagate ? &minMax<float, false, NanRule::Propagate, false>
                                                               : &minMax<float, false, NanRule::PassOver, false>)
                                                  : (propagate ? &minMax<float, true, NanRule::Propagate, false>
                                                               : &minMax<float, true, NanRule::PassOver, false>);
    return make<ReduceOperation<float>>(d, combine, ofMagnitudes);
  }
  return d.unsupported();
}

/// elect.sync d|p, membermask. The first lane is the leader.
class ElectOperation final : public WarpOperation {
public:
  explicit ElectOperation(Decoding &d)
      : WarpOperation(d.source<uint32_t>(1)), leader(d.dest<uint32_t>(d.operand(0).elements[0])),
        isLeader(d.predicateDest(d.operand(0).elements[1])) {}

protected:
  void exchange(Warp &warp, LaneMask group) const override {
    uint32_t values[warpSize];
    std::fill_n(values, warpSize, firstLane(group));
    leader.write(warp, group, values);
    isLeader.write(warp, group, group & -group);
  }

private:
  Dest<uint32_t> leader;
  PredicateDest isLeader;
};

Result<OperationPtr> decodeElect(Decoding &d) {
  if (!d.take("sync") || !d.finished(2) || d.operand(0).kind != Operand::Kind::Pair)
    return d.unsupported();
  return make<ElectOperation>(d);
}

class ActiveMask final : public Operation {
public:
  explicit ActiveMask(Decoding &d) : dest(d.dest<uint32_t>(0)) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    uint32_t values[warpSize];
    std::fill_n(values, warpSize, active);
    dest.write(warp, active, values);
    return Step::Next;
  }

private:
  Dest<uint32_t> dest;
};

Result<OperationPtr> decodeActiveMask(Decoding &d) {
  if (d.takeType() != Type::B32 || !d.finished(1))
    return d.unsupported();
  return make<ActiveMask>(d);
}

constexpr DecoderEntry entries[] = {{"shfl", decodeShuffle}, {"vote", decodeVote},   {"match", decodeMatch},
                                    {"redux", decodeRedux},  {"elect", decodeElect}, {"activemask", decodeActiveMask}};

} // namespace

std::span<const DecoderEntry> warpDecoders() {
  return entries;
}

} // namespace tile::sim
