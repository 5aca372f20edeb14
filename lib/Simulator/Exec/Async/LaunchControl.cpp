// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clusterlaunchcontrol: a cluster takes over the work of a cluster that has not begun. PTX ISA 9.7.13.17.
//
// try_cancel writes a response of 16 bytes to shared memory (with multicast, of each CTA of the cluster) and signals an
// mbarrier, as a bulk copy does. query_cancel reads the response: 1 and the indices of the first CTA of the cancelled
// cluster, or zeros if there was none.
#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/MbarrierState.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

struct Response {
  uint32_t isCancelled = 0;
  uint32_t firstCta[3] = {};
};
static_assert(sizeof(Response) == sizeof(unsigned __int128));

class Cancellation final : public AsyncOperation {
public:
  struct Target {
    Cta *cta;
    uint32_t response, barrier; ///< addresses in this CTA
  };

  Cancellation(Machine &machine, std::vector<Target> targets, const Actor &issuer)
      : machine(machine), targets(std::move(targets)), issuer(issuer) {}

  bool advance(Random &) override {
    Response response;
    if (const std::optional<uint64_t> index = machine.takeCluster(targets.front().cta->cluster.gpu)) {
      ++machine.cancelledClusters;
      const LaunchConfig &config = machine.config;
      uint64_t remainder = *index;
      response.isCancelled = 1;
      for (int i = 0; i < 3; ++i) {
        const uint32_t clusters = config.grid[i] / config.cluster[i];
        response.firstCta[i] = remainder % clusters * config.cluster[i];
        remainder /= clusters;
      }
    }
    for (const Target &target : targets) {
      std::memcpy(target.cta->shared(target.response, sizeof(response)), &response, sizeof(response));
      finishCopy(*target.cta, target.barrier, sizeof(response), issuer);
    }
    return true;
  }
  std::string describe() const override {
    return fmt::format("the clusterlaunchcontrol.try_cancel at line {} is in flight", issuer.loc.ptxLine);
  }

private:
  Machine &machine;
  std::vector<Target> targets;
  Actor issuer;
};

class TryCancel final : public LaneByLaneOperation {
public:
  AddressSource response, barrier;
  bool isMulticast = false;

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    const SourceLoc &loc = instruction->loc;
    Range range;
    if (!resolveShared(warp, loc, lane, response.one(warp, lane), sizeof(Response), sizeof(Response), range))
      return Step::Fault;
    uint32_t barrierAddress = 0;
    Cta *barrierCta = findBarrierAddress(warp, loc, lane, barrier.one(warp, lane), true, barrierAddress);
    if (!barrierCta)
      return Step::Fault;
    if (range.ctaRank != warp.cta.rank)
      return warp.fault(ReportKind::InvalidOperand, loc, lane, "the response is in a peer's memory");
    std::vector<Cancellation::Target> targets;
    for (const auto &cta : warp.cta.cluster.ctas) {
      if (!isMulticast && cta.get() != &warp.cta)
        continue;
      const BarrierRef ref = findBarrierIn(warp, loc, LaneMask(1) << lane, *cta, barrierAddress, BarrierUse::AsyncUse);
      if (!ref)
        return Step::Fault;
      const Epoch finished = announceCopy(ref, warp, loc, lane, sizeof(Response));
      range.ctaRank = cta->rank;
      if (Checker *checker = checkerOf(warp))
        checker->asyncAccess(warp, lane, loc, AccessKind::Write, range, true, finished);
      targets.push_back({cta.get(), sharedBase + uint32_t(range.address), barrierAddress});
    }
    Cluster &cluster = warp.cta.cluster;
    cluster.start(std::make_unique<Cancellation>(cluster.machine, std::move(targets), warp.actor(loc, lane)));
    return Step::Next;
  }
};

class IsCancelled final : public Operation {
public:
  PredicateDest result;
  Source<unsigned __int128> response;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask yes = 0;
    forLanes(active, [&](unsigned lane) { yes |= LaneMask((response.one(warp, lane) & 1) != 0) << lane; });
    result.write(warp, active, yes);
    return Step::Next;
  }
};

class FirstCta final : public LaneByLaneOperation {
public:
  Dest<uint32_t> results[3];
  Source<unsigned __int128> response;

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    const unsigned __int128 bits = response.one(warp, lane);
    Response value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!value.isCancelled)
      return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                        fmt::format("{} of a response that has cancelled nothing", instruction->text()));
    for (int i = 0; i < 3; ++i)
      results[i].one(warp, lane, value.firstCta[i]);
    return Step::Next;
  }
};

Result<OperationPtr> decodeTryCancel(Decoding &d) {
  auto operation = std::make_unique<TryCancel>();
  bool known = d.take("async");
  d.take("shared::cta");
  known &= d.take("mbarrier::complete_tx::bytes");
  operation->isMulticast = d.take("multicast::cluster::all");
  if (!known || !d.take("b128") || !d.finished(2))
    return d.unsupported();
  operation->response = d.address(d.operand(0));
  operation->barrier = d.address(d.operand(1));
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeQuery(Decoding &d) {
  if (d.take("is_canceled")) {
    auto operation = std::make_unique<IsCancelled>();
    if (!d.take("pred") || !d.take("b128") || !d.finished(2))
      return d.unsupported();
    operation->result = d.predicateDest(d.operand(0));
    operation->response = d.source<unsigned __int128>(1);
    return decoded(d, std::move(operation));
  }
  auto operation = std::make_unique<FirstCta>();
  const int axis = d.takeOne({"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z", "get_first_ctaid"});
  const bool isVector = axis == 3 && d.take("v4");
  if (axis < 0 || (axis == 3) != isVector || !d.take("b32") || !d.take("b128") || !d.finished(2))
    return d.unsupported();
  for (Dest<uint32_t> &result : operation->results)
    result.isSink = true;
  if (!isVector) {
    operation->results[axis] = d.dest<uint32_t>(0);
  } else {
    const std::span<const Operand> elements = elementsOf(d.operand(0));
    if (elements.size() != 4)
      return d.unsupported();
    for (int i = 0; i < 3; ++i)
      operation->results[i] = d.dest<uint32_t>(elements[i]);
  }
  operation->response = d.source<unsigned __int128>(1);
  return decoded(d, std::move(operation));
}

} // namespace

Result<OperationPtr> decodeLaunchControl(Decoding &d) {
  if (d.take("try_cancel"))
    return decodeTryCancel(d);
  return d.take("query_cancel") ? decodeQuery(d) : d.unsupported();
}

} // namespace tile::sim
