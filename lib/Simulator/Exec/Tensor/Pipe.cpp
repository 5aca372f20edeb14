// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Tensor/Pipe.h"

#include "Simulator/Exec/Async/MbarrierState.h"

#include <algorithm>

namespace tile::sim::tensor {

std::string PipeOperation::describe() const {
  return fmt::format("{} at line {} of warp {} lane {} in CTA ({},{},{})", instruction.text(), instruction.loc.ptxLine,
                     warp.index, lane, warp.cta.id[0], warp.cta.id[1], warp.cta.id[2]);
}

void issue(Warp &warp, unsigned lane, std::unique_ptr<PipeOperation> operation) {
  warp.tensorPipe(lane).queue.push_back(operation.get());
  warp.cta.cluster.start(std::move(operation));
}

Epoch pipeEpoch(Warp &warp, unsigned lane) {
  TensorPipe &pipe = warp.tensorPipe(lane);
  if (pipe.component == noComponent)
    pipe.component =
        checkerOf(warp)->addComponent(fmt::format("tcgen05 operations of warp {} lane {} in CTA ({},{},{})", warp.index,
                                                  lane, warp.cta.id[0], warp.cta.id[1], warp.cta.id[2]));
  return {pipe.component, pipe.commits + 1};
}

void notePipeAccess(Warp &warp, unsigned lane, const Instruction &instruction, AccessKind kind, const Range &range) {
  if (Checker *checker = checkerOf(warp))
    checker->tensorAccess(warp, {.loc = instruction.loc,
                                 .lane = lane,
                                 .isPipelined = true,
                                 .kind = kind,
                                 .range = range,
                                 .finished = pipeEpoch(warp, lane)});
}

bool checkAccumulators(Warp &warp, unsigned lane, const Instruction &instruction, const Cta &cta, TensorAddress address,
                       unsigned columns, unsigned m, unsigned n) {
  Checker *checker = checkerOf(warp);
  if (!checker)
    return true;
  TensorPipe &pipe = warp.tensorPipe(lane);
  std::erase_if(pipe.accumulators, [&](const TensorPipe::Accumulator &one) {
    return checker->knows(warp, lane, {pipe.component, one.commit});
  });
  for (const TensorPipe::Accumulator &one : pipe.accumulators) {
    const bool overlaps = one.cta == &cta && one.column < address.column + columns &&
                          address.column < one.column + one.columns && (m == 0 || one.lane == address.lane);
    const bool isSame = one.column == address.column && one.m == m && one.n == n;
    if (overlaps && !isSame)
      return refuse(warp, ReportKind::EarlyUse, instruction, lane,
                    "{} of columns {} to {} of tensor memory, of which the {}x{} MMA at line {} still writes columns "
                    "{} to {}: only MMAs with the same accumulator and shape may follow without a commit and a wait",
                    instruction.text(), address.column, address.column + columns - 1, one.m, one.n, one.loc.ptxLine,
                    one.column, one.column + one.columns - 1);
  }
  return true;
}

void addAccumulator(Warp &warp, unsigned lane, const Instruction &instruction, const Cta &cta, TensorAddress address,
                    unsigned columns, unsigned m, unsigned n) {
  if (!checkerOf(warp))
    return;
  TensorPipe &pipe = warp.tensorPipe(lane);
  const TensorPipe::Accumulator added{&cta, address.lane,     address.column, columns, m,
                                      n,    pipe.commits + 1, instruction.loc};
  for (TensorPipe::Accumulator &one : pipe.accumulators)
    if (one.cta == added.cta && one.lane == added.lane && one.column == added.column && one.m == m && one.n == n) {
      one = added;
      return;
    }
  pipe.accumulators.push_back(added);
}

namespace {

/// A commit: arrives at mbarriers once all earlier operations of the thread have completed.
class CommitOperation final : public PipeOperation {
public:
  CommitOperation(Warp &warp, unsigned lane, const Instruction &instruction, uint32_t address, uint32_t ctaMask,
                  Epoch epoch)
      : PipeOperation(warp, lane, instruction), address(address), ctaMask(ctaMask), epoch(epoch) {
    if (Checker *checker = checkerOf(warp))
      checker->release(warp, before, 0);
  }

private:
  void execute() override {
    Cluster &cluster = warp.cta.cluster;
    for (uint32_t remaining = ctaMask; remaining; remaining &= remaining - 1)
      arriveAt(*cluster.cta(std::countr_zero(remaining)));
    cluster.noteProgress();
  }

  void arriveAt(Cta &cta) {
    auto found = cta.mbarriers.find(address);
    if (found == cta.mbarriers.end()) {
      // This is valid if no thread waits for the commit, as in some of Triton's code.
      warn(warp, ReportKind::BarrierMisuse, instruction, int(lane),
           "the {} was invalidated before this commit could signal it", barrierName(cta, address));
      return;
    }
    const BarrierRef ref{&cta, address, &found->second};
    if (Checker *checker = checkerOf(warp)) {
      ref.barrier->arriving.join(before);
      checker->releaseEpoch(epoch, ref.barrier->arriving);
    }
    noteArrival(*ref.barrier, warp);
    reportFault(warp, instruction.loc, lane, arrive(*ref.barrier, 1), ref, 1);
  }

  uint32_t address, ctaMask;
  Epoch epoch;
  /// The clock of the waits that the warp has completed, without the warp's own accesses. A thread that waits for this
  /// commit also acquires it, because the MMAs come after the copies whose data they read.
  SyncClock before;
};

class Commit final : public LaneByLaneOperation {
public:
  AddressSource barrier;
  bool isMulticast = false;
  Source<uint16_t> ctaMask;

private:
  Step executeLane(Warp &warp, unsigned lane) const override {
    const BarrierRef ref = findBarrier(warp, instruction->loc, LaneMask(1) << lane, barrier.one(warp, lane),
                                       /*onlyThisCta=*/false, BarrierUse::AsyncUse);
    if (!ref)
      return Step::Fault;
    Cluster &cluster = warp.cta.cluster;
    uint32_t mask = isMulticast ? ctaMask.one(warp, lane) : uint32_t(1) << ref.cta->rank;
    if (mask >> cluster.ctas.size())
      return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                        fmt::format("multicast to the CTAs {:#x}; the cluster has {}", mask, cluster.ctas.size()));
    for (uint32_t remaining = mask; remaining; remaining &= remaining - 1) {
      Cta &cta = *cluster.cta(std::countr_zero(remaining));
      if (&cta != ref.cta &&
          !findBarrierIn(warp, instruction->loc, LaneMask(1) << lane, cta, ref.address, BarrierUse::AsyncUse))
        return Step::Fault;
    }
    const Epoch epoch = checkerOf(warp) ? pipeEpoch(warp, lane) : Epoch();
    ++warp.tensorPipe(lane).commits;
    issue(warp, lane, std::make_unique<CommitOperation>(warp, lane, *instruction, ref.address, mask, epoch));
    return Step::Next;
  }
};

class Fence final : public Operation {
public:
  explicit Fence(bool isBefore) : isBefore(isBefore) {}
  Step execute(Warp &warp, Fragment &, LaneMask) const override {
    if (Checker *checker = checkerOf(warp))
      checker->fenceTensor(warp, isBefore);
    return Step::Next;
  }

private:
  bool isBefore;
};

} // namespace

Result<OperationPtr> decodeCommit(Decoding &d) {
  auto operation = std::make_unique<Commit>();
  const unsigned group = takeCtaGroup(d);
  const bool known = group && d.take("mbarrier::arrive::one");
  d.takeOne({"shared::cluster", "shared"});
  operation->isMulticast = d.take("multicast::cluster");
  if (!known || !d.take("b64") || !d.finished(1 + operation->isMulticast))
    return d.failed ? d.error(d.failure) : d.unsupported();
  operation->barrier = d.address(d.operand(0));
  if (operation->isMulticast)
    operation->ctaMask = d.source<uint16_t>(1);
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeFence(Decoding &d, bool isBefore) {
  return d.finished(0) ? Result<OperationPtr>(make<Fence>(isBefore)) : d.unsupported();
}

} // namespace tile::sim::tensor
