// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RAII wrappers for streams, timers (pairs of events) and graphs.
#pragma once

#include "Runtime/Driver.h"

#include <utility>

namespace tile::runner {

class CudaStream {
public:
  static runtime::Result<CudaStream> create(const runtime::Driver &driver) {
    CudaStream stream;
    // The stream is non-blocking, so the application's work on the default stream cannot interleave.
    if (runtime::Status status =
            driver.check(driver.streamCreate(&stream.handle, runtime::cuda::streamNonBlocking), "cuStreamCreate");
        !status)
      return status.error();
    stream.driver = &driver;
    return stream;
  }
  CudaStream(CudaStream &&other) noexcept
      : driver(std::exchange(other.driver, nullptr)), handle(std::exchange(other.handle, nullptr)) {}
  ~CudaStream() {
    if (driver)
      (void)driver->streamDestroy(handle);
  }
  runtime::CUstream get() const { return handle; }

private:
  CudaStream() = default;
  const runtime::Driver *driver = nullptr;
  runtime::CUstream handle = nullptr;
};

/// Measures the time between two points of a stream.
class CudaTimer {
public:
  static runtime::Result<CudaTimer> create(const runtime::Driver &driver) {
    CudaTimer timer;
    timer.driver = &driver;
    for (runtime::CUevent *event : {&timer.begin, &timer.end})
      if (runtime::Status status = driver.check(driver.eventCreate(event, 0), "cuEventCreate"); !status)
        return status.error();
    return timer;
  }
  CudaTimer(CudaTimer &&other) noexcept
      : driver(other.driver), begin(std::exchange(other.begin, nullptr)), end(std::exchange(other.end, nullptr)) {}
  ~CudaTimer() {
    for (runtime::CUevent event : {begin, end})
      if (event)
        (void)driver->eventDestroy(event);
  }
  runtime::Status start(runtime::CUstream stream) const {
    return driver->check(driver->eventRecord(begin, stream), "cuEventRecord");
  }
  runtime::Status stop(runtime::CUstream stream) const {
    return driver->check(driver->eventRecord(end, stream), "cuEventRecord");
  }
  /// Returns true if the stream has passed the end point. Does not block.
  runtime::Result<bool> hasStopped() const {
    if (!driver->eventQuery)
      return runtime::makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver has no cuEventQuery");
    const runtime::CUresult result = driver->eventQuery(end);
    if (result == runtime::cuda::success || result == runtime::cuda::errorNotReady)
      return result == runtime::cuda::success;
    return driver->error(result, "cuEventQuery");
  }
  /// Returns the time. The stream must have passed the end point.
  runtime::Result<double> milliseconds() const {
    float value = 0;
    if (runtime::Status status = driver->check(driver->eventElapsed(&value, begin, end), "cuEventElapsedTime"); !status)
      return status.error();
    return static_cast<double>(value);
  }

private:
  CudaTimer() = default;
  const runtime::Driver *driver = nullptr;
  runtime::CUevent begin = nullptr;
  runtime::CUevent end = nullptr;
};

/// Work that was recorded from a stream and can be replayed.
class CudaGraph {
public:
  /// Records the work that `enqueue` submits to `stream`. `enqueue` takes no arguments and returns a Status.
  template <typename Enqueue>
  static runtime::Result<CudaGraph> capture(const runtime::Driver &driver, runtime::CUstream stream, Enqueue enqueue) {
    if (!driver.streamBeginCapture || !driver.streamEndCapture || !driver.graphInstantiate || !driver.graphLaunch ||
        !driver.graphExecDestroy || !driver.graphDestroy)
      return runtime::makeError(TILE_ERROR_NO_DRIVER, "the CUDA driver cannot capture graphs");
    // The capture mode is relaxed, because a library may make other calls in the meantime.
    if (runtime::Status status =
            driver.check(driver.streamBeginCapture(stream, runtime::cuda::captureRelaxed), "cuStreamBeginCapture");
        !status)
      return status.error();
    const runtime::Status enqueued = enqueue();
    runtime::CUgraph graph = nullptr;
    const runtime::Status captured = driver.check(driver.streamEndCapture(stream, &graph), "cuStreamEndCapture");
    CudaGraph result(driver);
    runtime::Status status = enqueued ? captured : enqueued; // report the first error
    if (status)
      status = driver.check(driver.graphInstantiate(&result.executable, graph, 0), "cuGraphInstantiate");
    if (graph)
      (void)driver.graphDestroy(graph); // the executable is complete without it
    if (!status)
      return status.error();
    return result;
  }
  CudaGraph(CudaGraph &&other) noexcept : driver(other.driver), executable(std::exchange(other.executable, nullptr)) {}
  ~CudaGraph() {
    if (executable)
      (void)driver->graphExecDestroy(executable);
  }
  runtime::Status replay(runtime::CUstream stream) const {
    return driver->check(driver->graphLaunch(executable, stream), "cuGraphLaunch");
  }

private:
  explicit CudaGraph(const runtime::Driver &driver) : driver(&driver) {}
  const runtime::Driver *driver;
  runtime::CUgraphExec executable = nullptr;
};

} // namespace tile::runner
