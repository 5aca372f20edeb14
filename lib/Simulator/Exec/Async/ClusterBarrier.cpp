// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// barrier.cluster: the barrier for all threads of a cluster that have not exited. PTX ISA 9.7.13.4.
#include "Simulator/Exec/Async/Async.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

/// Completes the phase if every thread has arrived or exited.
void settle(Cluster &cluster) {
  bool any = false;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps) {
      if (warp->alive & ~warp->clusterArrived)
        return;
      any |= warp->clusterArrived != 0;
    }
  if (!any)
    return;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps) {
      warp->clusterReleased |= warp->clusterArrived;
      warp->clusterArrived = 0;
    }
  NamedBarrier &barrier = cluster.barrier;
  ++barrier.phase;
  barrier.completed.join(barrier.arriving);
  barrier.arriving = {};
  cluster.noteProgress();
}

class ClusterArrive final : public Operation {
public:
  bool relaxed = false;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (LaneMask again = active & (warp.clusterArrived | warp.clusterReleased))
      return warp.fault(ReportKind::BarrierMisuse, instruction->loc, firstLane(again),
                        "the thread arrives at the barrier of the cluster a second time without a wait in between");
    Cluster &cluster = warp.cta.cluster;
    if (Checker *checker = checkerOf(warp)) {
      if (relaxed)
        checker->releaseTensor(warp, cluster.barrier.arriving);
      else
        checker->release(warp, cluster.barrier.arriving, active);
    }
    warp.clusterArrived |= active;
    cluster.noteProgress();
    settle(cluster);
    return Step::Next;
  }
};

class ClusterWait final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (LaneMask early = active & ~(warp.clusterArrived | warp.clusterReleased))
      return warp.fault(ReportKind::BarrierMisuse, instruction->loc, firstLane(early),
                        "the thread waits at the barrier of the cluster without having arrived");
    settle(warp.cta.cluster);
    if (active & warp.clusterArrived) {
      if (Observer *observer = warp.cta.cluster.machine.observer)
        observer->wait(warp, *instruction);
      return Step::Wait;
    }
    warp.clusterReleased &= ~active;
    if (Checker *checker = checkerOf(warp))
      checker->acquire(warp, warp.cta.cluster.barrier.completed, active);
    return Step::Next;
  }

  std::string describeWait(const Warp &warp, const Fragment &fragment) const override {
    std::string missing;
    for (const auto &cta : warp.cta.cluster.ctas)
      for (const auto &other : cta->warps)
        if (other->alive & ~other->clusterArrived)
          missing += fmt::format(" {}/{}", cta->rank, other->index);
    return fmt::format("waits at the barrier of the cluster, phase {}; have not arrived (CTA rank/warp):{}",
                       warp.cta.cluster.barrier.phase, missing);
  }
};

} // namespace

Result<OperationPtr> decodeClusterBarrier(Decoding &d) {
  if (d.take("arrive")) {
    auto operation = std::make_unique<ClusterArrive>();
    operation->relaxed = d.takeOne({"release", "relaxed"}) == 1;
    operation->aligned = d.take("aligned");
    return d.finished(0) ? Result<OperationPtr>(std::move(operation)) : d.unsupported();
  }
  if (!d.take("wait"))
    return d.unsupported();
  auto operation = std::make_unique<ClusterWait>();
  d.take("acquire");
  operation->aligned = d.take("aligned");
  return d.finished(0) ? Result<OperationPtr>(std::move(operation)) : d.unsupported();
}

} // namespace tile::sim
