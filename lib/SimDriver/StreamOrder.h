// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races between streams. The simulated driver executes every operation as it is submitted, so a program that lacks an
// event between two streams gets the right results here, and on a GPU only as long as the streams happen to be in step.
// This check finds it in every run: operations of different streams or devices that access the same bytes, at least one
// of them writing, must be ordered by the program.
//
//   what orders                             edge
//   one stream; the default stream          from each operation to the next; with all streams that it blocks
//   cuEventRecord, cuStreamWaitEvent        from the stream of the event to the one that waits
//   cuStreamWaitValue32, and atomics and accesses with an order in kernels
//                                           from cuStreamWriteValue32, a copy, a fill, or such accesses to the same
//                                           word
//   cuStreamSynchronize, cuEventQuery, synchronous copies, …
//                                           from the operations that have ended to all that are submitted later
//
// Synchronization between host threads is not visible, so all of them count as one. This avoids false reports; a
// race is missed if a host thread happens to wait for one of the operations first.
#pragma once

#include "Runtime/Driver.h"
#include "Simulator/Check/Clock.h"
#include "Simulator/Check/Footprint.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tile::sim {

/// An operation that is being executed. It records its accesses.
struct StreamOperation {
  std::string name = "an operation"; ///< "kernel 'gemm'", "a copy"
  Footprint footprint;
  std::optional<uint64_t> acquired, released; ///< the address of a flag
};

/// Two unordered operations, and the first bytes that both access.
struct StreamRace {
  struct Side {
    std::string name; ///< "kernel 'gemm' in stream 3 of device 0"
    AccessKind kind;
  };
  Side earlier, later;
  Stretch bytes;
};

class StreamOrder {
public:
  /// Registers a stream. `isBlocking`: it synchronizes with the default stream of its device.
  void create(runtime::CUstream stream, int device, bool isBlocking);

  /// Identifies where an operation runs: in a stream, or in a captured stream of a graph.
  struct Place {
    int device = 0; ///< the current device
    runtime::CUstream stream = nullptr;
    const void *graph = nullptr; ///< the executable graph, if the operation is one of its steps
    VectorClock before = {};     ///< for a step of a graph: the clock of its predecessors
  };
  /// Adds a finished operation. Returns a race with an earlier one, if there is any. `after`: null, or gets the clock
  /// of the operation.
  std::optional<StreamRace> finish(const Place &place, const StreamOperation &operation, VectorClock *after);

  /// Returns the clock that precedes the next operation of a stream.
  VectorClock clockOf(int device, runtime::CUstream stream) { return startOf(line(device, stream)); }
  /// Orders the next operations of the stream after the clock.
  void wait(int device, runtime::CUstream stream, const VectorClock &clock) { line(device, stream).clock.join(clock); }
  /// Records that the host has waited for the operations in the clock, or for all operations of a device.
  void synchronize(const VectorClock &clock) { host.join(clock); }
  void synchronizeDevice(int device);

private:
  struct Line {
    Component component = 0;
    uint32_t count = 0;
    int device = 0;
    bool isBlocking = true;
    std::string name; ///< "stream 3 of device 0"
    VectorClock clock;
  };
  /// An operation for which the host has not waited.
  struct Past {
    std::string name;
    Epoch epoch;
    VectorClock clock;
    std::vector<Stretch> accesses[3]; ///< by kind
  };
  /// Identifies a default stream by (device, null, null), another stream by (-1, handle, null), a captured stream by
  /// (-1, handle, graph).
  using Key = std::tuple<int, runtime::CUstream, const void *>;

  Line &add(const Key &key, int device);
  Line &line(int device, runtime::CUstream stream, const void *graph = nullptr);
  VectorClock startOf(const Line &line) const;
  static std::optional<StreamRace> conflict(const Past &earlier, const Past &later);

  std::map<Key, Line> lines;
  std::map<uint64_t, VectorClock> flags; ///< by address
  VectorClock host;
  std::deque<Past> past;
};

} // namespace tile::sim
