// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream capture, and the graphs that it produces. A stream that is not being captured executes each operation when it
// is submitted.
//
// An operation in a captured stream becomes a step of the graph. The steps of all streams of a capture are kept in the
// order in which they were submitted, so each step comes after its dependencies. For each stream and event, the capture
// tracks the preceding steps, in order to check at the end that all streams have been joined.
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
  runtime::CUstream stream;      ///< the stream from which the step was captured
  std::set<size_t> predecessors; ///< indices of the steps that precede this one
};
using Graph = std::vector<GraphStep>;

class Captures {
public:
  /// Records the operation as a step of the graph. The stream must be in capture mode.
  void add(runtime::CUstream stream, Work work);

  runtime::CUresult begin(runtime::CUstream stream);
  /// Ends the capture, even if it has failed; in that case `graph` is null.
  runtime::CUresult end(runtime::CUstream stream, std::unique_ptr<Graph> &graph);
  bool isCaptured(runtime::CUstream stream) const { return streams.contains(stream); }
  bool isCaptured(runtime::CUevent event) const { return events.contains(event); }

  /// Records an event. Returns false if the stream is not being captured; the event is then complete immediately.
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
    std::set<size_t> predecessors; ///< indices of the steps that precede the next operation
  };

  std::map<runtime::CUstream, Progress> streams;
  std::map<runtime::CUevent, Progress> events;
};

} // namespace tile::sim
