// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk, cp.reduce.async.bulk: copies of consecutive bytes. PTX ISA 9.7.9.25.3, 9.7.9.25.4.
#include "Simulator/Exec/Async/BulkCopy.h"

#include <fmt/format.h>

namespace tile::sim {

std::optional<ReduceOp> takeReduceOp(Decoding &d) {
  int op = d.takeOne({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  return op < 0 ? std::nullopt : std::optional(ReduceOp(op));
}

Step startLoads(const TransferPlan &plan, const BulkForm &form, MapSwizzle swizzle, uint32_t alignment,
                uint64_t destination, uint64_t barrier, uint32_t ctaMask) {
  Warp &warp = plan.warp;
  Cluster &cluster = warp.cta.cluster;
  const SourceLoc &loc = plan.instruction.loc;
  SharedBox box{.swizzle = swizzle};
  if (!resolveBox(plan, destination, alignment, box))
    return Step::Fault;
  uint32_t barrierAddress = 0;
  Cta *barrierCta = findBarrierAddress(warp, loc, plan.lane, barrier, false, barrierAddress);
  if (!barrierCta)
    return Step::Fault;
  if (form.toOwnCta && box.cta != &warp.cta)
    return warp.fault(ReportKind::InvalidOperand, loc, plan.lane, "the destination of .shared::cta is a peer's memory");
  const bool isOfPair = form.ctaGroup == 2 && barrierCta->rank / 2 == box.cta->rank / 2;
  if (barrierCta != box.cta && !isOfPair)
    return warp.fault(ReportKind::InvalidOperand, loc, plan.lane,
                      "destination and mbarrier are in different CTAs of the cluster");
  if (!form.multicast)
    ctaMask = 1u << box.cta->rank;
  if (ctaMask >> cluster.ctas.size())
    return warp.fault(ReportKind::InvalidOperand, loc, plan.lane,
                      fmt::format("multicast to the CTAs {:#x}; the cluster has {}", ctaMask, cluster.ctas.size()));
  for (; ctaMask; ctaMask &= ctaMask - 1) {
    box.cta = cluster.cta(std::countr_zero(ctaMask));
    if (box.cta != &warp.cta && box.cta->hasExited())
      return warp.fault(ReportKind::EarlyExit, loc, plan.lane,
                        fmt::format("a copy to shared memory of CTA ({},{},{}), which has ended", box.cta->id[0],
                                    box.cta->id[1], box.cta->id[2]));
    // With .cta_group::2, the copy signals one CTA of the destination's pair: the one whose rank has the same parity as
    // the rank of the barrier's CTA (PTX ISA, "cp.async.bulk.tensor").
    Cta *signalled = isOfPair ? cluster.cta(box.cta->rank / 2 * 2 + barrierCta->rank % 2) : box.cta;
    if (!signalled)
      return warp.fault(
          ReportKind::InvalidOperand, loc, plan.lane,
          fmt::format("a copy to CTA {}, which has no peer in a cluster of {}", box.cta->rank, cluster.ctas.size()));
    BarrierRef ref = findBarrierIn(warp, loc, 1u << plan.lane, *signalled, barrierAddress, BarrierUse::AsyncUse);
    if (!ref)
      return Step::Fault;
    startIntoShared(plan, box, ref);
  }
  observeCopy(plan, true);
  return Step::Next;
}

namespace {

constexpr uint32_t bulkAlignment = 16; ///< alignment of both addresses and of the size

class BulkCopy final : public LaneByLaneOperation {
public:
  BulkForm form;
  Reducer reducer = nullptr;
  AddressSource destination, source, barrier;
  Source<uint32_t> size;
  Source<uint16_t> ctaMask;

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    uint32_t bytes = size.one(warp, lane);
    if (bytes % bulkAlignment)
      return warp.fault(ReportKind::Misaligned, instruction->loc, lane,
                        fmt::format("a bulk copy of {} bytes, not a multiple of {}", bytes, bulkAlignment));
    if (bytes == 0)
      return Step::Next;
    TransferPlan plan{.warp = warp, .instruction = *instruction, .lane = lane, .rows = BoxRows::linear(bytes)};
    plan.reducer = reducer;
    uint64_t from = source.one(warp, lane), to = destination.one(warp, lane);
    uint64_t global = form.direction == BulkDirection::IntoShared ? from : to;
    if (form.direction != BulkDirection::BetweenShared && global % bulkAlignment)
      return warp.fault(ReportKind::Misaligned, instruction->loc, lane,
                        fmt::format("a bulk copy at {:#x}, which is not a multiple of {}", global, bulkAlignment));
    if (form.direction == BulkDirection::OutOfShared)
      return store(plan, to, from);
    if (form.direction == BulkDirection::IntoShared) {
      if (!resolveRows(plan, from))
        return Step::Fault;
    } else {
      plan.base = resolveShared(warp, instruction->loc, lane, from, bytes, bulkAlignment, plan.baseRange);
      if (!plan.base)
        return Step::Fault;
    }
    return startLoads(plan, form, MapSwizzle::None, bulkAlignment, to, barrier.one(warp, lane),
                      ctaMask.one(warp, lane));
  }

  Step store(TransferPlan &plan, uint64_t to, uint64_t from) const {
    SharedBox box;
    if (!resolveRows(plan, to) || !resolveBox(plan, from, bulkAlignment, box))
      return Step::Fault;
    startOutOfShared(plan, box);
    observeCopy(plan, false);
    return Step::Next;
  }
};

/// cp.async.bulk.prefetch.L2. Only checks the addresses.
class BulkPrefetch final : public Operation {
public:
  AddressSource source;
  Source<uint32_t> size;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (; active; active &= active - 1) {
      unsigned lane = firstLane(active);
      Range range;
      uint32_t bytes = size.one(warp, lane);
      if (bytes % bulkAlignment)
        return warp.fault(ReportKind::Misaligned, instruction->loc, lane,
                          fmt::format("a prefetch of {} bytes, not a multiple of {}", bytes, bulkAlignment));
      if (bytes && !resolveGlobal(warp, instruction->loc, lane, source.one(warp, lane), bytes, bulkAlignment, range))
        return Step::Fault;
    }
    return Step::Next;
  }
};

Result<OperationPtr> decodeBulkPrefetch(Decoding &d) {
  bool known = d.take("L2") && d.take("global");
  bool hint = d.take("L2::cache_hint");
  if (!known || !d.finished(2 + hint))
    return d.unsupported();
  auto operation = std::make_unique<BulkPrefetch>();
  operation->source = d.address(d.operand(0));
  operation->size = d.source<uint32_t>(1);
  return decoded(d, std::move(operation));
}

/// Takes the reduction and its type, the last suffixes of cp.reduce.async.bulk. Returns null if the combination is not
/// supported.
Reducer takeReducer(Decoding &d, BulkDirection direction) {
  std::optional<ReduceOp> op = takeReduceOp(d);
  if (!op)
    return nullptr;
  bool keepsSubnormals = d.take("noftz");
  std::optional<Type> type = d.takeType();
  bool isHalf = type == Type::F16 || type == Type::BF16;
  // .add of 16-bit floats requires .noftz, and no other reduction allows it.
  if (!type || keepsSubnormals != (isHalf && *op == ReduceOp::Add))
    return nullptr;
  if (direction == BulkDirection::BetweenShared && !reducesInShared(*op, *type))
    return nullptr;
  return findReducer(*op, *type);
}

} // namespace

Result<OperationPtr> decodeBulkCopy(Decoding &d) {
  bool reduces = d.instruction.suffixes.front() == "reduce";
  if (d.take("tensor"))
    return decodeTensorCopy(d);
  if (!reduces && d.take("prefetch"))
    return d.take("tensor") ? decodeTensorPrefetch(d) : decodeBulkPrefetch(d);
  auto operation = std::make_unique<BulkCopy>();
  BulkForm &form = operation->form;
  int destination = d.takeOne({"shared::cluster", "shared::cta", "global"});
  int source = d.takeOne({"global", "shared::cta"});
  if (destination == 2 && source == 1 && d.take("bulk_group"))
    form.direction = BulkDirection::OutOfShared;
  else if (destination >= 0 && destination < 2 && source >= 0 && d.take("mbarrier::complete_tx::bytes"))
    form.direction = source == 0 ? BulkDirection::IntoShared : BulkDirection::BetweenShared;
  else
    return d.unsupported();
  form.toOwnCta = destination == 1;
  form.multicast = destination == 0 && source == 0 && d.take("multicast::cluster");
  form.cacheHint = form.direction != BulkDirection::BetweenShared && d.take("L2::cache_hint");
  if (reduces) {
    operation->reducer = form.direction == BulkDirection::IntoShared ? nullptr : takeReducer(d, form.direction);
    if (!operation->reducer)
      return d.unsupported();
  }
  bool signals = form.direction != BulkDirection::OutOfShared;
  if (!d.finished(3 + signals + form.multicast + form.cacheHint))
    return d.unsupported();
  operation->destination = d.address(d.operand(0));
  operation->source = d.address(d.operand(1));
  operation->size = d.source<uint32_t>(2);
  if (signals)
    operation->barrier = d.address(d.operand(3));
  if (form.multicast)
    operation->ctaMask = d.source<uint16_t>(4);
  return decoded(d, std::move(operation));
}

} // namespace tile::sim
