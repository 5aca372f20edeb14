// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Detects races between streams. The simulated driver executes every operation as it is submitted, so a program that
// lacks an event between two streams gets correct results in the simulator, but on a GPU only if the timing is
// favourable. This check finds the error in every run: operations of different streams or devices that access the same
// bytes, at least one of them writing, must be ordered by the program.
//
//   what orders                             which operations
//   one stream                              each operation before the next one
//   the default stream                      its operations and those of the streams that it blocks
//   cuEventRecord, cuStreamWaitEvent        operations before the record, before operations after the wait
//   cuStreamWaitValue32, and atomics and accesses with a memory order in kernels
//                                           cuStreamWriteValue32, a copy, a fill, or such an access to the same word,
//                                           before the operation that waits for or reads the word
//   cuStreamSynchronize, cuEventQuery, synchronous copies, …
//                                           the operations that have ended, before all that are submitted later
//
// Synchronization between host threads is not visible, so all host threads are treated as one. This avoids false
// reports, but a race is missed if some host thread happens to wait for one of the operations first.
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

/// An operation that is being executed, and the accesses that it has recorded.
struct StreamOperation {
  std::string name = "an operation"; ///< "kernel 'gemm'", "a copy"
  Footprint footprint;
  std::optional<uint64_t> acquired, released; ///< addresses of flags that it read and wrote
};

/// Two unordered operations, and the first bytes that both of them access.
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
  /// Registers a stream. If `isBlocking`, the stream synchronizes with the default stream of its device.
  void create(runtime::CUstream stream, int device, bool isBlocking);

  /// Identifies where an operation runs: in a stream, or in a captured stream of a graph.
  struct Place {
    int device = 0; ///< the current device
    runtime::CUstream stream = nullptr;
    const void *graph = nullptr; ///< the executable graph, if the operation is one of the graph's steps
    VectorClock before = {};     ///< for a step of a graph: the joined clocks of the steps that precede it
  };
  /// Adds a finished operation. Returns a race with an earlier operation, if there is one. `after`, if not null, is set
  /// to the operation's clock.
  std::optional<StreamRace> finish(const Place &place, const StreamOperation &operation, VectorClock *after);

  /// Returns the clock before the next operation of a stream.
  VectorClock clockOf(int device, runtime::CUstream stream) { return startOf(line(device, stream)); }
  /// Orders the next operations of the stream after `clock`.
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
  /// An operation that the host has not waited for.
  struct Past {
    std::string name;
    Epoch epoch;
    VectorClock clock;
    std::vector<Stretch> accesses[3]; ///< by access kind
  };
  /// Identifies a line: (device, null, null) for a default stream, (-1, handle, null) for another stream, and (-1,
  /// handle, graph) for a captured stream.
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
