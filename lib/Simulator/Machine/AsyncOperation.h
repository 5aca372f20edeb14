// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous work: copies and MMAs. The work may be done at any moment between its issue and the wait for its
// completion; the schedule, which is derived from a seed, chooses the moment.
#pragma once

#include "Simulator/Machine/Lanes.h"
#include "Simulator/Machine/Random.h"

#include <deque>
#include <string>

namespace tile::sim {

class AsyncOperation {
public:
  virtual ~AsyncOperation() = default;
  /// Returns true if the operation may proceed now. If it must follow another operation, that operation has to finish
  /// first.
  virtual bool ready() const { return true; }
  /// Executes some of the remaining work, at least one step. Returns true once everything is done and signalled.
  virtual bool advance(Random &random) = 0;
  /// Returns a description for the report of a deadlock: "the copy at line 12".
  virtual std::string describe() const = 0;
};

/// The groups of asynchronous operations that one thread (or warp, for wgmma) commits and waits for.
class AsyncGroups {
public:
  /// Adds an operation to the open group and returns the group's number, which must be passed to finish().
  uint64_t start() {
    if (pending.empty() || committed == first + pending.size())
      pending.push_back(0);
    ++pending.back();
    return committed;
  }
  void finish(uint64_t group) {
    --pending[group - first];
    while (!pending.empty() && first < committed && pending.front() == 0) {
      pending.pop_front();
      ++first;
    }
  }
  void commit() {
    if (committed == first + pending.size())
      pending.push_back(0);
    ++committed;
    while (!pending.empty() && first < committed && pending.front() == 0) {
      pending.pop_front();
      ++first;
    }
  }
  /// Returns true if all committed groups have finished except at most the `allowed` most recent ones.
  bool done(uint64_t allowed) const { return committed - first <= allowed; }
  uint64_t committedGroups() const { return committed; }

private:
  std::deque<uint32_t> pending; ///< unfinished operations of each group from `first` on; the last group may be open
  uint64_t first = 0;           ///< all earlier groups have finished
  uint64_t committed = 0;       ///< the number of the open group
};

} // namespace tile::sim
