// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, events and graphs of the simulated driver. All operations are synchronous, so waits for events return
// immediately; waits for values are in Peers.cpp.
#include "SimDriver/State.h"

#include <atomic>
#include <chrono>
#include <utility>

using namespace tile::runtime;
using namespace tile::sim;

namespace {

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned) {
  if (!stream)
    return invalidValue;
  static std::atomic<uintptr_t> count = 0;
  *stream = reinterpret_cast<CUstream>(0x1000 + 16 * count++);
  return success;
}
EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
EXPORT CUresult cuStreamDestroy_v2(CUstream) {
  return success;
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  const std::lock_guard lock(state().mutex);
  return state().captures.isCaptured(stream) ? captureUnsupported : success;
}
EXPORT CUresult cuStreamQuery(CUstream stream) {
  return cuStreamSynchronize(stream);
}
EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return locked([=] { return state().captures.wait(stream, event); });
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
    isCaptured = state().captures.isCaptured(stream);
    return !isCaptured ? success : state().captures.submit(stream, [=] {
      function(data);
      return success;
    });
  });
  if (!isCaptured)
    function(data); // without the lock: it may wait for threads that call the driver
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
    bool isCaptured = false;
    const CUresult kept = locked([&] {
      isCaptured = state().captures.isCaptured(stream);
      CUresult result = success;
      for (size_t i = 0; isCaptured && result == success && i < steps.size(); ++i)
        result = state().captures.submit(stream, steps[i]);
      return result;
    });
    CUresult result = kept;
    for (size_t i = 0; !isCaptured && result == success && i < steps.size(); ++i)
      result = perform(steps[i]);
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
    *event = reinterpret_cast<CUevent>(new double(0));
    return success;
  });
}
EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  const std::lock_guard lock(state().mutex);
  state().captures.forget(event);
  delete reinterpret_cast<double *>(event);
  return success;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (!event)
    return invalidHandle;
  return locked([=] {
    if (!state().captures.record(event, stream))
      *reinterpret_cast<double *>(event) = milliseconds();
    return success;
  });
}
EXPORT CUresult cuEventQuery(CUevent event) {
  const std::lock_guard lock(state().mutex);
  return state().captures.isCaptured(event) ? capturedEvent : success;
}
EXPORT CUresult cuEventSynchronize(CUevent event) {
  return cuEventQuery(event);
}
EXPORT CUresult cuEventElapsedTime(float *elapsed, CUevent start, CUevent end) {
  if (!elapsed || !start || !end)
    return invalidValue;
  *elapsed = static_cast<float>(*reinterpret_cast<double *>(end) - *reinterpret_cast<double *>(start));
  return success;
}
