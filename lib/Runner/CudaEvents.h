// Streams and pairs of events that are destroyed with their owner.
#pragma once

#include "Runtime/Driver.h"

#include <utility>

namespace tile::runner {

class CudaStream {
public:
  static runtime::Result<CudaStream> create(const runtime::Driver &driver) {
    CudaStream stream;
    // Non-blocking: nothing that the application does on the default stream may slip in between.
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

/// Time between two points of a stream.
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
  /// The stream must have passed the end.
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

} // namespace tile::runner
