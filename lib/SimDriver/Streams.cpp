// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The streams, events and graphs of the simulated driver. All operations are synchronous, so waits for events return
// immediately and only record the order. Waits for values are in Peers.cpp.
#include "SimDriver/State.h"

#include <chrono>
#include <utility>

using namespace tile::runtime;
using namespace tile::sim;

namespace {

/// The object behind a CUevent. An event that was never recorded has an empty clock, so waits for it have no effect.
struct Event {
  double milliseconds = 0;
  VectorClock clock;
};

Event &eventOf(CUevent event) {
  return *reinterpret_cast<Event *>(event);
}

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  constexpr unsigned nonBlocking = 1; // CU_STREAM_NON_BLOCKING
  if (!stream)
    return invalidValue;
  return locked([=] {
    static uintptr_t count = 0;
    *stream = reinterpret_cast<CUstream>(0x1000 + 16 * count++);
    state().order.create(*stream, currentDevice(), !(flags & nonBlocking));
    return success;
  });
}
EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
EXPORT CUresult cuStreamDestroy_v2(CUstream) {
  return success;
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  const std::lock_guard lock(state().mutex);
  if (state().captures.isCaptured(stream))
    return captureUnsupported;
  state().order.synchronize(state().order.clockOf(currentDevice(), stream));
  return success;
}
EXPORT CUresult cuStreamQuery(CUstream stream) {
  return cuStreamSynchronize(stream);
}
EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return locked([=] {
    State &shared = state();
    if (event && !shared.captures.isCaptured(event) && !shared.captures.isCaptured(stream))
      shared.order.wait(currentDevice(), stream, eventOf(event).clock);
    return shared.captures.wait(stream, event);
  });
}
EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  const std::lock_guard lock(state().mutex);
  *status = state().captures.isCaptured(stream) ? cuda::captureActive : cuda::captureNone;
  return success;
}
EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  thread_local int current = 0; // CU_STREAM_CAPTURE_MODE_GLOBAL
  std::swap(current, *mode);
  return success;
}
EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  return locked([=] { return state().captures.begin(stream); });
}
EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *result) {
  if (!result)
    return invalidValue;
  return locked([=] {
    std::unique_ptr<Graph> graph;
    const CUresult status = state().captures.end(stream, graph);
    *result = reinterpret_cast<CUgraph>(graph.release());
    return status;
  });
}

EXPORT CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *data) {
  if (!function)
    return invalidValue;
  bool isCaptured = false;
  const CUresult kept = locked([&] {
    State &shared = state();
    isCaptured = shared.captures.isCaptured(stream);
    if (isCaptured)
      shared.captures.add(stream, [=] {
        function(data);
        return success;
      });
    else // the function runs on the host, after the stream's operations
      shared.order.synchronize(shared.order.clockOf(currentDevice(), stream));
    return success;
  });
  if (!isCaptured)
    function(data); // runs without the lock, because the function may wait for threads that call the driver
  return kept;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long) {
  if (!executable || !graph)
    return invalidValue;
  return guarded([=] {
    *executable = reinterpret_cast<CUgraphExec>(new Graph(*reinterpret_cast<Graph *>(graph)));
    return success;
  });
}
EXPORT CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  if (!executable)
    return invalidValue;
  return guarded([=] {
    const Graph steps = *reinterpret_cast<Graph *>(executable);
    const int device = currentDevice();
    bool isCaptured = false;
    VectorClock start, end;
    CUresult result = locked([&] {
      State &shared = state();
      isCaptured = shared.captures.isCaptured(stream);
      for (size_t i = 0; isCaptured && i < steps.size(); ++i)
        shared.captures.add(stream, steps[i].work);
      if (!isCaptured)
        start = shared.order.clockOf(device, stream);
      return success;
    });
    if (isCaptured)
      return result;
    std::vector<VectorClock> clocks(steps.size(), start);
    for (size_t i = 0; result == success && i < steps.size(); ++i) {
      StreamOrder::Place place = {device, steps[i].stream, executable, start};
      for (size_t earlier : steps[i].predecessors)
        place.before.join(clocks[earlier]);
      result = perform(place, steps[i].work, &clocks[i]);
      end.join(clocks[i]);
    }
    const std::lock_guard lock(state().mutex);
    state().order.wait(device, stream, end);
    return result;
  });
}
EXPORT CUresult cuGraphUpload(CUgraphExec, CUstream) {
  return success;
}
EXPORT CUresult cuGraphExecDestroy(CUgraphExec executable) {
  delete reinterpret_cast<Graph *>(executable);
  return success;
}
EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Graph *>(graph);
  return success;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned) {
  if (!event)
    return invalidValue;
  return guarded([=] {
    *event = reinterpret_cast<CUevent>(new Event);
    return success;
  });
}
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  const std::lock_guard lock(state().mutex);
  state().captures.forget(event);
  delete reinterpret_cast<Event *>(event);
  return success;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (!event)
    return invalidHandle;
  return locked([=] {
    if (!state().captures.record(event, stream))
      eventOf(event) = {milliseconds(), state().order.clockOf(currentDevice(), stream)};
    return success;
  });
}
EXPORT CUresult cuEventQuery(CUevent event) {
  const std::lock_guard lock(state().mutex);
  if (state().captures.isCaptured(event))
    return capturedEvent;
  if (event)
    state().order.synchronize(eventOf(event).clock);
  return success;
}
EXPORT CUresult cuEventSynchronize(CUevent event) {
  return cuEventQuery(event);
}
EXPORT CUresult cuEventElapsedTime(float *elapsed, CUevent start, CUevent end) {
  if (!elapsed || !start || !end)
    return invalidValue;
  *elapsed = static_cast<float>(eventOf(end).milliseconds - eventOf(start).milliseconds);
  return success;
}
