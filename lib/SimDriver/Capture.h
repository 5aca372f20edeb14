// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams that are captured, and the graphs that come of it. A stream that is not captured does everything at once.
//
// What a captured stream is asked for is a step of the graph. Steps stay in the order in which they were asked for, in
// all streams of a capture, so that each comes behind those that it depends on. For each stream and event is known
// which steps are behind it: whether everything has been joined when the capture ends.
#pragma once

#include "Runtime/Driver.h"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace tile::sim {

/// Something that a stream is asked for; it owns its arguments.
using Work = std::function<runtime::CUresult()>;
using Graph = std::vector<Work>;

class Captures {
public:
  /// Does the work, or makes it a step where the stream is captured.
  runtime::CUresult submit(runtime::CUstream stream, Work work);

  runtime::CUresult begin(runtime::CUstream stream);
  /// Ends the capture, also where it has failed; then `graph` is null.
  runtime::CUresult end(runtime::CUstream stream, std::unique_ptr<Graph> &graph);
  bool isCaptured(runtime::CUstream stream) const { return streams.contains(stream); }
  bool isCaptured(runtime::CUevent event) const { return events.contains(event); }

  /// False: the stream is not captured, and the event is reached at once.
  bool record(runtime::CUevent event, runtime::CUstream stream);
  void forget(runtime::CUevent event) { events.erase(event); }
  /// A stream that awaits an event of a capture belongs to it from then on.
  runtime::CUresult wait(runtime::CUstream stream, runtime::CUevent event);

private:
  struct Capture {
    runtime::CUstream origin;
    Graph steps;
  };
  struct Progress {
    std::shared_ptr<Capture> capture;
    std::set<size_t> behind; ///< steps
  };

  std::map<runtime::CUstream, Progress> streams;
  std::map<runtime::CUevent, Progress> events;
};

} // namespace tile::sim
