// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of asynchronous copies: cp.async.commit_group, wait_group, wait_all; cp.async.bulk.commit_group,
// wait_group{.read}. PTX ISA 9.7.9.25.2, 9.7.9.25.6.
//
// Groups belong to a thread, so a wait implies nothing about the copies of other threads.
#include "Simulator/Exec/Async/Async.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

class CommitCopies final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) { warp.copyGroups(lane).commit(); });
    return Step::Next;
  }
};

class CommitBulk final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    forLanes(active, [&](unsigned lane) {
      warp.bulkGroups(lane).read.commit();
      warp.bulkGroups(lane).done.commit();
    });
    return Step::Next;
  }
};

/// Returns the number of groups that must be done if at most `allowed` of the committed groups are not.
uint32_t groupsDone(const AsyncGroups &groups, uint64_t allowed) {
  uint64_t committed = groups.committedGroups();
  return committed > allowed ? committed - allowed : 0;
}

/// Informs the checker that each lane of `active` has waited for its copies. Lanes may wait for different numbers of
/// groups.
template <typename CountOf> void raiseLanes(Warp &warp, LaneMask active, Warp::Waitable waitable, CountOf &&countOf) {
  Checker *checker = checkerOf(warp);
  for (LaneMask remaining = active; checker && remaining;) {
    uint32_t count = countOf(firstLane(remaining));
    LaneMask same = 0;
    forLanes(remaining, [&](unsigned lane) { same |= LaneMask(countOf(lane) == count) << lane; });
    remaining &= ~same;
    if (count)
      checker->raise(warp, {warp.component(waitable), count}, same);
  }
}

class WaitCopies final : public Operation {
public:
  uint64_t allowed = 0;
  bool commits = false; ///< true for wait_all, which also waits for copies that are in no group yet

  Step execute(Warp &warp, Fragment &fragment, LaneMask active) const override {
    if (commits && fragment.progress == 0) {
      forLanes(active, [&](unsigned lane) { warp.copyGroups(lane).commit(); });
      fragment.progress = 1;
    }
    bool done = true;
    forLanes(active, [&](unsigned lane) { done &= warp.copyGroups(lane).done(allowed); });
    if (!done)
      return Step::Wait;
    raiseLanes(warp, active, Warp::Waitable::Copies,
               [&](unsigned lane) { return groupsDone(warp.copyGroups(lane), allowed); });
    return Step::Next;
  }

  std::string describeWait(const Warp &, const Fragment &) const override {
    return fmt::format("waits for cp.async until {} groups are left", allowed);
  }
};

class WaitBulk final : public Operation {
public:
  uint64_t allowed = 0;
  bool readOnly = false;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    bool done = true;
    forLanes(active, [&](unsigned lane) {
      Warp::BulkGroups &groups = warp.bulkGroups(lane);
      done &= (readOnly ? groups.read : groups.done).done(allowed);
    });
    if (!done)
      return Step::Wait;
    auto countOf = [&](unsigned lane) { return groupsDone(warp.bulkGroups(lane).read, allowed); };
    raiseLanes(warp, active, Warp::Waitable::BulkReads, countOf);
    if (!readOnly)
      raiseLanes(warp, active, Warp::Waitable::Bulk, countOf);
    return Step::Next;
  }

  std::string describeWait(const Warp &, const Fragment &) const override {
    return fmt::format("waits for bulk copies until {} groups are left", allowed);
  }
};

/// Takes the number of groups that may be pending, which must be a constant.
bool takeCount(Decoding &d, uint64_t &count) {
  if (!d.finished(1) || d.operand(0).kind != Operand::Kind::Immediate)
    return false;
  count = d.operand(0).bits;
  return true;
}

} // namespace

Result<OperationPtr> decodeCopyGroups(Decoding &d) {
  if (d.take("commit_group"))
    return d.finished(0) ? Result<OperationPtr>(make<CommitCopies>()) : d.unsupported();
  auto operation = std::make_unique<WaitCopies>();
  if (d.take("wait_all")) {
    operation->commits = true;
    return d.finished(0) ? Result<OperationPtr>(std::move(operation)) : d.unsupported();
  }
  if (!d.take("wait_group") || !takeCount(d, operation->allowed))
    return d.unsupported();
  return OperationPtr(std::move(operation));
}

Result<OperationPtr> decodeBulkGroups(Decoding &d) {
  if (d.take("commit_group"))
    return d.finished(0) ? Result<OperationPtr>(make<CommitBulk>()) : d.unsupported();
  auto operation = std::make_unique<WaitBulk>();
  if (!d.take("wait_group"))
    return d.unsupported();
  operation->readOnly = d.take("read");
  if (!takeCount(d, operation->allowed))
    return d.unsupported();
  return OperationPtr(std::move(operation));
}

} // namespace tile::sim
