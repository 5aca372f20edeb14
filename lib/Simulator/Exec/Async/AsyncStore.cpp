// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// st.async, red.async: stores and reductions in shared memory of a CTA of the cluster, which an mbarrier in that CTA
// counts. PTX ISA 9.7.9.12, 9.7.13.8.
#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/MbarrierState.h"
#include "Simulator/Exec/Async/Reduce.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

constexpr unsigned maxElements = 4;

class StoreUnderWay final : public AsyncOperation {
public:
  StoreUnderWay(const Warp &warp, const SourceLoc &loc, unsigned lane, Cta &cta, std::byte *to, const std::byte *value,
                uint32_t bytes, Reducer reducer, uint32_t barrier)
      : issuer(warp.actor(loc, lane)), cta(cta), to(to), bytes(bytes), reducer(reducer), barrier(barrier) {
    std::memcpy(data, value, bytes);
  }
  bool advance(Random &) override {
    if (reducer)
      reducer(to, data, bytes);
    else
      std::memcpy(to, data, bytes);
    finishCopy(cta, barrier, bytes, issuer);
    return true;
  }
  std::string describe() const override {
    return fmt::format("the asynchronous store of line {} is in flight", issuer.loc.ptxLine);
  }

private:
  Actor issuer;
  Cta &cta;
  std::byte *to, data[2 * maxElements * sizeof(uint32_t)];
  uint32_t bytes;
  Reducer reducer;
  uint32_t barrier;
};

template <typename T> class AsyncStore final : public LaneByLaneOperation {
public:
  AddressSource address, barrier;
  unsigned elements = 1;
  Source<T> values[maxElements];
  Reducer reducer = nullptr;

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    const SourceLoc &loc = instruction->loc;
    T data[maxElements];
    for (unsigned i = 0; i < elements; ++i)
      data[i] = values[i].one(warp, lane);
    uint32_t bytes = elements * sizeof(T);
    Range range;
    std::byte *to = resolveShared(warp, loc, lane, address.one(warp, lane), bytes, bytes, range);
    if (!to)
      return Step::Fault;
    BarrierRef ref = findBarrier(warp, loc, 1u << lane, barrier.one(warp, lane), false, BarrierUse::AsyncUse);
    if (!ref)
      return Step::Fault;
    if (ref.cta->rank != range.ctaRank)
      return warp.fault(ReportKind::InvalidOperand, loc, lane,
                        "destination and mbarrier are in different CTAs of the cluster");
    Epoch finished = announceCopy(ref, warp, loc, lane, bytes);
    if (Checker *checker = checkerOf(warp))
      checker->asyncAccess(warp, lane, loc, reducer ? AccessKind::Atomic : AccessKind::Write, range, false, finished);
    warp.cta.cluster.start(std::make_unique<StoreUnderWay>(
        warp, loc, lane, *ref.cta, to, reinterpret_cast<const std::byte *>(data), bytes, reducer, ref.address));
    return Step::Next;
  }
};

template <typename T> Result<OperationPtr> makeStore(Decoding &d, unsigned elements, Reducer reducer) {
  auto operation = std::make_unique<AsyncStore<T>>();
  operation->elements = elements;
  operation->reducer = reducer;
  operation->address = d.address(d.operand(0));
  operation->barrier = d.address(d.operand(2));
  const Operand &value = d.operand(1);
  if ((value.kind == Operand::Kind::Vector) != (elements > 1) || (elements > 1 && value.elements.size() != elements))
    return d.unsupported();
  for (unsigned i = 0; i < elements; ++i)
    operation->values[i] = d.source<T>(elements == 1 ? value : value.elements[i]);
  return decoded(d, std::move(operation));
}

} // namespace

Result<OperationPtr> decodeAsyncStore(Decoding &d) {
  bool reduces = d.instruction.name == "red";
  if (reduces ? d.take("relaxed") : d.take("weak"))
    d.take("cluster");
  d.take("shared::cluster");
  std::optional<ReduceOp> op;
  if (!d.take("mbarrier::complete_tx::bytes"))
    return d.unsupported();
  constexpr unsigned counts[] = {1, 2, 4};
  unsigned elements = reduces ? 1 : counts[d.takeOne({"v2", "v4"}) + 1];
  if (reduces) {
    int index = d.takeOne({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    if (index < 0)
      return d.unsupported();
    op = ReduceOp(index);
  }
  std::optional<Type> type = d.takeType();
  if (!type || !d.finished(3))
    return d.unsupported();
  Reducer reducer = nullptr;
  if (reduces) {
    Type counted = type == Type::S64 ? Type::U64 : *type; // adding gives the same bits for signed and unsigned integers
    reducer = reducesInShared(*op, counted) ? findReducer(*op, counted) : nullptr;
    if (!reducer)
      return d.unsupported();
  }
  switch (*type) {
  case Type::B32:
  case Type::U32:
  case Type::S32:
    return makeStore<uint32_t>(d, elements, reducer);
  case Type::F32:
    return makeStore<float>(d, elements, reducer);
  case Type::B64:
  case Type::U64:
  case Type::S64:
    return elements == 4 ? d.unsupported() : makeStore<uint64_t>(d, elements, reducer);
  case Type::F64:
    return elements == 4 ? d.unsupported() : makeStore<double>(d, elements, reducer);
  default:
    return d.unsupported();
  }
}

} // namespace tile::sim
