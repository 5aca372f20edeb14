// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the wgmmas that are issued after the wgmma of each token.
#include "Analysis/SharedMemory/PendingWgmmas.h"

#include "Analysis/Flow/StructuredFlow.h"

#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tile;

namespace {

/// The count of later wgmmas that means that the token's wgmma is complete.
constexpr unsigned complete = std::numeric_limits<unsigned>::max();
/// Limits of the analysis: counts of later wgmmas stop at `maxLater`, and a wgmma with that many later ones may still
/// be incomplete.
constexpr unsigned maxLater = 62, maxIncomplete = maxLater + 1;

struct Issued {
  unsigned incomplete = 0; ///< Upper bound of the number of incomplete wgmmas, which are the last ones issued.
  DenseMap<Value, unsigned>
      later; ///< For each token, a lower bound of the number of wgmmas issued after the token's wgmma.

  bool join(const Issued &other) {
    bool changed = other.incomplete > incomplete;
    incomplete = std::max(incomplete, other.incomplete);
    for (auto [token, count] : other.later) {
      auto [known, isNew] = later.try_emplace(token, count);
      changed |= isNew || count < known->second;
      known->second = std::min(known->second, count);
    }
    return changed;
  }

  void issue(cta::WgmmaOp mma) {
    if (mma.isSynchronous()) { // this wgmma is complete, and so are all wgmmas before it
      incomplete = 0;
      later[mma.getToken()] = complete;
      return;
    }
    for (auto &[token, count] : later)
      if (count != complete)
        count = std::min(count + 1, maxLater);
    incomplete = std::min(incomplete + 1, maxIncomplete);
    later[mma.getToken()] = 0;
  }

  /// Assigns the values that control flow passes on. All are assigned simultaneously, because loops may swap tokens.
  void assign(ValueRange values, ValueRange from) {
    SmallVector<unsigned> counts;
    for (Value token : from)
      counts.push_back(later.lookup(token));
    for (auto [value, count] : llvm::zip_equal(values, counts))
      if (isa<cta::TokenType>(value.getType()))
        later[value] = count;
  }
};

/// Returns the tokens of wgmmas that must be complete before the operation or before the awaits that directly follow
/// it.
SmallVector<Value> getNeeded(Operation *op) {
  if (auto release = dyn_cast<cta::RingReleaseOp>(op))
    return SmallVector<Value>(release.getTokens());
  SmallVector<Value> tokens;
  for (auto await = dyn_cast<cta::AwaitOp>(op); await; await = dyn_cast_or_null<cta::AwaitOp>(await->getNextNode()))
    tokens.push_back(await.getToken());
  return tokens;
}

class WaitAnalysis {
public:
  SmallVector<MissingWait> run(KernelOp kernel) {
    Issued none;
    flowThrough<Issued>(kernel.getBody().front(), none, [&](Operation *op, Issued &issued) { transfer(op, issued); });
    SmallVector<MissingWait> ordered;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto found = missing.find(op); found != missing.end())
        ordered.push_back({op, found->second});
    });
    return ordered;
  }

private:
  void transfer(Operation *op, Issued &issued) {
    if (auto mma = dyn_cast<cta::WgmmaOp>(op))
      return issued.issue(mma);
    if (auto none = dyn_cast<cta::TokenNoneOp>(op))
      issued.later[none] = complete;
    if (auto wait = dyn_cast<cta::WgmmaWaitOp>(op))
      issued.incomplete = std::min(issued.incomplete, wait.getPending());
    propagate(op, issued);
    for (Value token : getNeeded(op))
      need(op, issued, token);
  }

  void need(Operation *op, Issued &issued, Value token) {
    // Larger counts cannot be encoded in the instruction.
    constexpr unsigned maxPending = 7;
    unsigned later = issued.later.lookup(token);
    if (later >= issued.incomplete)
      return;
    issued.incomplete = std::min(later, maxPending);
    missing[op] = issued.incomplete;
  }

  static void propagate(Operation *op, Issued &issued) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      issued.assign(loop.getRegionIterArgs(), loop.getInitArgs());
      issued.assign(loop.getResults(), loop.getInitArgs());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      issued.assign(loop.getBeforeArguments(), loop.getInits());
    } else if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
      auto loop = cast<scf::WhileOp>(op->getParentOp());
      issued.assign(loop.getAfterArguments(), condition.getArgs());
      issued.assign(loop.getResults(), condition.getArgs());
    } else if (isa<scf::YieldOp>(op)) {
      Operation *control = op->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(control))
        issued.assign(loop.getRegionIterArgs(), op->getOperands());
      if (auto loop = dyn_cast<scf::WhileOp>(control))
        issued.assign(loop.getBeforeArguments(), op->getOperands());
      else
        issued.assign(control->getResults(), op->getOperands());
    }
  }

  llvm::DenseMap<Operation *, unsigned> missing;
};

} // namespace

SmallVector<MissingWait> tile::findMissingWaits(KernelOp kernel) {
  return WaitAnalysis().run(kernel);
}
