// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream capture, and the graphs that it produces. A stream that is not being captured executes everything immediately.
//
// An operation in a captured stream becomes a step of the graph. Steps keep the order of their submission over all
// streams of a capture, so that each one comes after its dependencies. For each stream and event the steps that precede
// it are tracked, in order to check that all streams have been joined when the capture ends.
#pragma once

#include "Runtime/Driver.h"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace tile::sim {

/// An operation of a stream; it owns its arguments.
using Work = std::function<runtime::CUresult()>;
struct GraphStep {
  Work work;
  runtime::CUstream stream;      ///< from which it was captured
  std::set<size_t> predecessors; ///< indices of the steps that precede it
};
using Graph = std::vector<GraphStep>;

class Captures {
public:
  /// Records the operation as a step of the graph. The stream must be being captured.
  void add(runtime::CUstream stream, Work work);

  runtime::CUresult begin(runtime::CUstream stream);
  /// Ends the capture, even if it has failed; `graph` is null then.
  runtime::CUresult end(runtime::CUstream stream, std::unique_ptr<Graph> &graph);
  bool isCaptured(runtime::CUstream stream) const { return streams.contains(stream); }
  bool isCaptured(runtime::CUevent event) const { return events.contains(event); }

  /// Records an event. Returns false if the stream is not being captured: the event is complete immediately.
  bool record(runtime::CUevent event, runtime::CUstream stream);
  void forget(runtime::CUevent event) { events.erase(event); }
  /// Makes a stream wait for an event. A stream that waits for an event of a capture joins that capture.
  runtime::CUresult wait(runtime::CUstream stream, runtime::CUevent event);

private:
  struct Capture {
    runtime::CUstream origin;
    Graph steps;
  };
  struct Progress {
    std::shared_ptr<Capture> capture;
    std::set<size_t> predecessors; ///< indices of the steps that precede it
  };

  std::map<runtime::CUstream, Progress> streams;
  std::map<runtime::CUevent, Progress> events;
};

} // namespace tile::sim
